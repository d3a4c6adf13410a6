#include "attention/quality_sums.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <unordered_map>

#include "core/philox.hpp"

namespace heed {
namespace {

/// float32 results carry rounding that the bound on exact arithmetic does not know: a few units in
/// the last place of the largest value for each of the two outputs.
constexpr double kRounding = 0x1p-18;

}  // namespace

// The first steps of a Fisher-Yates shuffle whose swaps are kept in a map.
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

double largest_value_norm(const Problem& p, std::size_t b, std::size_t kv_head) {
  double largest = 0;
  for (std::size_t j = 0; j < p.key_len; ++j) {
    largest = std::max(largest, norm(std::span(p.inputs.value.row(b, kv_head, j), p.value_dim)));
  }
  return largest;
}

void QualitySums::add(double mass_, double error, double exact, double value_norm) {
  const double e = error * error, x = exact * exact;
  const double bound = (2 * (1 - mass_) + kRounding) * value_norm;
  ++queries;
  mass += mass_;
  mass_square += mass_ * mass_;
  mass_min = std::min(mass_min, mass_);
  kl += mass_ > 0 ? -std::log(mass_) : std::numeric_limits<double>::infinity();
  error_square += e;
  exact_square += x;
  bound_square += bound * bound;
  error_fourth += e * e;
  exact_fourth += x * x;
  error_exact += e * x;
}

LshQuality QualitySums::summarise(std::size_t population, bool sampled, double margin) const {
  LshQuality q;
  q.queries = queries;
  q.sampled = sampled;
  q.argmax_margin = margin;
  if (queries == 0) return q;
  const auto n = static_cast<double>(queries);
  q.captured_mass = mass / n;
  q.captured_mass_min = mass_min;
  q.kl = kl / n;
  if (exact_square > 0) {
    q.relative_error = std::sqrt(error_square / exact_square);
    q.error_bound = std::sqrt(bound_square / exact_square);
  }
  if (!sampled || queries < 2) return q;
  // Finite population: a sample of all has no error.
  const double left = std::max(0.0, 1 - n / static_cast<double>(population));
  const double variance = std::max(0.0, (mass_square - mass * mass / n) / (n - 1));
  q.captured_mass_stderr = std::sqrt(variance / n * left);
  if (q.relative_error > 0) {
    // The ratio estimator r^2 = sum e / sum x varies as the residuals e - r^2 x do (Cochran 1977,
    // section 6.3); the root halves the relative error.
    const double ratio = error_square / exact_square;
    const double residual = error_fourth - 2 * ratio * error_exact + ratio * ratio * exact_fourth;
    const double of_ratio = std::sqrt(std::max(0.0, residual) / (n - 1) * n * left) / exact_square;
    q.relative_error_stderr = of_ratio / (2 * q.relative_error);
  }
  return q;
}

}  // namespace heed
