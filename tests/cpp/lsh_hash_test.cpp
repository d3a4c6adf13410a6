// Hashing into buckets: the oracle's hash, seeds, factorised buckets, order, collision statistics.
#include "attention/lsh_hash.hpp"

#include <catch2/catch_test_macros.hpp>
#include <set>

#include "core/philox.hpp"
#include "support/lsh_case.hpp"

namespace heed::tests {
namespace {

/// The rotation that seed, round and factor stand for: the library's normal draws, which
/// philox_test.cpp holds against their own oracle.
std::vector<float> rotation(std::uint64_t seed, std::size_t round, std::size_t factor,
                            std::size_t dim, std::size_t width) {
  std::vector<float> r(dim * width);
  for (std::size_t n = 0; n < r.size(); ++n) r[n] = normal_draw(seed, 2 * round + factor, n);
  return r;
}

std::vector<std::uint32_t> hashes(const std::vector<float>& x, std::size_t dim, std::size_t buckets,
                                  std::uint64_t seed, std::size_t round) {
  std::vector<std::uint32_t> out(x.size() / dim);
  require_ok(lsh_hash(x, out.size(), dim, buckets, seed, round, out));
  return out;
}

TEST_CASE("lsh_hash is the argmax over both ends of every rotated axis") {
  const char* const isa = any_instruction_set();
  const InstructionSetScope scope(isa);
  reference::Random random(121);
  constexpr std::size_t kDim = 24, kRows = 300;
  const auto x = random.normals(kRows * kDim);
  for (const std::size_t buckets : {2, 4, 6, 34, 62, 64, 68, 72, 128, 256, 1024}) {
    for (const std::size_t round : {0, 5}) {
      const auto got = hashes(x, kDim, buckets, 17, round);
      const BucketFactors factors = factor_buckets(buckets);
      REQUIRE(factors.first * factors.second == buckets);
      std::size_t compared = 0;
      for (std::size_t r = 0; r < kRows; ++r) {
        const auto row = std::span(x).subspan(r * kDim, kDim);
        const auto first = reference::cross_polytope_hash(
            row, rotation(17, round, 0, kDim, factors.first / 2), factors.first / 2);
        std::uint32_t want = first.bucket;
        double margin = first.margin;
        if (factors.second > 1) {
          const auto second = reference::cross_polytope_hash(
              row, rotation(17, round, 1, kDim, factors.second / 2), factors.second / 2);
          want += static_cast<std::uint32_t>(factors.first) * second.bucket;
          margin = std::min(margin, second.margin);
        }
        REQUIRE(got[r] < buckets);
        if (margin < 1e-4) continue;  // far above the rounding of 24 products of order 1
        ++compared;
        CAPTURE(isa, buckets, round, r);
        REQUIRE(got[r] == want);
      }
      REQUIRE(compared > kRows * 9 / 10);
    }
  }
}

TEST_CASE("the same seed gives the same buckets on every instruction set, another seed others") {
  reference::Random random(122);
  const auto x = random.normals(500 * 40);
  std::set<std::vector<std::uint32_t>> results;
  for (const char* const isa : available_instruction_sets()) {
    const InstructionSetScope scope(isa);
    results.insert(hashes(x, 40, 96, 3, 1));
    results.insert(hashes(x, 40, 96, 3, 1));
  }
  CHECK(results.size() == 1);
  results.insert(hashes(x, 40, 96, 4, 1));
  results.insert(hashes(x, 40, 96, 3, 2));
  CHECK(results.size() == 3);
}

TEST_CASE(
    "a vector's length does not matter to its bucket and its opposite has the opposite bucket") {
  reference::Random random(123);
  const auto x = random.normals(200 * 16);
  auto longer = x, opposite = x;
  for (float& v : longer) v *= 64.0f;
  for (float& v : opposite) v = -v;
  const auto bucket = hashes(x, 16, 32, 1, 0), other = hashes(opposite, 16, 32, 1, 0);
  CHECK(hashes(longer, 16, 32, 1, 0) == bucket);
  for (std::size_t r = 0; r < 200; ++r) REQUIRE(other[r] == (bucket[r] + 16) % 32);
}

TEST_CASE("a zero vector goes to bucket 0") {
  CHECK(hashes(std::vector<float>(3 * 8, 0.0f), 8, 16, 1, 0) == std::vector<std::uint32_t>(3, 0u));
  CHECK(hashes(std::vector<float>(3 * 8, -0.0f), 8, 256, 1, 0) ==
        std::vector<std::uint32_t>(3, 0u));
}

TEST_CASE("sort_by_bucket is stable and returns where buckets start") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    reference::Random random(seed);
    const std::size_t size = random.size(0, 300), buckets = random.size(1, 40);
    std::vector<std::uint32_t> bucket(size), order(size), counts(buckets + 1);
    for (auto& b : bucket) b = static_cast<std::uint32_t>(random.size(0, buckets - 1));
    sort_by_bucket(bucket, buckets, counts, order);
    CAPTURE(seed);
    REQUIRE(order == reference::bucket_order(bucket));
    for (std::uint32_t b = 0; b <= buckets; ++b) {
      const auto before =
          std::count_if(bucket.begin(), bucket.end(), [b](auto x) { return x < b; });
      REQUIRE(counts[b] == static_cast<std::uint32_t>(before));
    }
  }
}

