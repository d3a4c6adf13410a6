// Multi-head attention with projections (Vaswani et al. 2017, section 3.2.2).
#include "heed/multi_head.hpp"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <utility>

#include "core/buffer.hpp"
#include "core/checked.hpp"
#include "core/failure.hpp"
#include "core/problem.hpp"
#include "kernels/kernel_table.hpp"

namespace heed {
namespace {

using kernels::kKeyBlock;

/// Rows of x multiplied at once: a tile of products is kLinearRows x kKeyBlock.
constexpr std::size_t kLinearRows = 48;

Status check_size(const char* field, std::size_t received, std::initializer_list<std::size_t> sizes,
                  const char* what) {
  std::size_t expected = 0;
  if (!checked_product(sizes, expected)) {
    return {ErrorCode::kOverflow, field, what, "sizes whose product fits the address space"};
  }
  if (received == expected) return {};
  return invalid_shape(field, std::to_string(received) + " elements",
                       std::to_string(expected) + " (" + what + ")");
}

MultiHeadShape with_defaults(MultiHeadShape s) {
  if (s.memory_dim == 0) s.memory_dim = s.model_dim;
  if (s.kv_heads == 0) s.kv_heads = s.heads;
  if (s.value_dim == 0) s.value_dim = s.head_dim;
  if (s.output_dim == 0) s.output_dim = s.model_dim;
  return s;
}

struct Projections {
  Buffer<float> query, key, value, context;
};

Status allocate(Buffer<float>& buffer, std::initializer_list<std::size_t> sizes, const char* name) {
  std::size_t size = 0;
  if (!checked_product(sizes, size)) {
    return {ErrorCode::kOverflow, name, "the product of its sizes",
            "sizes whose product fits the address space"};
  }
  return buffer.allocate(size, name);
}

}  // namespace

Status linear(const Linear& layer, std::size_t rows, std::size_t in_features,
              std::size_t out_features, std::span<const float> x, std::span<float> y) {
  HEED_TRY(check_size("weight", layer.weight.size(), {out_features, in_features},
                      "out_features * in_features"));
  if (!layer.bias.empty()) {
    HEED_TRY(check_size("bias", layer.bias.size(), {out_features}, "out_features"));
  }
  HEED_TRY(check_size("x", x.size(), {rows, in_features}, "rows * in_features"));
  HEED_TRY(check_size("y", y.size(), {rows, out_features}, "rows * out_features"));
  float largest = 0;
  HEED_TRY(check_finite(dense(layer.weight, 1, 1, out_features, in_features), "weight", largest));
  HEED_TRY(check_finite(dense(layer.bias, 1, 1, 1, layer.bias.size()), "bias", largest));
  HEED_TRY(check_finite(dense(x, 1, 1, rows, in_features), "x", largest));
  const auto& kernel = kernels::table();
  Buffer<float> packed_weight, packed_x, tile;
  const std::size_t padded_rows = round_up(kLinearRows, kernel.group_rows);
  HEED_TRY(allocate(packed_weight, {round_up(out_features, kernel.panel_width), in_features},
                    "packed weight"));
  HEED_TRY(allocate(packed_x, {padded_rows, in_features}, "packed x"));
  HEED_TRY(tile.allocate(padded_rows * kKeyBlock, "product tile"));
  kernel.pack_keys(layer.weight.data(), in_features, nullptr, out_features, in_features,
                   packed_weight.data());
  for (std::size_t first = 0; first < rows; first += kLinearRows) {
    const std::size_t count = std::min(kLinearRows, rows - first);
    kernel.pack_queries(x.data() + first * in_features, in_features, nullptr, count, in_features,
                        1.0f, packed_x.data());
    for (std::size_t c = 0; c < out_features; c += kKeyBlock) {
      const std::size_t columns = std::min(kKeyBlock, out_features - c);
      kernel.logits(packed_x.data(), ceil_div(count, kernel.group_rows),
                    packed_weight.data() + c * in_features, columns, in_features, tile.data());
      for (std::size_t r = 0; r < count; ++r) {
        float* const out = y.data() + (first + r) * out_features + c;
        const float* const product = tile.data() + r * kKeyBlock;
        for (std::size_t i = 0; i < columns; ++i) {
          out[i] = product[i] + (layer.bias.empty() ? 0.0f : layer.bias[c + i]);
        }
      }
    }
  }
  return {};
}

Status multi_head_attention(const MultiHeadShape& shape, const MultiHeadWeights& weights,
                            const MultiHeadInputs& inputs, const AttentionOptions& options,
                            const MultiHeadOutputs& outputs) {
  const MultiHeadShape s = with_defaults(shape);
  const bool self = inputs.memory.empty() && s.key_len == s.query_len;
  const std::span<const float> memory = self ? inputs.query_source : inputs.memory;
  for (const auto& [field, size] : {std::pair{"model_dim", s.model_dim},
                                    {"heads", s.heads},
                                    {"kv_heads", s.kv_heads},
                                    {"head_dim", s.head_dim},
                                    {"value_dim", s.value_dim},
                                    {"output_dim", s.output_dim}}) {
    if (size == 0) return invalid_shape(field, "0", "at least 1");
  }
  HEED_TRY(check_size("query_source", inputs.query_source.size(),
                      {s.batch, s.query_len, s.model_dim}, "batch * query_len * model_dim"));
  HEED_TRY(check_size("memory", memory.size(), {s.batch, s.key_len, s.memory_dim},
                      "batch * key_len * memory_dim"));
  HEED_TRY(check_size("output", outputs.output.size(), {s.batch, s.query_len, s.output_dim},
                      "batch * query_len * output_dim"));
  float largest = 0;
  HEED_TRY(check_finite(dense(inputs.query_source, 1, s.batch, s.query_len, s.model_dim),
                        "query_source", largest));
  HEED_TRY(check_finite(dense(memory, 1, s.batch, s.key_len, s.memory_dim), "memory", largest));

  const std::size_t query_rows = s.batch * s.query_len, key_rows = s.batch * s.key_len;
  Projections p;
  HEED_TRY(allocate(p.query, {query_rows, s.heads, s.head_dim}, "projected query"));
  HEED_TRY(allocate(p.key, {key_rows, s.kv_heads, s.head_dim}, "projected key"));
  HEED_TRY(allocate(p.value, {key_rows, s.kv_heads, s.value_dim}, "projected value"));
  HEED_TRY(allocate(p.context, {query_rows, s.heads, s.value_dim}, "context"));
  const auto project = [](const char* name, const Linear& layer, std::size_t rows, std::size_t in,
                          std::size_t out, std::span<const float> x, std::span<float> y) {
    Status status = linear(layer, rows, in, out, x, y);
    if (!status.ok()) status.field = std::string("weights.") + name + "." + status.field;
    return status;
  };
  HEED_TRY(project("query", weights.query, query_rows, s.model_dim, s.heads * s.head_dim,
                   inputs.query_source, p.query.span()));
  HEED_TRY(project("key", weights.key, key_rows, s.memory_dim, s.kv_heads * s.head_dim, memory,
                   p.key.span()));
  HEED_TRY(project("value", weights.value, key_rows, s.memory_dim, s.kv_heads * s.value_dim, memory,
                   p.value.span()));
  // The projections leave [batch, rows, heads, columns]; W_O reads the same layout.
  const auto constant = [](const Buffer<float>& b) { return std::span<const float>(b.span()); };
  const AttentionInputs projected = {
      dense_rows_first(constant(p.query), s.batch, s.heads, s.query_len, s.head_dim),
      dense_rows_first(constant(p.key), s.batch, s.kv_heads, s.key_len, s.head_dim),
      dense_rows_first(constant(p.value), s.batch, s.kv_heads, s.key_len, s.value_dim)};
  const Tensor<float> context =
      dense_rows_first(p.context.span(), s.batch, s.heads, s.query_len, s.value_dim);
  HEED_TRY(attention(projected, options, {context, outputs.logsumexp}));
  if (!outputs.context.empty()) {
    HEED_TRY(check_size("context", outputs.context.size(),
                        {s.batch, s.heads, s.query_len, s.value_dim},
                        "batch * heads * query_len * value_dim"));
    float* out = outputs.context.data();
    for (std::size_t b = 0; b < s.batch; ++b) {
      for (std::size_t h = 0; h < s.heads; ++h) {
        for (std::size_t i = 0; i < s.query_len; ++i, out += s.value_dim) {
          std::copy_n(context.row(b, h, i), s.value_dim, out);
        }
      }
    }
  }
  return project("output", weights.output, query_rows, s.heads * s.value_dim, s.output_dim,
                 p.context.span(), outputs.output);
}

}  // namespace heed
