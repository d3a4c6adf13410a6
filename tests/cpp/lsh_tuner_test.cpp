// Tuning of LSH attention: its figures are those of the attention it recommends, its costs are
// counted from the definition, and its verdicts are the known ones.
#include "heed/lsh_tuner.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cstring>
#include <set>

#include "support/lsh_case.hpp"

namespace heed::tests {
namespace {

LshTuner tuned(const AttentionCase& c, const LshOptions& fixed, const TuneOptions& tune,
               double work = 1e18) {
  LshTuner tuner;
  require_ok(tuner.prepare(c.inputs(), c.options, fixed, tune));
  double before = 0;
  while (!tuner.done()) {
    require_ok(tuner.advance(work));
    REQUIRE(tuner.progress() >= before);
    before = tuner.progress();
  }
  REQUIRE(tuner.progress() == 1);
  return tuner;
}

LshQuality measured(const AttentionCase& c, const LshOptions& lsh) {
  const LshRun run(c, lsh);
  ExactRun exact(run.attention);
  LshQuality quality;
  require_ok(run.attention.quality(exact.attention, 0, 0, quality));
  return quality;
}

/// Queries and keys around shared centres, `size` to each.
void cluster(AttentionCase& c, reference::Random& random, std::size_t size, double spread) {
  const Sizes& s = c.sizes;
  const std::size_t count = std::max<std::size_t>(1, s.key_len / size);
  const std::vector<float> centres = random.normals(count * s.head_dim, spread);
  for (auto* const x : {&c.query, &c.key}) {
    for (std::size_t i = 0; i < x->size() / s.head_dim; ++i) {
      const std::size_t centre = random.size(0, count - 1);
      for (std::size_t t = 0; t < s.head_dim; ++t) {
        float& value = (*x)[i * s.head_dim + t];
        value = centres[centre * s.head_dim + t] + 0.3f * value;
      }
    }
  }
}

TEST_CASE("the figures of a point are those of LSH attention with its parameters") {
  const char* const isa = any_instruction_set();
  const InstructionSetScope scope(isa);
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    reference::Random random(seed);
    LshOptions fixed{.seed = seed};
    fixed.shared_query_key = random.chance(0.3);
    fixed.true_buckets = random.chance(0.3);
    if (random.chance(0.3)) fixed.rotation = Rotation::kHadamard;
    const std::size_t length = random.size(20, 150);
    const std::size_t key_len = fixed.shared_query_key ? length : random.size(20, 150);
    AttentionCase c(
        {random.size(1, 2), 2, fixed.shared_query_key ? std::size_t{2} : 1, length, key_len, 12, 6},
        random, seed % 4 == 0 ? 6 : 1);
    c.options.causal = random.chance(0.5);
    if (random.chance(0.3)) c.hide_keys(random, 0.2);
    if (random.chance(0.3)) c.hide_pairs(random, 0.2, true, random.chance(0.5), true);
    if (random.chance(0.3)) c.add_bias(random, 0.1, false, random.chance(0.5), true);
    if (random.chance(0.3)) c.options.window_left = 30;
    INFO(isa << " seed " << seed << " " << describe(c.sizes) << " " << describe(fixed));
    const LshTuner tuner = tuned(c, fixed, {.sample = 0});
    const auto points = tuner.points();
    REQUIRE(!points.empty());
    for (std::size_t n = 0; n < points.size(); n += 5) {
      const TunePoint& point = points[n];
      INFO(describe(point.lsh));
      CHECK(point.lsh.seed == seed);
      CHECK(point.lsh.shared_query_key == fixed.shared_query_key);
      const LshQuality want = measured(c, point.lsh);
      // LSH attention computes in float32, from logits of up to some hundred here.
      constexpr double kTolerance = 1e-4;
      REQUIRE(point.quality.queries == want.queries);
      CHECK(std::abs(point.quality.captured_mass - want.captured_mass) < kTolerance);
      CHECK(std::abs(point.quality.captured_mass_min - want.captured_mass_min) < kTolerance);
      CHECK(std::abs(point.quality.relative_error - want.relative_error) <
            kTolerance * (1 + want.relative_error));
      CHECK(std::abs(point.quality.error_bound - want.error_bound) <
            2 * kTolerance * (1 + want.error_bound));
      CHECK(point.quality.captured_mass_stderr == 0);
    }
  }
}

TEST_CASE("the cost of a point counts the hashes and the pairs of every chunk") {
  reference::Random random(3);
  const std::size_t length = 512, dim = 8;
  AttentionCase c({1, 2, 1, length, length, dim, 4}, random);
  for (const bool causal : {false, true}) {
    c.options.causal = causal;
    const LshTuner tuner = tuned(c, {}, {.sample = 2});
    const double pairs = causal ? length * (length + 1) / 2.0 : length * length;
    for (const TunePoint& point : tuner.points()) {
      INFO(describe(point.lsh));
      const auto [buckets, chunk] = std::pair{point.lsh.buckets, point.lsh.chunk};
      // Every chunk but the first sees two.
      const double attended = static_cast<double>(2 * length * chunk - chunk * chunk);
      // Above 64 buckets two rotations decide, whose widths multiply up to a quarter of them.
      double width = static_cast<double>(buckets) / 2;
      if (point.lsh.family == HashFamily::kSimHash) {
        width = std::log2(buckets);
      } else if (point.lsh.family == HashFamily::kE2Lsh) {
        width = 2 + 1.0 / dim;  // a norm, a projection and the lift
      } else if (buckets > 64) {
        std::size_t first = 2;
        for (std::size_t f = 2; f * f <= buckets; f += 2) {
          if (buckets % f == 0 && (buckets / f) % 2 == 0) first = f;
        }
        width = static_cast<double>(first + buckets / first) / 2;
      }
      // Two heads share the hashes of their keys.
      const double hashed = length * dim * width * 1.5;
      const double want =
          static_cast<double>(point.lsh.rounds) * (hashed + attended * (dim + 4)) / (pairs * 12);
      CHECK(std::abs(point.cost - want) < 1e-12 * want);
    }
  }
}

TEST_CASE("no point beats one of the front, and every other is beaten") {
  reference::Random random(4);
  AttentionCase c({1, 1, 1, 600, 600, 16, 4}, random);
  cluster(c, random, 20, 1.5);
  const LshTuner tuner = tuned(c, {}, {});
  const auto points = tuner.points();
  const auto beats = [&](const TunePoint& a, const TunePoint& b) {
    return a.cost <= b.cost && a.quality.captured_mass >= b.quality.captured_mass &&
           (a.cost < b.cost || a.quality.captured_mass > b.quality.captured_mass);
  };
  std::vector<bool> on_front(points.size());
  double cost = -1;
  for (const std::uint32_t i : tuner.front()) {
    on_front[i] = true;
    CHECK(points[i].cost > cost);
    cost = points[i].cost;
    for (const TunePoint& other : points) CHECK_FALSE(beats(other, points[i]));
  }
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (on_front[i]) continue;
    bool beaten = false;
    for (const std::uint32_t f : tuner.front()) {
      const bool equal = points[f].cost == points[i].cost &&
                         points[f].quality.captured_mass == points[i].quality.captured_mass;
      beaten = beaten || equal || beats(points[f], points[i]);
    }
    CHECK(beaten);
  }
}

