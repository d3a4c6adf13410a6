// What one setting does: its multiply-adds, and its figures on the sampled queries.
#include <algorithm>
#include <cmath>
#include <limits>

#include "attention/careful.hpp"
#include "attention/lsh_tuner_state.hpp"

namespace heed {

void LshTuner::State::count_multiply_adds() {
  LshAttention::State& s = *hashed;
  const double of_row = s.hasher.multiply_adds();
  // The keys of a group of heads are hashed once.
  const double hashed_keys = s.lsh.shared_query_key
                                 ? 0
                                 : static_cast<double>(problem.key_len * problem.kv_heads) /
                                       static_cast<double>(problem.heads);
  const double hashing = of_row * (static_cast<double>(problem.query_len) + hashed_keys);
  const auto of_pair = static_cast<double>(problem.head_dim + problem.value_dim);
  double total = 0;
  std::size_t rounds = 0;
  for (std::size_t n = 0; n < kTunedRounds.size(); ++n) {
    for (; rounds < kTunedRounds[n]; ++rounds) {
      s.round = rounds;
      s.start_round(0, 0);
      double pairs = 0;
      for (std::size_t g = 0; g < s.groups(); ++g) {
        const auto keys = s.group_keys(0, g);
        pairs += static_cast<double>(s.group_queries(g).size() * (keys[0].size() + keys[1].size()));
      }
      total += hashing + pairs * of_pair;
    }
    multiply_adds[setting * kTunedRounds.size() + n] += total;
  }
  s.round = 0;
}

void LshTuner::State::look_at_query() {
  const Problem& p = hashed->problem;
  ExactQuery truth;
  truth.query = drawn[looked_at++];
  truth.logsumexp = careful_weights(p, 0, 0, truth.query, {}, row.span());
  if (truth.logsumexp == -std::numeric_limits<double>::infinity()) return;
  const std::int64_t self = p.position(truth.query);
  truth.only_self = p.options.exclude_self && self >= 0 &&
                    self < static_cast<std::int64_t>(p.key_len) &&
                    row[static_cast<std::size_t>(self)] > 0;
  truth.context.assign(p.value_dim, 0);
  for (std::size_t j = 0; j < p.key_len; ++j) {
    if (row[j] == 0) continue;
    const float* const value = p.inputs.value.row(0, 0, j);
    for (std::size_t t = 0; t < p.value_dim; ++t) truth.context[t] += row[j] * value[t];
  }
  exact.push_back(std::move(truth));
}

void LshTuner::State::measure_query() {
  const Problem& p = hashed->problem;
  const ExactQuery& truth = exact[measured++];
  auto& [keys, rounds, unused] = candidates;
  hashed->collect_candidates(0, 0, truth.query, candidates);  // in the order of their rounds
  const std::int64_t self = p.position(truth.query);
  // A query that sees nothing else sees itself, whether or not they met.
  if (p.options.exclude_self && self >= 0 && self < static_cast<std::int64_t>(p.key_len) &&
      std::find(keys.begin(), keys.end(), self) == keys.end()) {
    keys.insert(keys.begin(), static_cast<std::uint32_t>(self));
    rounds.insert(rounds.begin(), 0);
  }
  double own = 0, total = 0;  // logsumexp of the weights at hand; their sum so far
  std::size_t end = 0;
  const auto weigh = [&](std::size_t count) {
    weights.resize(count);
    own = careful_weights(p, 0, 0, truth.query, std::span(keys).first(count), weights);
    std::fill(sum.begin(), sum.end(), 0.0);
    total = 0;
    end = 0;
  };
  const auto take = [&](std::size_t until) {
    for (; end < until; ++end) {
      const float* const value = p.inputs.value.row(0, 0, keys[end]);
      for (std::size_t t = 0; t < p.value_dim; ++t) sum[t] += weights[end] * value[t];
      total += weights[end];
    }
  };
  weigh(keys.size());
  for (std::size_t n = 0; n < kTunedRounds.size(); ++n) {
    const auto until = static_cast<std::size_t>(
        std::lower_bound(rounds.begin(), rounds.end(), kTunedRounds[n]) - rounds.begin());
    take(until);
    bool anew = false;
    if (total == 0 && until > 0 && until < keys.size()) {
      // Next to later candidates these weigh nothing; among themselves they do.
      anew = true;
      weigh(until);
      take(until);
    }
    double mass = total == 0 ? 0 : std::min(1.0, total * std::exp(own - truth.logsumexp));
    if (p.options.exclude_self && !truth.only_self) {
      for (std::size_t c = 0; c < until; ++c) {
        if (keys[c] == self && weights[c] > 0) mass = 0;  // left alone where exact attention is not
      }
    }
    double error = 0;
    for (std::size_t t = 0; t < p.value_dim; ++t) {
      const double approximate = total == 0 ? 0 : sum[t] / total;
      error += (approximate - truth.context[t]) * (approximate - truth.context[t]);
    }
    sums[setting * kTunedRounds.size() + n].add(
        mass, std::sqrt(error), norm(std::span<const double>(truth.context)), value_norm);
    if (anew) {
      weigh(keys.size());
      take(0);
    }
  }
}

}  // namespace heed
