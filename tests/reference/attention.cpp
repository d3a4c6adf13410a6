#include "reference/attention.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace heed::reference {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Entry of a mask or bias whose axes may have size 1.
template <class T>
T broadcast(const Tensor<const T>& t, std::size_t b, std::size_t h, std::size_t i, std::size_t j) {
  return t.row(t.batch == 1 ? 0 : b, t.heads == 1 ? 0 : h, t.rows == 1 ? 0 : i)[j];
}

std::int64_t position(const AttentionInputs& inputs, const AttentionOptions& options,
                      std::size_t i) {
  const auto aligned_ends =
      static_cast<std::int64_t>(inputs.key.rows) - static_cast<std::int64_t>(inputs.query.rows);
  return static_cast<std::int64_t>(i) + options.causal_offset.value_or(aligned_ends);
}

}  // namespace

bool shows(const AttentionInputs& inputs, const AttentionOptions& options, std::size_t b,
           std::size_t h, std::size_t i, std::size_t j) {
  const double distance =
      static_cast<double>(static_cast<std::int64_t>(j) - position(inputs, options, i));
  if (options.causal && distance > 0) return false;
  if (options.window_left && distance < -static_cast<double>(*options.window_left)) return false;
  if (options.window_right && distance > static_cast<double>(*options.window_right)) return false;
  if (!options.key_mask.empty() && options.key_mask[b * inputs.key.rows + j] == 0) return false;
  if (!options.mask.data.empty() && broadcast(options.mask, b, h, i, j) == 0) return false;
  return options.bias.data.empty() || std::isfinite(broadcast(options.bias, b, h, i, j));
}

Softmax softmax(const std::vector<double>& logits) {
  Softmax result{std::vector<double>(logits.size(), 0.0), -kInfinity};
  double most = -kInfinity, sum = 0;
  for (const double logit : logits) most = std::max(most, logit);
  if (most == -kInfinity) return result;
  for (const double logit : logits) sum += std::exp(logit - most);
  for (std::size_t j = 0; j < logits.size(); ++j) {
    result.weights[j] = std::exp(logits[j] - most) / sum;
  }
  result.logsumexp = most + std::log(sum);
  return result;
}

Attended attention(const AttentionInputs& inputs, const AttentionOptions& options,
                   const Sees& sees) {
  const auto& [query, key, value] = inputs;
  Attended out;
  out.batch = query.batch;
  out.heads = query.heads;
  out.query_len = query.rows;
  out.key_len = key.rows;
  out.value_dim = value.columns;
  const double scale = options.scale ? static_cast<double>(*options.scale)
                                     : 1 / std::sqrt(static_cast<double>(query.columns));
  for (std::size_t b = 0; b < out.batch; ++b) {
    for (std::size_t h = 0; h < out.heads; ++h) {
      const std::size_t kv_head = h / (out.heads / key.heads);
      for (std::size_t i = 0; i < out.query_len; ++i) {
        std::vector<double> all(out.key_len, -kInfinity), visible(out.key_len, -kInfinity);
        double magnitude = 0;
        bool others = false;
        const std::int64_t self = position(inputs, options, i);
        for (std::size_t j = 0; j < out.key_len; ++j) {
          if (!shows(inputs, options, b, h, i, j)) continue;
          double dot = 0, absolute = 0;
          for (std::size_t t = 0; t < query.columns; ++t) {
            const double product =
                static_cast<double>(query.row(b, h, i)[t]) * key.row(b, kv_head, j)[t];
            dot += product;
            absolute += std::abs(product);
          }
          double logit = scale * dot;
          const double cap = options.soft_cap;
          if (cap > 0) logit = cap * std::tanh(logit / cap);
          const double bias = options.bias.data.empty() ? 0.0 : broadcast(options.bias, b, h, i, j);
          all[j] = logit + bias;
          magnitude = std::max(magnitude, std::abs(scale) * absolute + std::abs(bias));
          const bool is_self = static_cast<std::int64_t>(j) == self;
          if (sees && !sees(b, h, i, j)) continue;
          if (options.exclude_self && is_self) continue;
          visible[j] = all[j];
          others = true;
        }
        if (options.exclude_self && !others && self >= 0 &&
            self < static_cast<std::int64_t>(out.key_len)) {
          visible[static_cast<std::size_t>(self)] = all[static_cast<std::size_t>(self)];
        }
        const Softmax row = softmax(visible);
        out.logits.insert(out.logits.end(), visible.begin(), visible.end());
        out.weights.insert(out.weights.end(), row.weights.begin(), row.weights.end());
        out.logsumexp.push_back(row.logsumexp);
        out.logit_magnitude.push_back(magnitude);
        for (std::size_t t = 0; t < out.value_dim; ++t) {
          double sum = 0, absolute = 0;
          for (std::size_t j = 0; j < out.key_len; ++j) {
            const double v = value.row(b, kv_head, j)[t];
            sum += row.weights[j] * v;
            absolute += row.weights[j] * std::abs(v);
          }
          out.context.push_back(sum);
          out.absolute_context.push_back(absolute);
        }
      }
    }
  }
  return out;
}

RowTolerance tolerance(const Attended& expected, std::size_t row, std::size_t head_dim) {
  constexpr double kUnit = 0x1p-24;
  const double products = static_cast<double>(head_dim),
               keys = static_cast<double>(expected.key_len);
  const double magnitude = expected.logit_magnitude[row];
  RowTolerance t;
  // head_dim products and sums; 8 more roundings: the scale, its product with q, soft cap
  // (division, tanh of 2 units, product), bias with its factor log2(e), difference to the maximum.
  t.logit = kUnit * (products + 8) * magnitude;
  // Numerator and denominator carry the logit's error; exp2 is good to 2.5e-7 in both; the sum and
  // the product with v have one rounding a key, and one more for each decay and quotient.
  const double roundings = 2 * keys + 16;
  t.weight = std::expm1(2 * t.logit) + 2 * 2.5e-7 + kUnit * roundings;
  // The logsumexp is off like a logarithm of the sum, and rounded to float32 at its own size.
  t.logit += 2.5e-7 + kUnit * roundings;
  if (std::isfinite(expected.logsumexp[row])) {
    t.logit += 3 * kUnit * std::abs(expected.logsumexp[row]);
  }
  t.underflow = 0x1p-125;
  return t;
}

}  // namespace heed::reference
