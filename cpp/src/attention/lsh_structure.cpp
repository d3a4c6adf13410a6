// Who may attend to whom: buckets, sorted order, chunks, and the candidates of a query.
#include <algorithm>
#include <numeric>

#include "attention/lsh_state.hpp"

namespace heed {
namespace {

/// Null: every key is visible.
const std::uint8_t* key_mask(const Problem& p, std::size_t b) {
  const auto mask = p.options.key_mask;
  return mask.empty() ? nullptr : mask.data() + b * p.key_len;
}

}  // namespace

std::size_t LshAttention::State::key_chunk(std::size_t b) const {
  if (lsh.shared_query_key) return lsh.chunk;
  return std::max<std::size_t>(1, ceil_div(visible_keys[b], std::max<std::size_t>(1, chunks())));
}

std::size_t LshAttention::State::groups() const {
  return lsh.true_buckets ? lsh.buckets + 1 : chunks();
}

double largest_squares(const Problem& p, bool shared_query_key, std::size_t b, std::size_t h) {
  const auto& [query, key, value] = p.inputs;
  const std::size_t kv_head = p.kv_head(h), group = p.heads / p.kv_heads;
  const std::uint8_t* const visible = key_mask(p, b);
  double most_query = 0, most_key = 0;
  for (std::size_t j = 0; j < p.key_len; ++j) {
    if (visible != nullptr && visible[j] == 0) continue;
    most_key = std::max(most_key, square_norm(key.row(b, kv_head, j), p.head_dim));
  }
  if (shared_query_key) return 2 * most_key;
  for (std::size_t n = kv_head * group; n < (kv_head + 1) * group; ++n) {
    for (std::size_t i = 0; i < p.query_len; ++i) {
      most_query = std::max(most_query, square_norm(query.row(b, n, i), p.head_dim));
    }
  }
  return most_query + most_key;
}

void LshAttention::State::hash_round(HashedSequence& sequence, std::size_t index, std::size_t r,
                                     const HashRows& rows) {
  const auto bucket = sequence.slice(sequence.bucket, index, r);
  const auto order = sequence.slice(sequence.order, index, r);
  const auto code = sequence.slice(sequence.code, index, r);
  hasher.hash(rows, r, bucket.data(), margins.data());
  const auto hidden_bucket = static_cast<std::uint32_t>(lsh.buckets);
  for (std::size_t i = 0; i < sequence.length; ++i) {
    if (rows.visible != nullptr && rows.visible[i] == 0) {
      bucket[i] = hidden_bucket;
    } else {
      smallest_margin = std::min(smallest_margin, margins[i]);
    }
  }
  sort_by_bucket(bucket, lsh.buckets + 1, counts.span(), order);
  for (std::size_t rank = 0; rank < sequence.length; ++rank) {
    const std::uint32_t i = order[rank];
    code[i] = lsh.true_buckets ? bucket[i] : static_cast<std::uint32_t>(rank / rows.cluster);
  }
}

void LshAttention::State::hash_head(std::size_t b, std::size_t h, double squares) {
  const Problem& p = problem;
  const auto& [query, key, value] = p.inputs;
  const bool shared = lsh.shared_query_key;
  // With shared-QK the queries' directions are the keys'; hashing the keys makes both the same.
  const Tensor<const float>& x = shared ? key : query;
  const HashRows query_rows = {.x = x.row(b, h, 0),
                               .stride = x.row_stride,
                               .rows = p.query_len,
                               .visible = shared ? key_mask(p, b) : nullptr,
                               .keys = shared,
                               .square_sum = squares,
                               .cluster = lsh.chunk};
  const HashRows key_rows = {.x = key.row(b, p.kv_head(h), 0),
                             .stride = key.row_stride,
                             .rows = p.key_len,
                             .visible = key_mask(p, b),
                             .keys = true,
                             .square_sum = squares,
                             .cluster = key_chunk(b)};
  const bool first_of_group = h % (p.heads / p.kv_heads) == 0;
  for (std::size_t r = 0; r < lsh.rounds; ++r) {
    hash_round(queries, query_sequence(b, h), r, query_rows);
    if (!shared && first_of_group && p.key_len > 0) {
      hash_round(keys, key_sequence(b, h), r, key_rows);
    }
  }
}

void LshAttention::State::start_round(std::size_t b, std::size_t h) {
  for (PackedSegment& segment : segments) segment.range = {};
  if (!lsh.true_buckets) return;
  const auto starts = [](std::span<const std::uint32_t> bucket, Buffer<std::uint32_t>& out) {
    std::fill(out.span().begin(), out.span().end(), 0u);
    for (const std::uint32_t k : bucket) ++out[k + 1];
    std::partial_sum(out.span().begin(), out.span().end(), out.data());
  };
  starts(queries.slice(queries.bucket, query_sequence(b, h), round), query_starts);
  starts(hashed_keys().slice(hashed_keys().bucket, key_sequence(b, h), round), key_starts);
}

Range LshAttention::State::group_queries(std::size_t g) const {
  if (lsh.true_buckets) return {query_starts[g], query_starts[g + 1]};
  return {g * lsh.chunk, std::min((g + 1) * lsh.chunk, problem.query_len)};
}

std::array<Range, 2> LshAttention::State::group_keys(std::size_t b, std::size_t g) const {
  if (lsh.true_buckets) {
    // The last group holds the hidden vectors of shared-QK, which see nothing.
    if (g == lsh.buckets) return {};
    return {Range{key_starts[g], key_starts[g + 1]}, Range{}};
  }
  const std::size_t m = key_chunk(b);
  const auto chunk = [&](std::size_t c) {
    return Range{std::min(c * m, visible_keys[b]), std::min((c + 1) * m, visible_keys[b])};
  };
  return {g == 0 ? Range{} : chunk(g - 1), chunk(g)};
}

void LshAttention::State::collect_candidates(std::size_t b, std::size_t h, std::size_t query,
                                             Candidates& out) const {
  out.keys.clear();
  out.rounds.clear();
  const HashedSequence& hashed = hashed_keys();
  const std::size_t key_index = key_sequence(b, h), query_index = query_sequence(b, h);
  const auto query_code = [&](std::size_t r) {
    return queries.slice(queries.code, query_index, r)[query];
  };
  for (std::size_t r = 0; r < lsh.rounds; ++r) {
    const auto order = hashed.slice(hashed.order, key_index, r);
    const std::uint32_t code = query_code(r);
    std::array<Range, 2> ranges;
    if (lsh.true_buckets) {
      const auto bucket = hashed.slice(hashed.bucket, key_index, r);
      const auto by_bucket = [&](std::uint32_t key, std::uint32_t value) {
        return bucket[key] < value;
      };
      const auto begin = std::lower_bound(order.begin(), order.end(), code, by_bucket);
      const auto end = std::lower_bound(begin, order.end(), code + 1, by_bucket);
      if (code != lsh.buckets) {
        ranges[0] = {static_cast<std::size_t>(begin - order.begin()),
                     static_cast<std::size_t>(end - order.begin())};
      }
    } else {
      ranges = group_keys(b, code);
    }
    for (const Range& range : ranges) {
      for (std::size_t k = range.begin; k < range.end; ++k) {
        const std::uint32_t key = order[k];
        bool earlier = false;
        for (std::size_t e = 0; e < r && !earlier; ++e) {
          earlier = query_code(e) - hashed.slice(hashed.code, key_index, e)[key] <= span();
        }
        if (earlier) continue;
        out.keys.push_back(key);
        out.rounds.push_back(static_cast<std::uint32_t>(r));
      }
    }
  }
}

}  // namespace heed
