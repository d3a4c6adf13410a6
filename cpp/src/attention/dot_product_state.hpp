// What Attention holds between calls.
#pragma once

#include <array>

#include "attention/online_tile.hpp"
#include "core/buffer.hpp"
#include "core/problem.hpp"

namespace heed {

/// Tiles of queries that take each block of keys and values together, while it lies in the
/// second-level cache: keys and values come from farther away once for all of them.
inline constexpr std::size_t kTilesTogether = 4;

/// Gives the problem its flags, one a row; exclude_self needs them.
Status allocate_flags(Problem& p, Buffer<std::uint8_t>& flags);

struct Attention::State {
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  Problem problem;
  Buffer<float> logits;  // of one tile, used by all in turn
  std::array<OnlineTile, kTilesTogether> tiles;
  Buffer<float> packed_keys, packed_values;
  Buffer<float> weight_rows;        // a tile's rows of weights
  Buffer<double> scratch;           // one row in double
  Buffer<std::uint8_t> self_only;   // see Problem::self_only
  std::size_t packed_head = kNone;  // batch * kv_heads + kv_head whose keys and values are packed

  // The cursor of the work, among batch * heads * query_len rows.
  std::size_t next_row = 0, end_row = 0;
  std::size_t rows_at_work = 0;  // of the tiles begun and not finished
  Range keys_at_work;            // what those tiles have not taken yet

  std::size_t rows_total() const { return problem.batch * problem.heads * problem.query_len; }
  bool done() const { return next_row == end_row; }
  /// Room for the rows [rows.begin, rows.end) of all.
  Status allocate(Range rows);
  void pack_head(std::size_t batch, std::size_t head);
  PackedKeys key_block(std::size_t first, std::size_t end) const;
  /// The next piece of work: one block of keys for the tiles at work, or one row where there are no
  /// tiles. Returns its query-key pairs, at least 1.
  double step();
  /// Softmax over all visible keys of one query, in double or through the rows as they are.
  void attend_careful(std::size_t batch, std::size_t head, std::size_t query);
  void attend_row(std::size_t batch, std::size_t head, std::size_t query);
  void begin_tiles(std::size_t batch, std::size_t head, std::size_t first);
  double attend_block();
  /// Weights of queries [first, first + rows) over the tile's columns into weight_rows, dense.
  Status weight_block(const WeightTile& tile, std::size_t first, std::size_t rows);
  void weight_block_packed(const WeightTile& tile, std::size_t first, std::size_t rows);
  void weight_block_careful(const WeightTile& tile, std::size_t first, std::size_t rows);
};

/// Exact attention of a resolved problem by the calling thread.
Status attend_in_one_go(const Problem& problem);

}  // namespace heed
