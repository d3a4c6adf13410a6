// The oracle of multi-head attention (Vaswani et al. 2017, section 3.2.2) in float64.
#pragma once

#include <vector>

#include "heed/multi_head.hpp"

namespace heed::reference {

/// y = x W^T + b, [rows, out_features].
std::vector<double> linear(const Linear& layer, std::size_t rows, std::size_t in_features,
                           std::size_t out_features, const std::vector<double>& x);

struct MultiHeadResult {
  std::vector<double> output;     // [batch, query_len, output_dim]
  std::vector<double> context;    // [batch, heads, query_len, value_dim]
  std::vector<double> logsumexp;  // [batch, heads, query_len]
};

/// `shape` with its defaults filled in by the caller; `memory` as large as the shape says. Of the
/// options scale and causal are known.
MultiHeadResult multi_head_attention(const MultiHeadShape& shape, const MultiHeadWeights& weights,
                                     std::span<const float> query_source,
                                     std::span<const float> memory,
                                     const AttentionOptions& options);

}  // namespace heed::reference
