// Quality figures of LSH attention against the oracle, and the published figures of its quality.
#include <catch2/catch_test_macros.hpp>

#include "support/lsh_case.hpp"

namespace heed::tests {
namespace {

/// The figures from their definitions, over the oracle's weights.
LshQuality oracle_quality(const LshRun& run) {
  const auto exact = run.exact(), lsh = run.expected();
  LshQuality q;
  double error = 0, size = 0, bound = 0;
  q.captured_mass_min = 1;
  const AttentionInputs inputs = run.attention.exact_inputs();
  for (std::size_t row = 0; row < exact.logsumexp.size(); ++row) {
    if (exact.logsumexp[row] == -INFINITY) continue;
    const std::size_t head = row / exact.query_len, h = head % exact.heads, b = head / exact.heads;
    double mass = 0, largest = 0;
    for (std::size_t j = 0; j < exact.key_len; ++j) {
      const std::size_t at = row * exact.key_len + j;
      if (lsh.logits[at] != -INFINITY) mass += exact.weights[at];
      double square = 0;
      for (std::size_t t = 0; t < exact.value_dim; ++t) {
        const double v = inputs.value.row(b, h / (exact.heads / inputs.value.heads), j)[t];
        square += v * v;
      }
      largest = std::max(largest, std::sqrt(square));
    }
    for (std::size_t t = 0; t < exact.value_dim; ++t) {
      const std::size_t at = row * exact.value_dim + t;
      error += std::pow(lsh.context[at] - exact.context[at], 2);
      size += std::pow(exact.context[at], 2);
    }
    bound += std::pow(2 * (1 - mass) * largest, 2);
    q.captured_mass += mass;
    q.captured_mass_min = std::min(q.captured_mass_min, mass);
    q.kl += -std::log(mass);
    ++q.queries;
  }
  q.captured_mass /= static_cast<double>(q.queries);
  q.kl /= static_cast<double>(q.queries);
  q.relative_error = std::sqrt(error / size);
  q.error_bound = std::sqrt(bound / size);
  return q;
}

TEST_CASE("quality figures are the oracle's and the bound is never below the error") {
  const char* const isa = any_instruction_set();
  const InstructionSetScope scope(isa);
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    reference::Random random(seed);
    const bool shared = random.chance(0.5);
    const std::size_t length = random.size(20, 150);
    // Every fifth problem is computed in double; every third has logits in the thousands.
    const double spread = seed % 5 == 0 ? 1e15 : seed % 3 == 0 ? 40 : 1;
    AttentionCase c({1, 2, shared ? std::size_t{2} : std::size_t{1}, length, length, 12, 6}, random,
                    spread);
    if (seed % 5 == 0) {
      for (float& v : c.value) v *= 1e36f;
    }
    c.options.causal = random.chance(0.5);
    if (random.chance(0.3)) c.hide_keys(random, 0.3);
    const LshRun run(c, {.rounds = random.size(1, 4),
                         .buckets = 8,
                         .chunk = random.size(4, 30),
                         .seed = seed,
                         .shared_query_key = shared,
                         .true_buckets = random.chance(0.3)});
    ExactRun exact(run.attention);
    LshQuality got;
    require_ok(run.attention.quality(exact.attention, 0, 0, got));
    const LshQuality want = oracle_quality(run);
    CAPTURE(isa, seed, shared, length, spread);
    CHECK(got.queries == want.queries);
    CHECK_FALSE(got.sampled);
    CHECK(got.captured_mass_stderr == 0);
    double tolerance = 0;
    const auto reference = run.exact();
    for (std::size_t row = 0; row < c.rows() && seed % 5 != 0; ++row) {
      const auto t = reference::tolerance(reference, row, 12);
      tolerance = std::max(tolerance, std::min(1.0, std::expm1(4 * t.logit) + t.weight));
    }
    tolerance = std::max(tolerance, 1e-5);
    CHECK(std::abs(got.captured_mass - want.captured_mass) < tolerance);
    CHECK(std::abs(got.captured_mass_min - want.captured_mass_min) < tolerance);
    CHECK(std::abs(got.relative_error - want.relative_error) < 4 * tolerance + 1e-4);
    CHECK(std::abs(got.error_bound - want.error_bound) < 4 * tolerance * want.error_bound + 1e-3);
    CHECK(got.error_bound >= got.relative_error);
    CHECK(got.argmax_margin >= 0);
    if (std::isinf(want.kl)) {
      CHECK(got.kl > 1);
    } else if (spread == 1) {
      CHECK(std::abs(got.kl - want.kl) < 1e-3 * (1 + want.kl));
    }
  }
}

TEST_CASE("a complete set of candidates has mass 1, no error and no divergence") {
  for (const double spread : {1.0, 1e3, 1e20}) {
    reference::Random random(181);
    AttentionCase c({1, 2, 2, 50, 50, 8, 4}, random, spread);
    c.options.causal = true;
    const LshRun run(c, {.rounds = 1, .buckets = 4, .chunk = 50, .shared_query_key = true});
    ExactRun exact(run.attention);
    LshQuality q;
    require_ok(run.attention.quality(exact.attention, 0, 0, q));
    CAPTURE(spread);
    CHECK(q.queries == 100);
    CHECK(std::abs(q.captured_mass - 1) < 2e-3);
    CHECK(q.captured_mass_min > 0.997);
    CHECK(q.relative_error < 1e-5);
    CHECK(q.kl < 3e-3);
  }
}

TEST_CASE("a sample of queries estimates the figures within its standard error") {
  reference::Random random(182);
  AttentionCase c({1, 1, 1, 400, 400, 12, 6}, random);
  const LshRun run(c, {.rounds = 2, .buckets = 16, .chunk = 40});
  ExactRun exact(run.attention);
  LshQuality all, some;
  require_ok(run.attention.quality(exact.attention, 0, 0, all));
  double deviations = 0;
  constexpr int kDraws = 200;
  for (std::uint64_t seed = 0; seed < kDraws; ++seed) {
    require_ok(run.attention.quality(exact.attention, 40, seed, some));
    REQUIRE(some.queries == 40);
    REQUIRE(some.sampled);
    REQUIRE(some.captured_mass_stderr > 0);
    deviations += std::pow((some.captured_mass - all.captured_mass) / some.captured_mass_stderr, 2);
  }
  // Squared t-like deviations average near 1 with a deviation of sqrt(2 / draws) = 0.1.
  CHECK(deviations / kDraws > 0.6);
  CHECK(deviations / kDraws < 1.5);
  LshQuality same;
  require_ok(run.attention.quality(exact.attention, 40, kDraws - 1, same));
  CHECK(same.captured_mass == some.captured_mass);
  require_ok(run.attention.quality(exact.attention, 400, 1, same));
  CHECK_FALSE(same.sampled);
}

TEST_CASE("queries that see nothing are left out of the figures") {
  reference::Random random(183);
  AttentionCase c({1, 1, 1, 30, 30, 8, 4}, random);
  c.options.causal = true;
  c.options.causal_offset = -10;
  const LshRun run(c, {.rounds = 2, .buckets = 4, .chunk = 8});
  ExactRun exact(run.attention);
  LshQuality q;
  require_ok(run.attention.quality(exact.attention, 0, 0, q));
  CHECK(q.queries == 20);
  c.hide_keys(random, 1);
  const LshRun blind(c, {.rounds = 2, .buckets = 4, .chunk = 8});
  ExactRun blind_exact(blind.attention);
  require_ok(blind.attention.quality(blind_exact.attention, 0, 0, q));
  CHECK(q.queries == 0);
  CHECK(q.relative_error == 0);
}

TEST_CASE("more rounds find more, and many rounds approach exact attention") {
  reference::Random random(184);
  AttentionCase c({1, 1, 1, 256, 256, 16, 8}, random);
  double last = 0;
  for (const std::size_t rounds : {1, 2, 4, 8, 64}) {
    const LshRun run(c, {.rounds = rounds, .buckets = 16, .chunk = 32});
    ExactRun exact(run.attention);
    LshQuality q;
    require_ok(run.attention.quality(exact.attention, 0, 0, q));
    CAPTURE(rounds);
    CHECK(q.captured_mass > last);
    last = q.captured_mass;
    if (rounds == 64) CHECK(q.relative_error < 0.02);
  }
  CHECK(last > 0.999);
}

TEST_CASE("on unrelated Gaussian queries and keys LSH attention captures little, as published") {
  // L 1024, b 32, m 64, R 8: mass .689, relative error .649. Assumed: width 64, scale 1 / 8,
  // queries, keys and values independent standard normal, no mask.
  constexpr int kSeeds = 3;
  double mass = 0, error = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    reference::Random random(seed);
    AttentionCase c({1, 1, 1, 1024, 1024, 64, 64}, random);
    const LshRun run(c, {.rounds = 8, .buckets = 32, .chunk = 64, .seed = seed});
    ExactRun exact(run.attention);
    LshQuality q;
    require_ok(run.attention.quality(exact.attention, 0, 0, q));
    mass += q.captured_mass / kSeeds;
    error += q.relative_error / kSeeds;
  }
  CAPTURE(mass, error);
  CHECK(std::abs(mass - .689) < .02);
  CHECK(std::abs(error - .649) < .03);
}

