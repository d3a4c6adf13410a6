#include "reference/lsh.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "reference/attention.hpp"

namespace heed::reference {

Hash cross_polytope_hash(std::span<const float> x, std::span<const float> rotation,
                         std::size_t width) {
  std::vector<double> ends(2 * width, 0.0);
  for (std::size_t c = 0; c < width; ++c) {
    for (std::size_t t = 0; t < x.size(); ++t) {
      ends[c] += static_cast<double>(x[t]) * rotation[t * width + c];
    }
    ends[width + c] = -ends[c];
  }
  const auto best = std::max_element(ends.begin(), ends.end());
  Hash hash;
  hash.bucket = static_cast<std::uint32_t>(best - ends.begin());
  const double most = *best;
  ends.erase(best);
  hash.margin = most - *std::max_element(ends.begin(), ends.end());
  return hash;
}

std::vector<std::uint32_t> bucket_order(std::span<const std::uint32_t> buckets) {
  std::vector<std::uint32_t> order(buckets.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return buckets[a] != buckets[b] ? buckets[a] < buckets[b] : a < b;
  });
  return order;
}

Meetings chunk_meetings(const std::vector<Round>& rounds, const Chunking& chunking) {
  const std::size_t queries = rounds[0].query_buckets.size(), keys = rounds[0].key_buckets.size();
  Meetings met(queries, std::vector<std::vector<std::uint32_t>>(keys));
  for (std::uint32_t r = 0; r < rounds.size(); ++r) {
    const auto query_order = bucket_order(rounds[r].query_buckets);
    const auto key_order = bucket_order(rounds[r].key_buckets);
    for (std::size_t a = 0; a < queries; ++a) {
      for (std::size_t c = 0; c < keys; ++c) {
        const std::uint32_t i = query_order[a], j = key_order[c];
        if (rounds[r].key_buckets[j] >= chunking.hidden_bucket) continue;
        const std::size_t query_chunk = a / chunking.query_chunk,
                          key_chunk = c / chunking.key_chunk;
        if (key_chunk == query_chunk || key_chunk + 1 == query_chunk) met[i][j].push_back(r);
      }
    }
  }
  return met;
}

Meetings bucket_meetings(const std::vector<Round>& rounds, std::uint32_t hidden_bucket) {
  const std::size_t queries = rounds[0].query_buckets.size(), keys = rounds[0].key_buckets.size();
  Meetings met(queries, std::vector<std::vector<std::uint32_t>>(keys));
  for (std::uint32_t r = 0; r < rounds.size(); ++r) {
    for (std::size_t i = 0; i < queries; ++i) {
      for (std::size_t j = 0; j < keys; ++j) {
        const std::uint32_t bucket = rounds[r].key_buckets[j];
        if (bucket < hidden_bucket && bucket == rounds[r].query_buckets[i]) met[i][j].push_back(r);
      }
    }
  }
  return met;
}

RoundwiseRow combine_rounds(const std::vector<double>& logits,
                            const std::vector<std::vector<std::uint32_t>>& met, std::size_t rounds,
                            const std::vector<double>& value, std::size_t value_dim) {
  constexpr double kHidden = -std::numeric_limits<double>::infinity();
  std::vector<Softmax> within;
  std::vector<double> round_logsumexp;
  for (std::uint32_t r = 0; r < rounds; ++r) {
    std::vector<double> corrected(logits.size(), kHidden);
    for (std::size_t j = 0; j < logits.size(); ++j) {
      const bool here = std::find(met[j].begin(), met[j].end(), r) != met[j].end();
      if (here) corrected[j] = logits[j] - std::log(static_cast<double>(met[j].size()));
    }
    within.push_back(softmax(corrected));
    round_logsumexp.push_back(within.back().logsumexp);
  }
  const Softmax across = softmax(round_logsumexp);
  RoundwiseRow row{std::vector<double>(value_dim, 0.0), across.logsumexp};
  for (std::size_t r = 0; r < rounds; ++r) {
    for (std::size_t j = 0; j < logits.size(); ++j) {
      for (std::size_t t = 0; t < value_dim; ++t) {
        row.context[t] += across.weights[r] * within[r].weights[j] * value[j * value_dim + t];
      }
    }
  }
  return row;
}

}  // namespace heed::reference
