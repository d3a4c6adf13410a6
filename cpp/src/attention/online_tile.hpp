// The running softmax of a tile of queries: what exact and LSH attention both feed with tiles of
// keys.
//
// Notation: s logits of the tile, o unnormalised context, both with padded rows; maximum in log2
// units; sum of exp2(s - maximum).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "attention/logit_rules.hpp"
#include "core/buffer.hpp"
#include "core/problem.hpp"
#include "kernels/kernel_table.hpp"

namespace heed {

/// Keys and values of one tile, packed by the kernels. position[c] is the original place of key c;
/// null means first_position + c.
struct PackedKeys {
  const float* keys = nullptr;
  const float* values = nullptr;
  std::size_t values_stride = 0;
  std::size_t count = 0;  // at most kKeyBlock
  const std::uint32_t* position = nullptr;
  std::size_t first_position = 0;

  std::size_t position_of(std::size_t c) const {
    return position == nullptr ? first_position + c : position[c];
  }
};

class OnlineTile {
 public:
  /// Floats of the logits of `rows` queries against a block of keys.
  static std::size_t logits_size(std::size_t rows);

  /// Room for `rows` queries of the problem. `logits`, of logits_size(rows), holds what lives from
  /// multiply() to absorb(), so several tiles may share it; it must outlive them.
  Status allocate(const Problem& p, std::size_t rows, std::span<float> logits);
  std::size_t bytes() const;

  /// Starts a tile with the queries query[0 .. rows), or first, first + 1, ... when it is null.
  void begin(const Problem& p, std::size_t batch, std::size_t head, const std::uint32_t* query,
             std::size_t first, std::size_t rows);

  /// Logits of the tile against these keys, unmasked, in log2 units; row r starts at logits(r).
  void multiply(const PackedKeys& keys);
  float* logits(std::size_t row) { return s_.data() + row * kernels::kKeyBlock; }
  /// Applies the problem's rules to the logits of every row.
  void apply_rules(const PackedKeys& keys);
  /// Takes the logits as they stand into the running softmax and adds the values.
  void absorb(const PackedKeys& keys);

  /// Writes context and logsumexp of every row into the problem's outputs. A row that saw nothing
  /// gets zeros and -infinity, or itself under exclude_self.
  void finish();

  /// Logits that are not hidden, over all rows.
  std::size_t count_visible(const PackedKeys& keys) const;

  std::size_t rows() const { return rows_; }
  std::size_t query(std::size_t row) const {
    return query_ == nullptr ? first_ + row : query_[row];
  }

  /// Keeps the running softmax of every row: context unnormalised in the problem's output, maximum
  /// and sum at [query]. restore() continues from there.
  void save(std::span<float> maximum, std::span<float> sum) const;
  void restore(std::span<const float> maximum, std::span<const float> sum);

 private:
  /// The causal rule and the window alone, over keys that lie side by side.
  void hide_invisible(const PackedKeys& keys);
  std::size_t groups() const { return ceil_div(rows_, kernel_->group_rows); }

  const kernels::KernelTable* kernel_ = nullptr;
  const Problem* problem_ = nullptr;
  std::size_t batch_ = 0, head_ = 0, first_ = 0, rows_ = 0, o_stride_ = 0;
  const std::uint32_t* query_ = nullptr;
  std::span<float> s_;
  Buffer<float> packed_queries_, o_, maximum_, sum_, decay_;
};

/// Context and logsumexp of a query that saw no key: zeros and -infinity, or under exclude_self its
/// own position when the other rules leave that visible.
void finish_unseen_query(const Problem& p, std::size_t batch, std::size_t head, std::size_t query);

}  // namespace heed
