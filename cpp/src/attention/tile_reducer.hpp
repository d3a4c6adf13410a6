// Reduces rows of weights to the cells of a WeightTile: the entry of largest magnitude and the
// mean.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

#include "core/failure.hpp"
#include "heed/attention.hpp"

namespace heed {

class TileReducer {
 public:
  TileReducer(const WeightTile& tile, const TileOutputs& out) : tile_(tile), out_(out) {
    std::fill(out_.peak.begin(), out_.peak.end(), 0.0f);
    std::fill(out_.mean.begin(), out_.mean.end(), 0.0f);
  }

  /// Takes the weights of query `row` for all columns of the tile. Rows must come once each.
  void add(std::size_t row, const float* weights) {
    const std::size_t cells = tile_.cell_columns();
    const std::size_t cell_row = (row - tile_.rows.begin) / tile_.rows_per_cell;
    const std::size_t first_row = tile_.rows.begin + cell_row * tile_.rows_per_cell;
    const std::size_t cell_height = std::min(tile_.rows_per_cell, tile_.rows.end - first_row);
    for (std::size_t cell = 0; cell < cells; ++cell) {
      const std::size_t begin = cell * tile_.columns_per_cell;
      const std::size_t end = std::min(begin + tile_.columns_per_cell, tile_.columns.size());
      float peak = 0, sum = 0;
      for (std::size_t c = begin; c < end; ++c) {
        if (std::fabs(weights[c]) > std::fabs(peak)) peak = weights[c];
        sum += weights[c];
      }
      const std::size_t at = cell_row * cells + cell;
      if (!out_.peak.empty() && std::fabs(peak) > std::fabs(out_.peak[at])) out_.peak[at] = peak;
      if (!out_.mean.empty()) {
        out_.mean[at] += sum / static_cast<float>(cell_height * (end - begin));
      }
    }
  }

 private:
  WeightTile tile_;
  TileOutputs out_;
};

/// The tile that is one query's row of weights.
inline WeightTile row_tile(std::size_t batch, std::size_t head, std::size_t query,
                           std::size_t key_len) {
  return {.batch = batch, .head = head, .rows = {query, query + 1}, .columns = {0, key_len}};
}

/// The output for a row of weights must hold one float a key.
inline Status check_row(std::span<const float> out, std::size_t key_len) {
  if (out.size() == key_len) return {};
  return invalid_shape("out", std::to_string(out.size()), std::to_string(key_len) + " (key_len)");
}

/// A tile must lie in the matrix and its outputs must have one float a cell, or none.
inline Status check_tile(const WeightTile& tile, const TileOutputs& out, std::size_t batch,
                         std::size_t heads, std::size_t query_len, std::size_t key_len) {
  const auto range = [](const Range& r) {
    return "[" + std::to_string(r.begin) + ", " + std::to_string(r.end) + ")";
  };
  const auto below = [](const char* field, std::size_t value, std::size_t limit) -> Status {
    if (value < limit) return {};
    return invalid_value(field, std::to_string(value), "below " + std::to_string(limit));
  };
  HEED_TRY(below("tile.batch", tile.batch, batch));
  HEED_TRY(below("tile.head", tile.head, heads));
  if (tile.rows.begin > tile.rows.end || tile.rows.end > query_len) {
    return invalid_value("tile.rows", range(tile.rows),
                         "within [0, " + std::to_string(query_len) + ")");
  }
  if (tile.columns.begin > tile.columns.end || tile.columns.end > key_len) {
    return invalid_value("tile.columns", range(tile.columns),
                         "within [0, " + std::to_string(key_len) + ")");
  }
  if (tile.rows_per_cell == 0) return invalid_value("tile.rows_per_cell", "0", "at least 1");
  if (tile.columns_per_cell == 0) return invalid_value("tile.columns_per_cell", "0", "at least 1");
  const std::size_t cells = tile.cell_rows() * tile.cell_columns();
  for (const auto& [field, size] :
       {std::pair{"peak", out.peak.size()}, {"mean", out.mean.size()}}) {
    if (size != 0 && size != cells) {
      return invalid_shape(field, std::to_string(size), std::to_string(cells) + " (cells) or 0");
    }
  }
  return {};
}

}  // namespace heed