TEST_CASE("automatic bucket counts are valid for every wish and not far above it") {
  for (std::size_t wanted = 0; wanted <= 5000; ++wanted) {
    const std::size_t buckets = round_up_buckets(HashFamily::kCrossPolytope, wanted);
    CAPTURE(wanted, buckets);
    if (!check_buckets(HashFamily::kCrossPolytope, buckets).ok() || buckets < wanted)
      FAIL("not valid");
    // Two factors near the root, each rounded up to an even number.
    const double root = std::sqrt(static_cast<double>(wanted));
    if (static_cast<double>(buckets) > (root + 3) * (root + 3)) FAIL("too many");
  }
}

TEST_CASE("the probability of a collision at a given angle is the published one") {
  // 200000 trials a figure: one trial is one rotation of the plane that holds x and y.
  struct Row {
    std::size_t buckets;
    double figures[6];
  };
  constexpr double kCosines[6] = {0, .5, .8, .9, .95, .99};
  constexpr Row kTable[] = {{2, {.500, .667, .795, .856, .899, .955}},
                            {16, {.064, .233, .462, .601, .708, .863}},
                            {64, {.016, .130, .351, .504, .630, .822}}};
  constexpr std::size_t kTrials = 40000;
  constexpr double kPublishedTrials = 200000;
  std::vector<float> x = {1, 0};
  for (const double cosine : kCosines) {
    x.push_back(static_cast<float>(cosine));
    x.push_back(static_cast<float>(std::sqrt(1 - cosine * cosine)));
  }
  for (const auto& [buckets, figures] : kTable) {
    std::size_t collisions[6] = {};
    std::vector<std::uint32_t> bucket(7);
    for (std::size_t trial = 0; trial < kTrials; ++trial) {
      if (!lsh_hash(x, 7, 2, buckets, 2024, trial, bucket).ok()) FAIL("no hash");
      for (std::size_t n = 0; n < 6; ++n) collisions[n] += bucket[n + 1] == bucket[0];
    }
    for (std::size_t n = 0; n < 6; ++n) {
      const double p = figures[n], got = static_cast<double>(collisions[n]) / kTrials;
      const double deviation = std::sqrt(p * (1 - p) * (1.0 / kTrials + 1 / kPublishedTrials));
      CAPTURE(buckets, kCosines[n], p, got, deviation);
      CHECK(std::abs(got - p) < 4 * deviation + 0.0005);  // half a unit of the printed figure
      if (buckets == 2) {
        const double exact = 1 - std::acos(kCosines[n]) / 3.14159265358979;
        CHECK(std::abs(got - exact) < 4 * std::sqrt(p * (1 - p) / kTrials));
      }
    }
  }
}

TEST_CASE("a Hadamard rotation lets vectors collide as often as a Gaussian one") {
  constexpr std::size_t kDim = 64, kTrials = 3000, kVectors = 4;
  constexpr double kCosines[] = {.5, .8, .9, .95};
  reference::Random random(124);
  for (const std::size_t buckets : {16, 64, 256}) {
    double collisions[2][4] = {};
    for (std::size_t trial = 0; trial < kTrials; ++trial) {
      // x and a vector at each angle to it, in directions of their own.
      std::vector<float> x = random.normals(kDim);
      for (const double cosine : kCosines) {
        const auto other = random.normals(kDim);
        double size = 0, along = 0, rest = 0;
        for (std::size_t t = 0; t < kDim; ++t) size += static_cast<double>(x[t]) * x[t];
        for (std::size_t t = 0; t < kDim; ++t) along += static_cast<double>(x[t]) * other[t] / size;
        for (std::size_t t = 0; t < kDim; ++t) rest += std::pow(other[t] - along * x[t], 2);
        const double across = std::sqrt((1 - cosine * cosine) * size / rest);
        for (std::size_t t = 0; t < kDim; ++t) {
          x.push_back(static_cast<float>(cosine * x[t] + across * (other[t] - along * x[t])));
        }
      }
      for (const Rotation rotation : {Rotation::kGaussian, Rotation::kHadamard}) {
        std::vector<std::uint32_t> bucket(1 + kVectors);
        require_ok(lsh_hash(x, 1 + kVectors, kDim, buckets, 7, trial, bucket, rotation));
        for (std::size_t n = 0; n < kVectors; ++n) {
          collisions[static_cast<std::size_t>(rotation)][n] += bucket[n + 1] == bucket[0];
        }
      }
    }
    for (std::size_t n = 0; n < kVectors; ++n) {
      const double gaussian = collisions[0][n] / kTrials, hadamard = collisions[1][n] / kTrials;
      CAPTURE(buckets, kCosines[n], gaussian, hadamard);
      // Two estimates of one probability, and little for the finite rotation itself.
      CHECK(std::abs(hadamard - gaussian) <
            4 * std::sqrt(2 * gaussian * (1 - gaussian) / kTrials) + 0.01);
    }
  }
}

}  // namespace
}  // namespace heed::tests
