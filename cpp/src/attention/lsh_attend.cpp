// The work of LSH attention: hash a head, then for every round and group of queries one exact
// softmax step over the keys not seen in earlier rounds. The running softmax of a query goes from
// round to round, so the result is the exact softmax over the union of all candidates.
#include <algorithm>
#include <limits>

#include "attention/careful.hpp"
#include "attention/lsh_state.hpp"
#include "core/failure.hpp"

namespace heed {

using kernels::kKeyBlock;

PackedSegment& LshAttention::State::pack(std::size_t slot, std::size_t b, std::size_t h,
                                         Range range) {
  PackedSegment& segment = segments[slot];
  if (segment.range.begin == range.begin && segment.range.end == range.end) return segment;
  const Problem& p = problem;
  const auto& kernel = kernels::table();
  const auto& [query, key, value] = p.inputs;
  const std::size_t kv_head = p.kv_head(h), count = range.size();
  const HashedSequence& hashed = hashed_keys();
  const std::size_t sequence = key_sequence(b, h);
  const std::uint32_t* const index =
      hashed.slice(hashed.order, sequence, round).data() + range.begin;
  kernel.pack_keys(key.row(b, kv_head, 0), key.row_stride, index, count, p.head_dim,
                   segment.keys.data());
  kernel.pack_values(value.row(b, kv_head, 0), value.row_stride, index, count, p.value_dim,
                     segment.values.data());
  for (std::size_t r = 0; r < round; ++r) {
    const auto code = hashed.slice(hashed.code, sequence, r);
    std::uint32_t* const out = segment.codes.data() + r * segment_capacity;
    for (std::size_t c = 0; c < count; ++c) out[c] = code[index[c]];
  }
  segment.range = range;
  return segment;
}

void LshAttention::State::hide_earlier(const PackedSegment& segment, std::size_t b, std::size_t h,
                                       std::size_t first, std::size_t count) {
  const auto& kernel = kernels::table();
  for (std::size_t r = 0; r < round; ++r) {
    const auto query_code = queries.slice(queries.code, query_sequence(b, h), r);
    const std::uint32_t* const key_code = segment.codes.data() + r * segment_capacity + first;
    for (std::size_t row = 0; row < tile.rows(); ++row) {
      kernel.hide_code_range(tile.logits(row), count, query_code[tile.query(row)], key_code,
                             span());
    }
  }
}

double LshAttention::State::attend_tile(std::size_t b, std::size_t h,
                                        std::span<const std::uint32_t> query,
                                        std::span<const Range> ranges) {
  const Problem& p = problem;
  const auto order = hashed_keys().slice(hashed_keys().order, key_sequence(b, h), round);
  double pairs = 0;
  tile.begin(p, b, h, query.data(), 0, query.size());
  if (round > 0) tile.restore(maximum.span(), sum.span());
  for (const Range& range : ranges) {
    for (std::size_t at = range.begin; at < range.end; at += kKeyBlock) {
      // A chunk is packed whole, in the slot of its parity; a true bucket a block at a time.
      const std::size_t end = std::min(at + kKeyBlock, range.end);
      const Range wanted = lsh.true_buckets ? Range{at, end} : range;
      const std::size_t slot = lsh.true_buckets ? 0 : (range.begin / key_chunk(b)) % 2;
      const PackedSegment& segment = pack(slot, b, h, wanted);
      const std::size_t offset = at - wanted.begin;
      const PackedKeys keys = {
          .keys = segment.keys.data() + offset * p.head_dim,
          .values = segment.values.data() + offset * kernels::table().panel_width,
          .values_stride = wanted.size(),
          .count = end - at,
          .position = order.data() + at};
      tile.multiply(keys);
      tile.apply_rules(keys);
      // After the rules: a soft cap would bring a hidden logit back.
      hide_earlier(segment, b, h, offset, keys.count);
      candidate_pairs += static_cast<double>(tile.count_visible(keys));
      tile.absorb(keys);
      pairs += static_cast<double>(query.size() * keys.count);
    }
  }
  if (round + 1 == lsh.rounds) {
    tile.finish();
  } else {
    tile.save(maximum.span(), sum.span());
  }
  return pairs;
}

void LshAttention::State::attend_careful(std::size_t b, std::size_t h,
                                         std::span<const std::uint32_t> query) {
  const Problem& p = problem;
  for (const std::uint32_t i : query) {
    collect_candidates(b, h, i, candidates);
    std::erase_if(candidates.keys, [&](std::uint32_t key) { return !p.sees(b, h, i, key); });
    if (candidates.keys.empty()) {
      finish_unseen_query(p, b, h, i);
      continue;
    }
    careful_attend(p, b, h, i, candidates.keys, scratch.span().first(candidates.keys.size()));
    candidate_pairs += static_cast<double>(candidates.keys.size());
  }
}

double LshAttention::State::attend_group(std::size_t b, std::size_t h) {
  const Range range = group_queries(group);
  const auto order = queries.slice(queries.order, query_sequence(b, h), round);
  const auto keys = group_keys(b, group);
  double pairs = 1;  // an empty group still is a step
  for (std::size_t i = range.begin; i < range.end; i += kLshTileRows) {
    const auto query = order.subspan(i, std::min(kLshTileRows, range.end - i));
    if (!problem.careful) {
      pairs += attend_tile(b, h, query, keys);
    } else if (round + 1 == lsh.rounds) {
      attend_careful(b, h, query);
    }
  }
  return pairs;
}

double LshAttention::State::step() {
  const std::size_t b = head / problem.heads, h = head % problem.heads;
  if (!hashed) {
    const bool lifts = lsh.family == HashFamily::kE2Lsh;
    hash_head(b, h, lifts ? largest_squares(problem, lsh.shared_query_key, b, h) : 0);
    hashed = true;
    return static_cast<double>(problem.query_len * lsh.rounds);
  }
  if (group == 0) start_round(b, h);
  const double pairs = attend_group(b, h);
  if (++group == groups()) {
    group = 0;
    if (++round == lsh.rounds) {
      round = 0;
      hashed = false;
      ++head;
    }
  }
  return pairs;
}

Status LshAttention::advance(double work) {
  if (state_ == nullptr) return invalid_value("attention", "not prepared", "a call of prepare()");
  // A call does at least one step, which counts 1 or more.
  for (double done = 0; !state_->done() && (done == 0 || done < work);) done += state_->step();
  return {};
}

bool LshAttention::done() const { return state_ != nullptr && state_->done(); }

double LshAttention::progress() const {
  if (done()) return 1;
  if (state_ == nullptr) return 0;
  const State& s = *state_;
  const double steps = static_cast<double>(s.groups() * s.lsh.rounds);
  const double at = static_cast<double>(s.round * s.groups() + s.group);
  return (static_cast<double>(s.head) + at / steps) /
         static_cast<double>(s.problem.batch * s.problem.heads);
}

Status lsh_attention(const AttentionInputs& inputs, const AttentionOptions& options,
                     const LshOptions& lsh, const AttentionOutputs& outputs) {
  LshAttention whole;
  HEED_TRY(whole.prepare(inputs, options, lsh, outputs));
  return whole.advance(std::numeric_limits<double>::infinity());
}

}  // namespace heed
