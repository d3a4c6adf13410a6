#include "reference/multi_head.hpp"

#include <cmath>
#include <limits>

#include "reference/attention.hpp"

namespace heed::reference {

std::vector<double> linear(const Linear& layer, std::size_t rows, std::size_t in_features,
                           std::size_t out_features, const std::vector<double>& x) {
  std::vector<double> y;
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t o = 0; o < out_features; ++o) {
      double sum = layer.bias.empty() ? 0.0 : layer.bias[o];
      for (std::size_t i = 0; i < in_features; ++i) {
        sum += x[r * in_features + i] * layer.weight[o * in_features + i];
      }
      y.push_back(sum);
    }
  }
  return y;
}

MultiHeadResult multi_head_attention(const MultiHeadShape& s, const MultiHeadWeights& weights,
                                     std::span<const float> query_source,
                                     std::span<const float> memory,
                                     const AttentionOptions& options) {
  const std::vector<double> source(query_source.begin(), query_source.end());
  const std::vector<double> from(memory.begin(), memory.end());
  const std::size_t query_rows = s.batch * s.query_len, key_rows = s.batch * s.key_len;
  const auto q = linear(weights.query, query_rows, s.model_dim, s.heads * s.head_dim, source);
  const auto k = linear(weights.key, key_rows, s.memory_dim, s.kv_heads * s.head_dim, from);
  const auto v = linear(weights.value, key_rows, s.memory_dim, s.kv_heads * s.value_dim, from);
  const double scale = options.scale ? static_cast<double>(*options.scale)
                                     : 1 / std::sqrt(static_cast<double>(s.head_dim));
  MultiHeadResult result;
  result.context.assign(s.batch * s.heads * s.query_len * s.value_dim, 0.0);
  std::vector<double> joined(query_rows * s.heads * s.value_dim);
  for (std::size_t b = 0; b < s.batch; ++b) {
    for (std::size_t h = 0; h < s.heads; ++h) {
      const std::size_t g = h / (s.heads / s.kv_heads);
      for (std::size_t i = 0; i < s.query_len; ++i) {
        const std::size_t row = b * s.query_len + i;
        std::vector<double> logits;
        for (std::size_t j = 0; j < s.key_len; ++j) {
          double dot = 0;
          for (std::size_t t = 0; t < s.head_dim; ++t) {
            dot += q[(row * s.heads + h) * s.head_dim + t] *
                   k[((b * s.key_len + j) * s.kv_heads + g) * s.head_dim + t];
          }
          const bool hidden = options.causal && j + s.query_len > i + s.key_len;
          logits.push_back(hidden ? -std::numeric_limits<double>::infinity() : scale * dot);
        }
        const Softmax weight = softmax(logits);
        result.logsumexp.push_back(weight.logsumexp);
        for (std::size_t t = 0; t < s.value_dim; ++t) {
          double sum = 0;
          for (std::size_t j = 0; j < s.key_len; ++j) {
            sum += weight.weights[j] * v[((b * s.key_len + j) * s.kv_heads + g) * s.value_dim + t];
          }
          result.context[((b * s.heads + h) * s.query_len + i) * s.value_dim + t] = sum;
          joined[(row * s.heads + h) * s.value_dim + t] = sum;
        }
      }
    }
  }
  result.output = linear(weights.output, query_rows, s.heads * s.value_dim, s.output_dim, joined);
  return result;
}

}  // namespace heed::reference
