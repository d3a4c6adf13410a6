// Exact scaled dot-product attention: the public API.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "heed/status.hpp"
#include "heed/tensor.hpp"

namespace heed {

/// Query, key and value of one attention problem, float32.
///
/// query [batch, heads, query_len, head_dim], key [batch, kv_heads, key_len, head_dim], value
/// [batch, kv_heads, key_len, value_dim]. heads must be a multiple of kv_heads: query head h reads
/// key/value head h / (heads / kv_heads), which covers multi-query and grouped-query attention
/// (Shazeer 2019; Ainslie et al. 2023). Every value must be finite.
struct AttentionInputs {
  Tensor<const float> query;
  Tensor<const float> key;
  Tensor<const float> value;
};

/// Which keys a query may attend to, and how a dot product becomes a logit:
///
///   logit(i, j) = soft_cap(scale * <q_i, k_j>) + bias(i, j)
///   weight(i, j) = exp(logit(i, j)) / sum over visible j' of exp(logit(i, j'))
///   context(i) = sum over visible j of weight(i, j) * v_j
///
/// (Vaswani et al. 2017, eq. 1.) All conditions below apply together. A query that sees no key has
/// context 0 and logsumexp -infinity.
struct AttentionOptions {
  /// Default 1 / sqrt(head_dim). Finite; may be 0 (uniform attention) or negative.
  std::optional<float> scale = {};
  /// Query i sees key j only if j <= i + causal_offset.
  bool causal = false;
  /// Position of query 0 among the keys, for causal and windows; default key_len - query_len, which
  /// aligns the last query with the last key, as decoding with a cache needs. May be negative.
  std::optional<std::int64_t> causal_offset = {};
  /// Sliding window: query i sees key j only if -window_left <= j - (i + causal_offset) <=
  /// window_right.
  std::optional<std::size_t> window_left = {};
  std::optional<std::size_t> window_right = {};
  /// > 0: logits become soft_cap * tanh(logit / soft_cap), before the bias (Gemma 2). 0: off.
  float soft_cap = 0.0f;
  /// A query sees its own position only if it sees no other: the rule of shared query/key attention
  /// (Kitaev et al. 2020, section 2). Position means j == i + causal_offset.
  bool exclude_self = false;
  /// [batch, key_len]; 0 hides the key from every query. Empty: all keys count.
  std::span<const std::uint8_t> key_mask = {};
  /// [batch or 1, heads or 1, query_len or 1, key_len]; 0 hides key j from query i. Empty: none.
  Tensor<const std::uint8_t> mask = {};
  /// Added to the logits; same shapes as mask. Finite or -infinity (which hides). Empty: none.
  Tensor<const float> bias = {};
};

/// Where results go. context [batch, heads, query_len, value_dim]; logsumexp, natural logarithm,
/// dense [batch, heads, query_len], may be empty if it is not wanted.
struct AttentionOutputs {
  Tensor<float> context;
  std::span<float> logsumexp;
};

/// Which instruction set the kernels run on, for instance "avx2" or "wasm-relaxed".
const char* instruction_set();

/// Names of the instruction sets this build can run on this machine, slowest first.
std::span<const char* const> available_instruction_sets();

/// Chooses one of available_instruction_sets() for every later call of the process; for tests and
/// benchmarks. Not safe while another thread computes; objects prepared before must be prepared
/// anew, since their packed data has the former set's layout.
Status use_instruction_set(const char* name);

/// Exact attention over all heads and queries. Memory beside the outputs is O(key_len * head_dim),
/// never query_len * key_len (online softmax: Milakov & Gimelshein 2018; tiles: Dao et al. 2022).
Status attention(const AttentionInputs& inputs, const AttentionOptions& options,
                 const AttentionOutputs& outputs);

#if !defined(__EMSCRIPTEN__)
/// The same by `threads` threads, 1 to 1024, the caller's among them, fewer where one more would
/// cost more than it saves; rows are shared out by their visible pairs, and the result has the same
/// bits for any number. Each thread needs the working memory of one. In WebAssembly several workers
/// do this instead.
Status attention(const AttentionInputs& inputs, const AttentionOptions& options,
                 const AttentionOutputs& outputs, std::size_t threads);
#endif

/// A rectangle of the weight matrix of one head, reduced to cells.
struct WeightTile {
  std::size_t batch = 0;
  std::size_t head = 0;
  Range rows;                        // queries
  Range columns;                     // keys
  std::size_t rows_per_cell = 1;     // a cell covers this many queries ...
  std::size_t columns_per_cell = 1;  // ... and this many keys; the last cells may cover fewer
  std::size_t cell_rows() const { return cells(rows.size(), rows_per_cell); }
  std::size_t cell_columns() const { return cells(columns.size(), columns_per_cell); }
  static std::size_t cells(std::size_t size, std::size_t per_cell) {
    return size / per_cell + (size % per_cell != 0);
  }
};

/// Reductions of a tile, each dense [cell_rows, cell_columns]; an empty span is not computed.
/// peak is the entry of largest magnitude in the cell (the maximum, for weights, which are >= 0).
struct TileOutputs {
  std::span<float> peak;
  std::span<float> mean;
};

class LshAttention;
struct CellArithmetic;

/// The same attention in slices, for callers that must stay responsive, and the weights behind it.
///
/// Inputs, options and outputs are views: they must outlive the object.
class Attention {
 public:
  Attention();
  ~Attention();
  Attention(Attention&&) noexcept;
  Attention& operator=(Attention&&) noexcept;

  /// Validates everything and allocates. Nothing is computed yet.
  Status prepare(const AttentionInputs& inputs, const AttentionOptions& options,
                 const AttentionOutputs& outputs);

  /// Computes about `work` query-key pairs (at least one block of keys for some queries) and
  /// returns. Call until done(). Later calls continue where the last one stopped.
  Status advance(double work);
  bool done() const;
  /// Fraction of all query-key pairs already handled, 0 to 1.
  double progress() const;

  /// Softmax weights of a tile, reduced. Needs logsumexp in the outputs and done().
  Status weights(const WeightTile& tile, const TileOutputs& out);

  /// Weights of one query over all keys, [key_len]. Needs logsumexp in the outputs and done().
  Status weight_row(std::size_t batch, std::size_t head, std::size_t query, std::span<float> out);

  /// Bytes held beside inputs and outputs.
  std::size_t workspace_bytes() const;

  struct State;  // the library's own

 private:
  friend class LshAttention;
  friend Status explain_cell(Attention&, const LshAttention&, std::size_t, std::size_t, std::size_t,
                             std::size_t, CellArithmetic&);
  std::unique_ptr<State> state_;
};

}  // namespace heed
