// From figures to a recommendation.
#include <algorithm>
#include <numeric>

#include "attention/lsh_tuner_state.hpp"

namespace heed {
namespace {

/// Standard errors on each side of a mean that a 95 % confidence interval spans.
constexpr double kConfidence = 1.96;

/// The points that no other beats, cheapest first: sorted by cost, each captures more than all
/// before it.
std::vector<std::uint32_t> pareto_front(const std::vector<TunePoint>& points) {
  std::vector<std::uint32_t> order(points.size()), front;
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    if (points[a].cost != points[b].cost) return points[a].cost < points[b].cost;
    return points[a].quality.captured_mass > points[b].quality.captured_mass;
  });
  double most = -1;
  for (const std::uint32_t i : order) {
    if (points[i].quality.captured_mass <= most) continue;
    most = points[i].quality.captured_mass;
    front.push_back(i);
  }
  return front;
}

}  // namespace

double LshTuner::State::exact_multiply_adds() const {
  double pairs = 0;
  for (std::size_t i = 0; i < problem.query_len; ++i) {
    pairs += static_cast<double>(problem.visible(i).size());
  }
  return pairs * static_cast<double>(problem.batch * problem.heads) *
         static_cast<double>(problem.head_dim + problem.value_dim);
}

bool LshTuner::State::meets_target(const LshQuality& quality, double cost) const {
  switch (tune.goal) {
    case TuneGoal::kCapturedMass:
      return quality.captured_mass - kConfidence * quality.captured_mass_stderr >= tune.target;
    case TuneGoal::kRelativeError:
      return quality.relative_error + kConfidence * quality.relative_error_stderr <= tune.target;
    default:
      return cost <= tune.target;
  }
}

void LshTuner::State::decide() {
  const double exact_work = exact_multiply_adds();
  if (exact_work == 0) return;  // nobody sees anything: there is nothing to tune
  const bool sampled = tune.sample != 0 && tune.sample < problem.query_len;
  const std::size_t population = problem.batch * problem.heads * problem.query_len;
  for (std::size_t n = 0; n < sums.size(); ++n) {
    const std::size_t g = n / kTunedRounds.size();
    TunePoint point;
    point.lsh = grid[g];
    point.lsh.rounds = kTunedRounds[n % kTunedRounds.size()];
    point.cost = multiply_adds[n] / exact_work;
    point.quality = sums[n].summarise(population, sampled, margin[g]);
    point.meets_target = meets_target(point.quality, point.cost);
    points.push_back(point);
  }
  front = pareto_front(points);
  for (std::size_t n = 0; n < points.size(); ++n) {
    const TunePoint& point = points[n];
    if (!point.meets_target || point.cost >= 1) continue;
    if (!recommended) {
      recommended = n;
      continue;
    }
    const TunePoint& best = points[*recommended];
    const bool better = tune.goal == TuneGoal::kBudget
                            ? point.quality.captured_mass > best.quality.captured_mass
                            : point.cost < best.cost;
    if (better) recommended = n;
  }
}

}  // namespace heed
