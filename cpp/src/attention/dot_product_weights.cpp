// The weights behind an exact attention: recomputed on request from logits and logsumexp, never
// stored whole (Dao et al. 2022, section 3.1, recomputation).
#include <algorithm>

#include "attention/careful.hpp"
#include "attention/dot_product_state.hpp"
#include "attention/tile_reducer.hpp"

namespace heed {

using kernels::kKeyBlock;

void Attention::State::weight_block_packed(const WeightTile& tile_, std::size_t first,
                                           std::size_t rows) {
  const Problem& p = problem;
  const auto& kernel = kernels::table();
  const auto [begin, end] = tile_.columns;
  pack_head(tile_.batch, tile_.head);
  OnlineTile& tile = tiles[0];
  tile.begin(p, tile_.batch, tile_.head, nullptr, first, rows);
  for (std::size_t k = begin / kernel.panel_width * kernel.panel_width; k < end; k += kKeyBlock) {
    const PackedKeys keys = key_block(k, end);
    tile.multiply(keys);
    tile.apply_rules(keys);
    const std::size_t skip = k < begin ? begin - k : 0;
    for (std::size_t r = 0; r < rows; ++r) {
      float* const out = weight_rows.data() + r * tile_.columns.size() + (k + skip - begin);
      const float lse = p.outputs.logsumexp[p.row_index(tile_.batch, tile_.head, first + r)];
      if (lse == -std::numeric_limits<float>::infinity()) {
        std::fill_n(out, keys.count - skip, 0.0f);
      } else {
        kernel.exp2_shifted(tile.logits(r) + skip, keys.count - skip,
                            static_cast<float>(lse * kLog2E), out);
      }
    }
  }
  for (std::size_t r = 0; r < rows; ++r) {
    if (!p.only_self(tile_.batch, tile_.head, first + r)) continue;
    const auto self = static_cast<std::size_t>(p.position(first + r));
    if (self >= begin && self < end) weight_rows[r * tile_.columns.size() + self - begin] = 1.0f;
  }
}

void Attention::State::weight_block_careful(const WeightTile& tile_, std::size_t first,
                                            std::size_t rows) {
  for (std::size_t r = 0; r < rows; ++r) {
    careful_weights(problem, tile_.batch, tile_.head, first + r, {}, scratch.span());
    std::copy_n(scratch.data() + tile_.columns.begin, tile_.columns.size(),
                weight_rows.data() + r * tile_.columns.size());
  }
}

Status Attention::State::weight_block(const WeightTile& tile_, std::size_t first,
                                      std::size_t rows) {
  const std::size_t wanted = kernels::table().tile_rows * tile_.columns.size();
  if (weight_rows.size() < wanted) HEED_TRY(weight_rows.allocate(wanted, "rows of weights"));
  const auto row_logsumexp = [&](std::size_t r) {
    return problem.outputs.logsumexp[problem.row_index(tile_.batch, tile_.head, first + r)];
  };
  bool coarse = false;
  for (std::size_t r = 0; r < rows; ++r) coarse = coarse || is_coarse(row_logsumexp(r));
  // Problems of few queries keep no packed keys.
  if (problem.careful || coarse || packed_keys.size() == 0) {
    if (scratch.size() < problem.key_len) {
      HEED_TRY(scratch.allocate(problem.key_len, "row of weights"));
    }
    weight_block_careful(tile_, first, rows);
  } else {
    weight_block_packed(tile_, first, rows);
  }
  return {};
}

Status Attention::weights(const WeightTile& tile, const TileOutputs& out) {
  if (!done()) return invalid_value("attention", "not done", "advance() until done()");
  State& state = *state_;
  const Problem& p = state.problem;
  HEED_TRY(check_logsumexp(p));
  HEED_TRY(check_tile(tile, out, p.batch, p.heads, p.query_len, p.key_len));
  TileReducer reducer(tile, out);
  const std::size_t tile_rows = kernels::table().tile_rows;
  for (std::size_t i = tile.rows.begin; i < tile.rows.end; i += tile_rows) {
    const std::size_t rows = std::min(tile_rows, tile.rows.end - i);
    HEED_TRY(state.weight_block(tile, i, rows));
    for (std::size_t r = 0; r < rows; ++r) {
      reducer.add(i + r, state.weight_rows.data() + r * tile.columns.size());
    }
  }
  return {};
}

Status Attention::weight_row(std::size_t batch, std::size_t head, std::size_t query,
                             std::span<float> out) {
  if (!done()) return invalid_value("attention", "not done", "advance() until done()");
  HEED_TRY(check_row(out, state_->problem.key_len));
  return weights(row_tile(batch, head, query, out.size()), {.peak = out, .mean = {}});
}

}  // namespace heed
