// What Attention holds between calls.
#pragma once

#include "attention/online_tile.hpp"
#include "core/buffer.hpp"
#include "core/problem.hpp"

namespace heed {

/// Queries of a tile: 8 groups of 6 or 4 of 12. Their logits against a block of keys are 24 KB,
/// which a first-level cache of 32 KB holds.
inline constexpr std::size_t kQueryTileRows = 48;

struct Attention::State {
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  Problem problem;
  OnlineTile tile;
  Buffer<float> packed_keys, packed_values;
  Buffer<float> weight_rows;        // a tile's rows of weights
  Buffer<double> scratch;           // one row in double
  Buffer<std::uint8_t> self_only;   // see Problem::self_only
  std::size_t packed_head = kNone;  // batch * kv_heads + kv_head whose keys and values are packed
  std::size_t next_row = 0;         // of batch * heads * query_len

  std::size_t rows_total() const { return problem.batch * problem.heads * problem.query_len; }
  bool done() const { return next_row == rows_total(); }
  Status allocate();
  void pack_head(std::size_t batch, std::size_t head);
  PackedKeys key_block(std::size_t first, std::size_t end) const;
  /// Softmax over all visible keys for the queries [first, first + rows) of one head: through
  /// packed keys, through the rows as they are, or in double.
  void attend(std::size_t batch, std::size_t head, std::size_t first, std::size_t rows);
  void attend_tile(std::size_t batch, std::size_t head, std::size_t first, std::size_t rows);
  void attend_row(std::size_t batch, std::size_t head, std::size_t query);
  /// Weights of queries [first, first + rows) over the tile's columns into weight_rows, dense.
  Status weight_block(const WeightTile& tile, std::size_t first, std::size_t rows);
  void weight_block_packed(const WeightTile& tile, std::size_t first, std::size_t rows);
  void weight_block_careful(const WeightTile& tile, std::size_t first, std::size_t rows);
};

}  // namespace heed