TEST_CASE("on clustered data the cheapest setting that meets the target is recommended") {
  reference::Random random(5);
  AttentionCase c({1, 2, 2, 2048, 2048, 32, 8}, random);
  cluster(c, random, 32, 1.5);
  for (const TuneOptions& tune :
       {TuneOptions{TuneGoal::kCapturedMass, 0.9}, TuneOptions{TuneGoal::kRelativeError, 0.2}}) {
    const LshTuner tuner = tuned(c, {}, tune);
    REQUIRE(tuner.verdict() == TuneVerdict::kLsh);
    const auto points = tuner.points();
    const TunePoint& best = points[*tuner.recommended()];
    CHECK(best.meets_target);
    CHECK(best.cost < 1);
    for (const TunePoint& point : points) {
      if (point.meets_target) CHECK(point.cost >= best.cost);
    }
    // The sample's promise holds for all queries, up to its own confidence.
    const LshQuality all = measured(c, best.lsh);
    if (tune.goal == TuneGoal::kCapturedMass) {
      CHECK(all.captured_mass > 0.9 - 0.02);
    } else {
      CHECK(all.relative_error < 0.2 + 0.03);
    }
  }
}

TEST_CASE("on unrelated Gaussian queries and keys exact attention is the better choice") {
  reference::Random random(6);
  const AttentionCase c({1, 1, 1, 2048, 2048, 64, 8}, random);
  const LshTuner tuner = tuned(c, {}, {.goal = TuneGoal::kCapturedMass, .target = 0.95});
  CHECK(tuner.verdict() == TuneVerdict::kExact);
  CHECK(!tuner.recommended());
  // The honest figure: what is captured is hardly more than what is paid for.
  for (const std::uint32_t i : tuner.front()) {
    const TunePoint& point = tuner.points()[i];
    if (point.cost < 1) CHECK(point.quality.captured_mass < 0.95);
  }
}

TEST_CASE("a family that is asked for is the only one tried, and otherwise all that suit") {
  reference::Random random(10);
  const AttentionCase c({1, 1, 1, 200, 200, 8, 4}, random);
  const auto families = [&](const LshOptions& fixed, std::optional<HashFamily> family) {
    std::set<HashFamily> tried;
    const LshTuner tuner = tuned(c, fixed, {.sample = 4, .family = family});
    for (const TunePoint& point : tuner.points()) tried.insert(point.lsh.family);
    return tried;
  };
  using enum HashFamily;
  CHECK(families({}, {}) == std::set{kCrossPolytope, kSimHash, kE2Lsh});
  CHECK(families({.true_buckets = true}, {}) == std::set{kCrossPolytope, kSimHash});
  CHECK(families({.rotation = Rotation::kHadamard}, kSimHash) == std::set{kSimHash});
  for (const HashFamily family : {kCrossPolytope, kSimHash, kE2Lsh}) {
    CHECK(families({}, family) == std::set{family});
  }
  LshTuner refused;
  CHECK(refused.prepare(c.inputs(), c.options, {.true_buckets = true}, {.family = kE2Lsh}).field ==
        "true_buckets");
}

