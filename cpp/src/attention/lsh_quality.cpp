// What an LSH attention loses against exact attention: measured, and bounded.
//
// With p the exact weights of a query, S its candidates and m = sum of p over S (captured mass),
// the LSH weights are p / m on S. So KL(p^ || p) = -log m, total variation is 1 - m, and for the
// outputs |o^ - o| <= 2 (1 - m) max_j |v_j|.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <unordered_map>
#include <vector>

#include "attention/careful.hpp"
#include "attention/dot_product_state.hpp"
#include "attention/lsh_state.hpp"
#include "core/failure.hpp"
#include "core/philox.hpp"

namespace heed {
namespace {

/// float32 results carry rounding that the bound on exact arithmetic does not know: a few units in
/// the last place of the largest value for each of the two outputs.
constexpr double kRounding = 0x1p-18;

/// `count` of 0 .. size - 1 without replacement, ascending: the first steps of a Fisher-Yates
/// shuffle whose swaps are kept in a map.
std::vector<std::uint32_t> draw_queries(std::size_t size, std::size_t count, std::uint64_t seed,
                                        std::uint64_t stream) {
  if (count == size) {
    std::vector<std::uint32_t> all(size);
    std::iota(all.begin(), all.end(), 0u);
    return all;
  }
  std::unordered_map<std::uint64_t, std::uint64_t> moved;
  const auto at = [&moved](std::uint64_t i) {
    const auto found = moved.find(i);
    return found == moved.end() ? i : found->second;
  };
  std::vector<std::uint32_t> drawn;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t j = i + uniform_below(seed, stream, i, size - i);
    drawn.push_back(static_cast<std::uint32_t>(at(j)));
    moved[j] = at(i);
  }
  std::sort(drawn.begin(), drawn.end());
  return drawn;
}

double norm(const float* x, std::size_t size) {
  double square = 0;
  for (std::size_t t = 0; t < size; ++t) square += static_cast<double>(x[t]) * x[t];
  return std::sqrt(square);
}

double largest_value_norm(const Problem& p, std::size_t b, std::size_t kv_head) {
  double largest = 0;
  for (std::size_t j = 0; j < p.key_len; ++j) {
    largest = std::max(largest, norm(p.inputs.value.row(b, kv_head, j), p.value_dim));
  }
  return largest;
}

struct Sums {
  std::size_t queries = 0;
  double mass = 0, mass_square = 0, mass_min = 1, kl = 0;
  double error_square = 0, exact_square = 0, bound_square = 0;

  void add(double mass_, double error, double exact, double bound) {
    ++queries;
    mass += mass_;
    mass_square += mass_ * mass_;
    mass_min = std::min(mass_min, mass_);
    kl += mass_ > 0 ? -std::log(mass_) : std::numeric_limits<double>::infinity();
    error_square += error * error;
    exact_square += exact * exact;
    bound_square += bound * bound;
  }
};

LshQuality summarise(const Sums& s, std::size_t population, bool sampled, double margin) {
  LshQuality q;
  q.queries = s.queries;
  q.sampled = sampled;
  q.argmax_margin = margin;
  if (s.queries == 0) return q;
  const auto n = static_cast<double>(s.queries);
  q.captured_mass = s.mass / n;
  q.captured_mass_min = s.mass_min;
  q.kl = s.kl / n;
  if (s.exact_square > 0) {
    q.relative_error = std::sqrt(s.error_square / s.exact_square);
    q.error_bound = std::sqrt(s.bound_square / s.exact_square);
  }
  if (sampled && s.queries > 1) {
    const double variance = std::max(0.0, (s.mass_square - s.mass * s.mass / n) / (n - 1));
    // Finite population: a sample of all has no error.
    const double left = 1 - n / static_cast<double>(population);
    q.captured_mass_stderr = std::sqrt(variance / n * std::max(0.0, left));
  }
  return q;
}

}  // namespace

Status LshAttention::quality(Attention& exact, std::size_t sample, std::uint64_t seed,
                             LshQuality& out) const {
  if (!done() || !exact.done()) {
    return invalid_value("attention", "not done", "advance() both until done()");
  }
  const State& s = *state_;
  const Problem& p = s.problem;
  const Problem& e = exact.state_->problem;
  HEED_TRY(check_comparable(p, e, "exact"));
  HEED_TRY(check_logsumexp(e));
  const bool sampled = sample != 0 && sample < p.query_len;
  Sums sums;
  Candidates candidates;
  std::vector<float> difference(p.value_dim);
  std::vector<double> row(p.key_len);
  for (std::size_t head = 0; head < p.batch * p.heads; ++head) {
    const std::size_t b = head / p.heads, h = head % p.heads;
    const double value_norm = largest_value_norm(p, b, p.kv_head(h));
    const auto queries = draw_queries(p.query_len, sampled ? sample : p.query_len, seed, head);
    for (const std::uint32_t i : queries) {
      const float logsumexp = e.outputs.logsumexp[e.row_index(b, h, i)];
      if (logsumexp == -std::numeric_limits<float>::infinity()) continue;
      const bool in_double = p.careful || e.careful || is_coarse(logsumexp);
      s.weigh(b, h, i, in_double ? careful_weights(e, b, h, i, {}, row) : double{logsumexp},
              candidates);
      double mass = 0;
      // A query left alone with itself has weight 1 under LSH; what that captures is another
      // matter.
      if (p.only_self(b, h, i)) {
        mass = e.only_self(b, h, i) ? 1 : 0;
      } else {
        for (const float weight : candidates.weights) mass += weight;
      }
      mass = std::min(mass, 1.0);
      const float* const approximate = p.outputs.context.row(b, h, i);
      const float* const truth = e.outputs.context.row(b, h, i);
      for (std::size_t t = 0; t < p.value_dim; ++t) difference[t] = approximate[t] - truth[t];
      sums.add(mass, norm(difference.data(), p.value_dim), norm(truth, p.value_dim),
               (2 * (1 - mass) + kRounding) * value_norm);
    }
  }
  out = summarise(sums, p.batch * p.heads * p.query_len, sampled, s.smallest_margin);
  return {};
}

}  // namespace heed