TEST_CASE(
    "on clustered data captured mass and error are the published ones for each number of rounds") {
  // The published generator is not known. Assumed: 32 clusters with standard normal centres of
  // width 64, every query and key at a cluster drawn at random plus normal noise of 0.3 an axis,
  // values standard normal, scale 1 / 8, no mask.
  struct Published {
    std::size_t rounds;
    double mass, mass_deviation, error, error_deviation;
  };
  // The deviations are between seeds of this generator, over six of them; they are an order above
  // what sampling of 1024 queries explains, because one rotation serves all of them.
  constexpr Published kFigures[] = {{1, .451, .041, 1.76, .123},
                                    {2, .725, .047, .87, .135},
                                    {4, .918, .025, .337, .066},
                                    {8, .981, .006, .095, .018}};
  constexpr int kSeeds = 3;
  for (const auto& [rounds, mass, mass_deviation, error, error_deviation] : kFigures) {
    double got_mass = 0, got_error = 0;
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      reference::Random random(seed);
      AttentionCase c({1, 1, 1, 1024, 1024, 64, 64}, random);
      const auto centres = random.normals(32 * 64);
      for (auto* x : {&c.query, &c.key}) {
        for (std::size_t i = 0; i < 1024; ++i) {
          const std::size_t cluster = random.size(0, 31);
          for (std::size_t t = 0; t < 64; ++t) {
            (*x)[i * 64 + t] =
                centres[cluster * 64 + t] + static_cast<float>(0.3 * random.normal());
          }
        }
      }
      const LshRun run(c, {.rounds = rounds, .buckets = 32, .chunk = 64, .seed = seed});
      ExactRun exact(run.attention);
      LshQuality q;
      require_ok(run.attention.quality(exact.attention, 0, 0, q));
      got_mass += q.captured_mass / kSeeds;
      got_error += q.relative_error / kSeeds;
    }
    // The difference of one published draw and a mean of kSeeds.
    const double factor = 3 * std::sqrt(1 + 1.0 / kSeeds);
    CAPTURE(rounds, got_mass, mass, got_error, error);
    CHECK(std::abs(got_mass - mass) < factor * mass_deviation);
    CHECK(std::abs(got_error - error) < factor * error_deviation);
  }
}

}  // namespace
}  // namespace heed::tests