TEST_CASE("a budget buys the greatest captured mass within it, or nothing") {
  reference::Random random(7);
  AttentionCase c({1, 1, 1, 1024, 1024, 16, 8}, random);
  cluster(c, random, 32, 1.5);
  const LshTuner tuner = tuned(c, {}, {.goal = TuneGoal::kBudget, .target = 0.4});
  REQUIRE(tuner.verdict() == TuneVerdict::kLsh);
  const TunePoint& best = tuner.points()[*tuner.recommended()];
  CHECK(best.cost <= 0.4);
  for (const TunePoint& point : tuner.points()) {
    CHECK(point.meets_target == (point.cost <= 0.4));
    if (point.meets_target) {
      CHECK(point.quality.captured_mass <= best.quality.captured_mass);
    }
  }
  CHECK(tuned(c, {}, {.goal = TuneGoal::kBudget, .target = 1e-6}).verdict() == TuneVerdict::kNone);
}

TEST_CASE("a relative error of a sample lies within its standard error of that of all") {
  double deviations = 0;
  std::size_t count = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    reference::Random random(seed);
    AttentionCase c({1, 1, 1, 400, 400, 12, 6}, random);
    cluster(c, random, 16, 1.2);
    const LshTuner all = tuned(c, {.seed = seed}, {.sample = 0});
    const LshTuner some = tuned(c, {.seed = seed}, {.sample = 80, .seed = seed});
    const LshQuality &want = all.points()[2].quality, &got = some.points()[2].quality;
    CHECK(got.queries == 80);
    REQUIRE(got.relative_error_stderr > 0);
    deviations +=
        std::pow((got.relative_error - want.relative_error) / got.relative_error_stderr, 2);
    ++count;
  }
  // A mean of squared standard deviates: 1, with a spread of sqrt(2 / 40) for normal ones.
  const double mean = deviations / static_cast<double>(count);
  CHECK(mean > 0.3);
  CHECK(mean < 2.5);
}

TEST_CASE("tuning in slices of any size gives the same points") {
  reference::Random random(8);
  AttentionCase c({2, 2, 1, 90, 120, 8, 4}, random);
  const LshTuner whole = tuned(c, {}, {.sample = 16}), sliced = tuned(c, {}, {.sample = 16}, 1);
  REQUIRE(whole.points().size() == sliced.points().size());
  for (std::size_t n = 0; n < whole.points().size(); ++n) {
    CHECK(whole.points()[n].cost == sliced.points()[n].cost);
    CHECK(whole.points()[n].quality.captured_mass == sliced.points()[n].quality.captured_mass);
    CHECK(whole.points()[n].quality.relative_error == sliced.points()[n].quality.relative_error);
  }
}

TEST_CASE("tuning refuses what does not fit, by name, and stays as it was") {
  reference::Random random(9);
  AttentionCase c({1, 1, 1, 40, 40, 8, 4}, random);
  LshTuner tuner = tuned(c, {}, {});
  const std::size_t count = tuner.points().size();
  for (const double target : {0.0, -1.0, 1.5, static_cast<double>(NAN)}) {
    const Status s = tuner.prepare(c.inputs(), c.options, {}, {TuneGoal::kCapturedMass, target});
    CHECK(s.code == ErrorCode::kInvalidValue);
    CHECK(s.field == "target");
  }
  AttentionInputs inputs = c.inputs();
  inputs.key.columns = 7;
  CHECK(tuner.prepare(inputs, c.options, {}, {}).field == "key.columns");
  c.query[5] = NAN;
  CHECK(tuner.prepare(c.inputs(), c.options, {}, {}).field == "query");
  CHECK(tuner.points().size() == count);
  LshTuner unprepared;
  CHECK(unprepared.advance(1).field == "tuner");
}

TEST_CASE("nothing to attend to leaves nothing to tune") {
  reference::Random random(10);
  for (const Sizes& sizes :
       {Sizes{1, 1, 1, 0, 8, 4, 4}, Sizes{1, 1, 1, 8, 0, 4, 4}, Sizes{0, 2, 2, 8, 8, 4, 4}}) {
    const AttentionCase c(sizes, random);
    const LshTuner tuner = tuned(c, {}, {});
    CHECK(tuner.points().empty());
    CHECK(tuner.verdict() == TuneVerdict::kExact);
  }
  const AttentionCase one({1, 1, 1, 1, 1, 4, 4}, random);
  const LshTuner tuner = tuned(one, {}, {});
  CHECK(tuner.verdict() == TuneVerdict::kExact);  // one pair costs less than any hash
  for (const TunePoint& point : tuner.points()) CHECK(point.quality.captured_mass == 1);
}

}  // namespace
}  // namespace heed::tests
