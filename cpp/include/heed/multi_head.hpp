// Multi-head attention with its learned projections (Vaswani et al. 2017, section 3.2.2).
#pragma once

#include <span>

#include "heed/attention.hpp"

namespace heed {

/// Weights are row-major [out_features, in_features] as in PyTorch's nn.Linear: y = x W^T + b.
/// Empty bias spans mean no bias. Every number must be finite.
struct Linear {
  std::span<const float> weight;
  std::span<const float> bias;
};

/// Sizes of a multi-head layer. head_dim and value_dim are per head.
struct MultiHeadShape {
  std::size_t batch = 1;
  std::size_t query_len = 0;
  std::size_t key_len = 0;
  std::size_t model_dim = 0;   // columns of the query source
  std::size_t memory_dim = 0;  // columns of the key/value source; 0: model_dim
  std::size_t heads = 1;
  std::size_t kv_heads = 0;  // 0: heads
  std::size_t head_dim = 0;
  std::size_t value_dim = 0;   // 0: head_dim
  std::size_t output_dim = 0;  // 0: model_dim
};

/// W_Q [heads * head_dim, model_dim], W_K [kv_heads * head_dim, memory_dim], W_V [kv_heads *
/// value_dim, memory_dim], W_O [output_dim, heads * value_dim].
struct MultiHeadWeights {
  Linear query, key, value, output;
};

/// query_source dense [batch, query_len, model_dim]; memory dense [batch, key_len, memory_dim]
/// (empty: self-attention, memory = query_source). output dense [batch, query_len, output_dim].
/// The optional results let a reader look inside: per-head context before W_O, dense [batch, heads,
/// query_len, value_dim], and logsumexp dense [batch, heads, query_len].
struct MultiHeadInputs {
  std::span<const float> query_source;
  std::span<const float> memory;
};
struct MultiHeadOutputs {
  std::span<float> output;
  std::span<float> context;
  std::span<float> logsumexp;
};

Status multi_head_attention(const MultiHeadShape& shape, const MultiHeadWeights& weights,
                            const MultiHeadInputs& inputs, const AttentionOptions& options,
                            const MultiHeadOutputs& outputs);

/// y = x W^T + b for dense x [rows, in_features]; y dense [rows, out_features].
Status linear(const Linear& layer, std::size_t rows, std::size_t in_features,
              std::size_t out_features, std::span<const float> x, std::span<float> y);

}  // namespace heed
