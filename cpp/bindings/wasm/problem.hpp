// What JavaScript passes for one attention problem: sizes, addresses in the WebAssembly heap and
// options, as flat structs that embind fills from plain objects.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "heed/attention.hpp"
#include "heed/lsh_attention.hpp"

namespace heed::wasm {

/// Sizes and addresses of dense tensors; see AttentionInputs and AttentionOutputs.
struct Problem {
  std::size_t batch, heads, kv_heads, query_len, key_len, head_dim, value_dim;
  std::size_t query, key, value, context, logsumexp;
};

/// AttentionOptions with an address and sizes for each tensor. An address of 0 means none.
struct Options {
  std::optional<double> scale, causal_offset, window_left, window_right;
  bool causal;
  double soft_cap;
  bool exclude_self;
  std::size_t key_mask;
  std::size_t mask, mask_batch, mask_heads, mask_rows;
  std::size_t bias, bias_batch, bias_heads, bias_rows;
};

template <class T>
T* at(std::size_t address) {
  return reinterpret_cast<T*>(address);
}

template <class T>
std::span<T> span_at(std::size_t address, std::size_t size) {
  if (address == 0) return {};
  return {at<T>(address), size};
}

inline AttentionInputs inputs_of(const Problem& p) {
  const auto view = [](std::size_t address, std::size_t batch, std::size_t heads, std::size_t rows,
                       std::size_t columns) {
    return dense(span_at<const float>(address, batch * heads * rows * columns), batch, heads, rows,
                 columns);
  };
  return {view(p.query, p.batch, p.heads, p.query_len, p.head_dim),
          view(p.key, p.batch, p.kv_heads, p.key_len, p.head_dim),
          view(p.value, p.batch, p.kv_heads, p.key_len, p.value_dim)};
}

inline AttentionOutputs outputs_of(const Problem& p, std::size_t context, std::size_t logsumexp) {
  const std::size_t rows = p.batch * p.heads * p.query_len;
  return {dense(span_at<float>(context, rows * p.value_dim), p.batch, p.heads, p.query_len,
                p.value_dim),
          span_at<float>(logsumexp, rows)};
}

inline AttentionOptions options_of(const Problem& p, const Options& o) {
  AttentionOptions out;
  if (o.scale) out.scale = static_cast<float>(*o.scale);
  out.causal = o.causal;
  if (o.causal_offset) out.causal_offset = static_cast<std::int64_t>(*o.causal_offset);
  if (o.window_left) out.window_left = static_cast<std::size_t>(*o.window_left);
  if (o.window_right) out.window_right = static_cast<std::size_t>(*o.window_right);
  out.soft_cap = static_cast<float>(o.soft_cap);
  out.exclude_self = o.exclude_self;
  out.key_mask = span_at<const std::uint8_t>(o.key_mask, p.batch * p.key_len);
  if (o.mask != 0) {
    const std::size_t size = o.mask_batch * o.mask_heads * o.mask_rows * p.key_len;
    out.mask = dense(span_at<const std::uint8_t>(o.mask, size), o.mask_batch, o.mask_heads,
                     o.mask_rows, p.key_len);
  }
  if (o.bias != 0) {
    const std::size_t size = o.bias_batch * o.bias_heads * o.bias_rows * p.key_len;
    out.bias = dense(span_at<const float>(o.bias, size), o.bias_batch, o.bias_heads, o.bias_rows,
                     p.key_len);
  }
  return out;
}

/// Keeps a failure for the next call of failure(); returns whether the call succeeded.
bool keep(Status status);

}  // namespace heed::wasm
