// Read-outs of a finished LSH attention: structure, candidates, weights.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "attention/careful.hpp"
#include "attention/dot_product_state.hpp"
#include "attention/logit_rules.hpp"
#include "attention/lsh_state.hpp"
#include "attention/tile_reducer.hpp"
#include "core/failure.hpp"

namespace heed {
namespace {

constexpr float kHidden = -std::numeric_limits<float>::infinity();

Status not_done() { return invalid_value("attention", "not done", "advance() until done()"); }

/// Drops the candidates whose logit is hidden and orders the rest by key.
void keep_visible(Candidates& candidates, std::span<const float> logits) {
  std::vector<std::uint32_t> slots;
  for (std::uint32_t c = 0; c < logits.size(); ++c) {
    if (logits[c] != kHidden) slots.push_back(c);
  }
  std::sort(slots.begin(), slots.end(), [&](std::uint32_t x, std::uint32_t y) {
    return candidates.keys[x] < candidates.keys[y];
  });
  Candidates kept;
  for (const std::uint32_t slot : slots) {
    kept.keys.push_back(candidates.keys[slot]);
    kept.rounds.push_back(candidates.rounds[slot]);
    kept.weights.push_back(logits[slot]);
  }
  candidates = std::move(kept);
}

}  // namespace

void LshAttention::State::weigh(std::size_t b, std::size_t h, std::size_t query,
                                std::optional<double> logsumexp, Candidates& out) const {
  const Problem& p = problem;
  if (p.only_self(b, h, query)) {
    out = {{static_cast<std::uint32_t>(p.position(query))}, {0}, {1.0f}};
    return;
  }
  collect_candidates(b, h, query, out);
  const auto position_of = [&out](std::size_t c) -> std::size_t { return out.keys[c]; };
  const std::size_t count = out.keys.size();
  std::vector<float> logits(count);
  if (p.careful || !logsumexp || is_coarse(static_cast<float>(*logsumexp))) {
    std::vector<double> weights(count);
    const double own = careful_weights(p, b, h, query, out.keys, weights);
    // Relative to another logsumexp the weights scale by exp(own - logsumexp).
    const double factor = logsumexp ? std::exp(std::min(0.0, own - *logsumexp)) : 1.0;
    for (std::size_t c = 0; c < count; ++c) logits[c] = static_cast<float>(weights[c] * factor);
    for (std::size_t c = 0; c < count; ++c) {
      if (!p.sees(b, h, query, out.keys[c])) logits[c] = kHidden;
    }
    keep_visible(out, logits);
    return;
  }
  const auto& kernel = kernels::table();
  const auto& [queries_, key, value] = p.inputs;
  kernel.row_logits(queries_.row(b, h, query), key.row(b, p.kv_head(h), 0), key.row_stride,
                    out.keys.data(), count, p.head_dim, static_cast<float>(p.scale * kLog2E),
                    logits.data());
  apply_rules(p, b, h, query, position_of, count, static_cast<float>(kLog2E), logits.data());
  keep_visible(out, logits);
  if (*logsumexp != kHidden) {
    kernel.exp2_shifted(out.weights.data(), out.weights.size(),
                        static_cast<float>(*logsumexp * kLog2E), out.weights.data());
  }
}

void LshAttention::State::fill_row(const WeightTile& tile_, std::size_t query,
                                   Candidates& candidates_, std::span<float> row) const {
  std::fill(row.begin(), row.end(), 0.0f);
  const float logsumexp =
      problem.outputs.logsumexp[problem.row_index(tile_.batch, tile_.head, query)];
  const bool in_double = problem.careful || is_coarse(logsumexp);
  weigh(tile_.batch, tile_.head, query, in_double ? std::nullopt : std::optional<double>(logsumexp),
        candidates_);
  for (std::size_t c = 0; c < candidates_.keys.size(); ++c) {
    const std::size_t key = candidates_.keys[c];
    if (key >= tile_.columns.begin && key < tile_.columns.end) {
      row[key - tile_.columns.begin] = candidates_.weights[c];
    }
  }
}

std::size_t LshAttention::rounds() const { return state_ == nullptr ? 0 : state_->lsh.rounds; }
std::size_t LshAttention::buckets() const { return state_ == nullptr ? 0 : state_->lsh.buckets; }
std::size_t LshAttention::chunk() const { return state_ == nullptr ? 0 : state_->lsh.chunk; }

std::size_t LshAttention::key_chunk(std::size_t batch) const {
  return state_ == nullptr ? 0 : state_->key_chunk(batch);
}

AttentionInputs LshAttention::exact_inputs() const {
  return state_ == nullptr ? AttentionInputs{} : state_->problem.inputs;
}

AttentionOptions LshAttention::exact_options() const {
  return state_ == nullptr ? AttentionOptions{} : state_->problem.options;
}

LshCost LshAttention::cost() const {
  if (!done()) return {};
  // A query left alone with itself has that one pair.
  const auto alone = state_->self_only.span();
  return {state_->candidate_pairs + std::accumulate(alone.begin(), alone.end(), 0.0),
          state_->problem.visible_pairs()};
}

std::span<const std::uint32_t> LshAttention::query_buckets(std::size_t batch, std::size_t head,
                                                           std::size_t round) const {
  const State& s = *state_;
  return s.queries.slice(s.queries.bucket, s.query_sequence(batch, head), round);
}
std::span<const std::uint32_t> LshAttention::key_buckets(std::size_t batch, std::size_t head,
                                                         std::size_t round) const {
  const State& s = *state_;
  return s.hashed_keys().slice(s.hashed_keys().bucket, s.key_sequence(batch, head), round);
}
std::span<const std::uint32_t> LshAttention::query_order(std::size_t batch, std::size_t head,
                                                         std::size_t round) const {
  const State& s = *state_;
  return s.queries.slice(s.queries.order, s.query_sequence(batch, head), round);
}
std::span<const std::uint32_t> LshAttention::key_order(std::size_t batch, std::size_t head,
                                                       std::size_t round) const {
  const State& s = *state_;
  return s.hashed_keys().slice(s.hashed_keys().order, s.key_sequence(batch, head), round);
}

Status LshAttention::candidates(std::size_t batch, std::size_t head, std::size_t query,
                                std::vector<std::uint32_t>& keys,
                                std::vector<std::uint32_t>& rounds) const {
  if (!done()) return not_done();
  const Problem& p = state_->problem;
  const WeightTile one{.batch = batch, .head = head, .rows = {query, query + 1}, .columns = {}};
  HEED_TRY(check_tile(one, {}, p.batch, p.heads, p.query_len, p.key_len));
  Candidates found;
  state_->weigh(batch, head, query, kHidden, found);
  keys = std::move(found.keys);
  rounds = std::move(found.rounds);
  return {};
}

Status LshAttention::weights(const WeightTile& tile, const TileOutputs& out) const {
  if (!done()) return not_done();
  const Problem& p = state_->problem;
  HEED_TRY(check_logsumexp(p));
  HEED_TRY(check_tile(tile, out, p.batch, p.heads, p.query_len, p.key_len));
  Buffer<float> row;
  HEED_TRY(row.allocate(tile.columns.size(), "row of weights"));
  TileReducer reducer(tile, out);
  Candidates candidates;
  for (std::size_t i = tile.rows.begin; i < tile.rows.end; ++i) {
    state_->fill_row(tile, i, candidates, row.span());
    reducer.add(i, row.data());
  }
  return {};
}

Status LshAttention::weight_difference(Attention& exact, const WeightTile& tile,
                                       const TileOutputs& out) const {
  if (!done() || !exact.done()) return not_done();
  const Problem& p = state_->problem;
  Attention::State& other = *exact.state_;
  const Problem& q = other.problem;
  HEED_TRY(check_logsumexp(p));
  HEED_TRY(check_logsumexp(q));
  HEED_TRY(check_comparable(p, q, "exact"));
  HEED_TRY(check_tile(tile, out, p.batch, p.heads, p.query_len, p.key_len));
  Buffer<float> row;
  HEED_TRY(row.allocate(tile.columns.size(), "row of weights"));
  TileReducer reducer(tile, out);
  Candidates candidates;
  const std::size_t tile_rows = kernels::table().tile_rows;
  for (std::size_t i = tile.rows.begin; i < tile.rows.end; i += tile_rows) {
    const std::size_t rows = std::min(tile_rows, tile.rows.end - i);
    HEED_TRY(other.weight_block(tile, i, rows));
    for (std::size_t r = 0; r < rows; ++r) {
      state_->fill_row(tile, i + r, candidates, row.span());
      const float* const weight = other.weight_rows.data() + r * tile.columns.size();
      for (std::size_t c = 0; c < row.size(); ++c) row[c] -= weight[c];
      reducer.add(i + r, row.data());
    }
  }
  return {};
}

Status LshAttention::weight_row(std::size_t batch, std::size_t head, std::size_t query,
                                std::span<float> out) const {
  if (!done()) return not_done();
  HEED_TRY(check_row(out, state_->problem.key_len));
  return weights(row_tile(batch, head, query, out.size()), {.peak = out, .mean = {}});
}

std::size_t LshAttention::workspace_bytes() const {
  if (state_ == nullptr) return 0;
  const State& s = *state_;
  std::size_t bytes = s.shared_keys.bytes() + s.self_only.bytes() + s.hasher.bytes() +
                      s.queries.bytes() + s.keys.bytes() + s.counts.bytes() +
                      s.query_starts.bytes() + s.key_starts.bytes() + s.margins.bytes() +
                      s.logits.bytes() + s.tile.bytes() + s.maximum.bytes() + s.sum.bytes() +
                      s.scratch.bytes();
  for (const PackedSegment& segment : s.segments) {
    bytes += segment.keys.bytes() + segment.values.bytes() + segment.codes.bytes();
  }
  return bytes;
}

}  // namespace heed
