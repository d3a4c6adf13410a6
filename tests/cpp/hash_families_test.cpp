// SimHash and E2LSH against their definitions: buckets, margins, collision statistics, masks.
#include "reference/hash_families.hpp"

#include <catch2/catch_test_macros.hpp>
#include <set>

#include "attention/hash_families/sim_hash.hpp"
#include "core/philox.hpp"
#include "support/lsh_case.hpp"

namespace heed::tests {
namespace {

constexpr HashFamily kNewFamilies[] = {HashFamily::kSimHash, HashFamily::kE2Lsh};

/// The numbers that seed and round stand for, which philox_test.cpp holds against their own oracle.
std::vector<float> draws(std::uint64_t seed, std::size_t round, std::size_t count) {
  std::vector<float> out(count);
  for (std::size_t n = 0; n < count; ++n) out[n] = normal_draw(seed, 2 * round, n);
  return out;
}

std::span<const float> row(const std::vector<float>& x, std::size_t i, std::size_t dim) {
  return std::span(x).subspan(i * dim, dim);
}

TEST_CASE("SimHash buckets are the Gray places of the sides of the hyperplanes") {
  const char* const isa = any_instruction_set();
  const InstructionSetScope scope(isa);
  reference::Random random(201);
  constexpr std::size_t kRows = 130;
  for (const std::size_t dim : {1, 3, 24, 64}) {
    const auto x = random.normals(kRows * dim);
    for (const std::size_t bits : {1, 2, 5, 8, 9, 12}) {
      for (const std::size_t round : {0, 5}) {
        std::vector<std::uint32_t> got(kRows);
        require_ok(lsh_hash(x, kRows, dim, std::size_t{1} << bits, 17, round, got,
                            Rotation::kGaussian, HashFamily::kSimHash));
        const auto normals = draws(17, round, dim * bits);
        std::size_t compared = 0;
        for (std::size_t i = 0; i < kRows; ++i) {
          const auto want = reference::sim_hash(row(x, i, dim), normals, bits);
          if (want.margin < 1e-5) continue;  // far above the rounding of 64 products below 4
          ++compared;
          CAPTURE(isa, dim, bits, round, i);
          REQUIRE(got[i] == want.bucket);
        }
        REQUIRE(compared > kRows * 9 / 10);
      }
    }
  }
}

TEST_CASE("neighbours in the order of SimHash buckets differ in one side") {
  constexpr std::size_t kBits = 12;
  std::vector<std::uint32_t> word(std::size_t{1} << kBits, 0xffffffffu);
  for (std::uint32_t w = 0; w < word.size(); ++w) {
    REQUIRE(gray_rank(w) < word.size());
    word[gray_rank(w)] = w;
  }
  for (std::size_t rank = 1; rank < word.size(); ++rank) {
    REQUIRE(std::popcount(word[rank] ^ word[rank - 1]) == 1);
  }
  for (const std::uint32_t w : {0u, 1u, 5u, 77u, 4095u}) {
    CHECK(gray_rank(w) == reference::gray_place(w, kBits));
  }
  // All 32 bits: the word after the last of the first half differs in the top bit alone.
  CHECK(gray_rank(0x80000000u) == 0xffffffffu);
  CHECK(gray_rank(0xc0000000u) == 0x80000000u);
}

TEST_CASE("vectors collide under SimHash with probability (1 - theta / pi)^k") {
  constexpr double kAngles[] = {0.1, 0.5, 1.0, 1.5707963267948966, 2.5};
  constexpr std::size_t kTrials = 40000, kVectors = 6;
  std::vector<float> x = {1, 0};
  for (const double angle : kAngles) {
    x.push_back(static_cast<float>(std::cos(angle)));
    x.push_back(static_cast<float>(std::sin(angle)));
  }
  for (const std::size_t bits : {1, 3, 6}) {
    std::size_t collisions[kVectors] = {};
    std::vector<std::uint32_t> bucket(kVectors);
    for (std::size_t trial = 0; trial < kTrials; ++trial) {
      require_ok(lsh_hash(x, kVectors, 2, std::size_t{1} << bits, 2024, trial, bucket,
                          Rotation::kGaussian, HashFamily::kSimHash));
      for (std::size_t n = 1; n < kVectors; ++n) collisions[n] += bucket[n] == bucket[0];
    }
    for (std::size_t n = 1; n < kVectors; ++n) {
      const double p = std::pow(1 - kAngles[n - 1] / 3.141592653589793, bits);
      const double got = static_cast<double>(collisions[n]) / kTrials;
      CAPTURE(bits, kAngles[n - 1], p, got);
      CHECK(std::abs(got - p) < 4 * std::sqrt(p * (1 - p) / kTrials));
    }
  }
}

TEST_CASE("the distance of lifted queries and keys falls as their product grows") {
  reference::Random random(202);
  constexpr std::size_t kDim = 7, kKeys = 50;
  const auto q = random.normals(kDim, 3), k = random.normals(kKeys * kDim, 2);
  double most = 0;
  for (std::size_t j = 0; j < kKeys; ++j) {
    most = std::max(most, reference::square_norm(row(k, j, kDim)));
  }
  const double sum = reference::square_norm(q) + most;
  const auto f = reference::lift_query(q, sum);
  for (std::size_t j = 0; j < kKeys; ++j) {
    const auto g = reference::lift_key(row(k, j, kDim), sum);
    double square = 0, product = 0;
    for (std::size_t t = 0; t < f.size(); ++t) square += (f[t] - g[t]) * (f[t] - g[t]);
    for (std::size_t t = 0; t < kDim; ++t) product += static_cast<double>(q[t]) * k[j * kDim + t];
    REQUIRE(std::abs(square - 2 * (sum - product)) < 1e-9 * sum);
  }
}

/// Oracle's clusters of one head of a case, hidden keys left out.
struct Clustered {
  std::vector<reference::Hash> queries, keys;
};
Clustered oracle_clusters(const AttentionCase& c, const LshAttention& attention, std::size_t h,
                          const std::vector<float>& direction) {
  const Sizes& s = c.sizes;
  const std::size_t group = s.heads / s.kv_heads, kv_head = h / group;
  const auto inputs = c.inputs();
  const auto query = [&](std::size_t n, std::size_t i) {
    return std::span(inputs.query.row(0, n, i), s.head_dim);
  };
  const auto key = [&](std::size_t j) {
    return std::span(inputs.key.row(0, kv_head, j), s.head_dim);
  };
  const auto hidden = [&](std::size_t j) {
    return !c.key_mask_data.empty() && c.key_mask_data[j] == 0;
  };
  double most_query = 0, most_key = 0;
  for (std::size_t n = kv_head * group; n < (kv_head + 1) * group; ++n) {
    for (std::size_t i = 0; i < s.query_len; ++i) {
      most_query = std::max(most_query, reference::square_norm(query(n, i)));
    }
  }
  for (std::size_t j = 0; j < s.key_len; ++j) {
    if (!hidden(j)) most_key = std::max(most_key, reference::square_norm(key(j)));
  }
  const std::vector<double> a(direction.begin(), direction.end());
  std::vector<double> query_values, key_values;
  for (std::size_t i = 0; i < s.query_len; ++i) {
    query_values.push_back(
        reference::dot(reference::lift_query(query(h, i), most_query + most_key), a));
  }
  for (std::size_t j = 0; j < s.key_len; ++j) {
    if (hidden(j)) continue;
    key_values.push_back(reference::dot(reference::lift_key(key(j), most_query + most_key), a));
  }
  return {reference::clusters(query_values, attention.chunk()),
          reference::clusters(key_values, attention.key_chunk(0))};
}

TEST_CASE("E2LSH buckets are the equal clusters of the lifted vectors' projections") {
  const char* const isa = any_instruction_set();
  const InstructionSetScope scope(isa);
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    reference::Random random(seed);
    AttentionCase c({1, 4, 2, random.size(1, 150), random.size(1, 150), random.size(1, 40), 2},
                    random, seed % 3 == 0 ? 5 : 1);
    if (seed % 2 == 0) c.hide_keys(random, 0.3);
    const LshRun run(
        c, {.rounds = 2, .chunk = random.size(1, 40), .seed = seed, .family = HashFamily::kE2Lsh});
    const LshAttention& a = run.attention;
    std::size_t compared = 0, total = 0;
    double smallest = INFINITY;
    for (std::size_t h = 0; h < 4; ++h) {
      for (std::size_t r = 0; r < 2; ++r) {
        const auto want = oracle_clusters(c, a, h, draws(seed, r, c.sizes.head_dim + 2));
        const auto compare = [&](const reference::Hash& one, std::uint32_t bucket) {
          ++total;
          smallest = std::min(smallest, one.margin);
          if (one.margin < 1e-3) return;
          ++compared;
          CAPTURE(isa, seed, h, r);
          REQUIRE(bucket == one.bucket);
        };
        const auto q = a.query_buckets(0, h, r), k = a.key_buckets(0, h, r);
        for (std::size_t i = 0; i < q.size(); ++i) compare(want.queries[i], q[i]);
        std::size_t visible = 0;
        for (std::size_t j = 0; j < k.size(); ++j) {
          if (c.key_mask_data.empty() || c.key_mask_data[j] != 0) {
            compare(want.keys[visible++], k[j]);
          } else {
            REQUIRE(k[j] == a.buckets());
          }
        }
      }
    }
    REQUIRE(compared * 10 >= total * 9);
    ExactRun exact(a);
    LshQuality quality;
    require_ok(a.quality(exact.attention, 0, 0, quality));
    if (std::isinf(smallest)) {
      REQUIRE(std::isinf(quality.argmax_margin));
    } else {
      REQUIRE(std::abs(quality.argmax_margin - smallest) < 1e-4);
    }
  }
}

TEST_CASE("E2LSH clusters have one size, the last one aside") {
  reference::Random random(203);
  for (const std::size_t chunk : {1, 7, 64}) {
    AttentionCase c({1, 1, 1, 200, 130, 8, 2}, random);
    // Equal vectors are told apart by position.
    for (std::size_t n = 8; n < 60 * 8; ++n) c.key[n] = c.key[n % 8];
    const LshRun run(c, {.rounds = 3, .chunk = chunk, .family = HashFamily::kE2Lsh});
    REQUIRE(run.attention.buckets() == (200 + chunk - 1) / chunk);
    for (std::size_t r = 0; r < 3; ++r) {
      const auto even = [](std::span<const std::uint32_t> bucket, std::size_t size) {
        std::vector<std::size_t> count(bucket.size() / size + 1);
        for (const auto b : bucket) ++count.at(b);
        for (std::size_t n = 0; n < bucket.size() / size; ++n) REQUIRE(count[n] == size);
      };
      even(run.attention.query_buckets(0, 0, r), chunk);
      even(run.attention.key_buckets(0, 0, r), run.attention.key_chunk(0));
    }
  }
}

TEST_CASE("a query and a key share an E2LSH cluster as often as in a simulation") {
  constexpr std::size_t kRows = 12, kDim = 3, kChunk = 4, kSeeds = 20, kRounds = 1000;
  constexpr std::size_t kTrials = kSeeds * kRounds, kSimulated = 200000;
  reference::Random random(204);
  AttentionCase c({1, 1, 1, kRows, kRows, kDim, 1}, random);
  std::vector<std::size_t> got(kRows * kRows), want(kRows * kRows);
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const LshRun run(
        c, {.rounds = kRounds, .chunk = kChunk, .seed = seed, .family = HashFamily::kE2Lsh});
    for (std::size_t r = 0; r < kRounds; ++r) {
      const auto q = run.attention.query_buckets(0, 0, r), k = run.attention.key_buckets(0, 0, r);
      for (std::size_t n = 0; n < got.size(); ++n) got[n] += q[n / kRows] == k[n % kRows];
    }
  }
  double most_query = 0, most_key = 0;
  for (std::size_t i = 0; i < kRows; ++i) {
    most_query = std::max(most_query, reference::square_norm(row(c.query, i, kDim)));
    most_key = std::max(most_key, reference::square_norm(row(c.key, i, kDim)));
  }
  std::vector<std::vector<double>> lifted_queries, lifted_keys;
  for (std::size_t i = 0; i < kRows; ++i) {
    lifted_queries.push_back(reference::lift_query(row(c.query, i, kDim), most_query + most_key));
    lifted_keys.push_back(reference::lift_key(row(c.key, i, kDim), most_query + most_key));
  }
  // Ranks of few values by counting: cheaper than the oracle's margins, which are not needed.
  const auto cluster = [](const std::vector<std::vector<double>>& lifted,
                          std::span<const double> direction, std::size_t(&out)[kRows]) {
    double value[kRows];
    for (std::size_t i = 0; i < kRows; ++i) value[i] = reference::dot(lifted[i], direction);
    for (std::size_t i = 0; i < kRows; ++i) {
      out[i] = static_cast<std::size_t>(
                   std::count_if(value, value + kRows, [&](double v) { return v < value[i]; })) /
               kChunk;
    }
  };
  for (std::size_t trial = 0; trial < kSimulated; ++trial) {
    double direction[kDim + 2];
    for (double& a : direction) a = random.normal();
    std::size_t q[kRows], k[kRows];
    cluster(lifted_queries, direction, q);
    cluster(lifted_keys, direction, k);
    for (std::size_t n = 0; n < want.size(); ++n) want[n] += q[n / kRows] == k[n % kRows];
  }
  double nearest = 0, farthest = 1;
  for (std::size_t n = 0; n < want.size(); ++n) {
    const double p = static_cast<double>(want[n]) / kSimulated;
    const double deviation = std::sqrt(p * (1 - p) * (1.0 / kTrials + 1.0 / kSimulated));
    CAPTURE(n, p);
    // 144 pairs: 4.5 deviations leave one chance in a thousand.
    CHECK(std::abs(static_cast<double>(got[n]) / kTrials - p) < 4.5 * deviation);
    nearest = std::max(nearest, p);
    farthest = std::min(farthest, p);
  }
  CHECK(nearest > 2 * farthest);
}

TEST_CASE("the new families give the same buckets on every instruction set, other seeds others") {
  reference::Random random(205);
  AttentionCase c({1, 1, 1, 300, 300, 40, 2}, random);
  for (const HashFamily family : kNewFamilies) {
    std::set<std::vector<std::uint32_t>> results;
    const auto buckets = [&](std::uint64_t seed) {
      const LshRun run(c, {.rounds = 1, .chunk = 20, .seed = seed, .family = family});
      const auto q = run.attention.query_buckets(0, 0, 0), k = run.attention.key_buckets(0, 0, 0);
      std::vector<std::uint32_t> both(q.begin(), q.end());
      both.insert(both.end(), k.begin(), k.end());
      return both;
    };
    for (const char* const isa : available_instruction_sets()) {
      const InstructionSetScope scope(isa);
      results.insert(buckets(3));
    }
    CAPTURE(name_of(family));
    CHECK(results.size() == 1);
    results.insert(buckets(4));
    CHECK(results.size() == 2);
  }
}

TEST_CASE("the SimHash margin is the distance to the nearest hyperplane") {
  reference::Random random(206);
  constexpr std::size_t kRows = 30, kDim = 12, kBits = 4;
  AttentionCase c({1, 1, 1, kRows, kRows, kDim, 2}, random);
  const LshRun run(c, {.rounds = 2, .buckets = 16, .seed = 8, .family = HashFamily::kSimHash});
  double smallest = INFINITY;
  for (std::size_t r = 0; r < 2; ++r) {
    const auto normals = draws(8, r, kDim * kBits);
    for (std::size_t i = 0; i < kRows; ++i) {
      smallest = std::min(smallest, reference::sim_hash(row(c.query, i, kDim), normals, 4).margin);
      smallest = std::min(smallest, reference::sim_hash(row(c.key, i, kDim), normals, 4).margin);
    }
  }
  ExactRun exact(run.attention);
  LshQuality quality;
  require_ok(run.attention.quality(exact.attention, 0, 0, quality));
  CHECK(std::abs(quality.argmax_margin - smallest) < 1e-5);
}

TEST_CASE("automatic parameters follow the family") {
  reference::Random random(207);
  AttentionCase c({1, 1, 1, 300, 200, 8, 2}, random);
  const LshRun sim(c, {.rounds = 1, .family = HashFamily::kSimHash});
  CHECK(sim.attention.buckets() == 16);  // the power of two at or above 2 * 300 / 64
  CHECK(sim.attention.chunk() == 64);
  const LshRun e2(c, {.rounds = 1, .family = HashFamily::kE2Lsh});
  CHECK(e2.attention.buckets() == 5);
  CHECK(e2.attention.chunk() == 64);
  CHECK(e2.attention.key_chunk(0) == 40);
  const LshRun whole(c, {.rounds = 1, .chunk = 1000, .family = HashFamily::kE2Lsh});
  CHECK(whole.attention.buckets() == 1);
  require_close(whole.outcome, whole.exact(), 8, largest_magnitude(c.value));
}

TEST_CASE("parameters that do not fit the family are refused by name") {
  reference::Random random(208);
  AttentionCase c({1, 1, 1, 10, 10, 4, 3}, random);
  const auto refused = [&c](const LshOptions& lsh) {
    LshAttention attention;
    Outcome outcome = blank(c.inputs());
    return attention.prepare(c.inputs(), c.options, lsh, views(outcome, c.inputs())).message();
  };
  CHECK(refused({.buckets = 6, .family = HashFamily::kSimHash}) ==
        "buckets: received 6, expected a power of two from 2 to 2^30 (SimHash)");
  CHECK(refused({.buckets = 1, .family = HashFamily::kSimHash}).starts_with("buckets: received 1"));
  CHECK(refused({.buckets = std::size_t{1} << 31, .family = HashFamily::kSimHash})
            .starts_with("buckets: received 2147483648"));
  CHECK(refused({.buckets = 4, .family = HashFamily::kE2Lsh}) ==
        "buckets: received 4, expected 0 (E2LSH: the buckets are the chunks)");
  CHECK(refused({.family = HashFamily::kE2Lsh, .true_buckets = true}) ==
        "true_buckets: received true, expected false (E2LSH: which cluster a vector is in depends "
        "on all others)");
  for (const HashFamily family : kNewFamilies) {
    CHECK(refused({.family = family, .rotation = Rotation::kHadamard}) ==
          "rotation: received Hadamard, expected Gaussian (only cross-polytope has another)");
    CHECK(refused({.family = family}) == "ok");
  }
  std::vector<std::uint32_t> out(3);
  const std::vector<float> x(12, 1.0f);
  const auto hash = [&](std::size_t buckets, Rotation rotation, HashFamily family) {
    return lsh_hash(x, 3, 4, buckets, 0, 0, out, rotation, family).field;
  };
  CHECK(hash(8, Rotation::kGaussian, HashFamily::kSimHash).empty());
  CHECK(hash(12, Rotation::kGaussian, HashFamily::kSimHash) == "buckets");
  CHECK(hash(8, Rotation::kHadamard, HashFamily::kSimHash) == "rotation");
  CHECK(hash(8, Rotation::kGaussian, HashFamily::kE2Lsh) == "family");
}

TEST_CASE("under every family masked keys do not change a bit of other rows") {
  for (const HashFamily family : kNewFamilies) {
    for (const bool shared : {false, true}) {
      reference::Random random(209);
      AttentionCase c({1, 1, 1, 80, 80, 8, 4}, random);
      c.hide_keys(random, 0.4);
      const LshOptions lsh{.rounds = 3, .chunk = 10, .family = family, .shared_query_key = shared};
      const Outcome kept = LshRun(c, lsh).outcome;
      for (std::size_t j = 0; j < 80; ++j) {
        if (c.key_mask_data[j] != 0) continue;
        for (std::size_t t = 0; t < 8; ++t) {
          (shared ? c.query : c.key)[j * 8 + t] = static_cast<float>(100 * random.normal());
        }
        for (std::size_t t = 0; t < 4; ++t) c.value[j * 4 + t] = -1e5f;
      }
      const LshRun after(c, lsh);
      for (std::size_t i = 0; i < 80; ++i) {
        if (shared && c.key_mask_data[i] == 0) continue;
        CAPTURE(name_of(family), shared, i);
        REQUIRE(after.outcome.logsumexp[i] == kept.logsumexp[i]);
        for (std::size_t t = 0; t < 4; ++t) {
          REQUIRE(after.outcome.context[i * 4 + t] == kept.context[i * 4 + t]);
        }
      }
    }
  }
}

TEST_CASE("under every family huge, tiny and zero vectors give finite results") {
  for (const HashFamily family :
       {HashFamily::kCrossPolytope, HashFamily::kSimHash, HashFamily::kE2Lsh}) {
    for (const float size : {0.0f, 1e-45f, 1e-30f, 1e19f, 1e30f, kMost}) {
      for (const bool shared : {false, true}) {
        reference::Random random(210);
        AttentionCase c({1, 1, 1, 70, 70, 16, 4}, random);
        for (float& v : c.query) v = v < 0 ? -size : size;
        for (float& v : c.key) v = v < 0 ? -size : size;
        const LshRun run(c,
                         {.rounds = 2, .chunk = 8, .family = family, .shared_query_key = shared});
        CAPTURE(name_of(family), size, shared);
        CHECK(std::all_of(run.outcome.context.begin(), run.outcome.context.end(),
                          [](float v) { return std::isfinite(v); }));
        for (const float lse : run.outcome.logsumexp) REQUIRE_FALSE(std::isnan(lse));
      }
    }
  }
}

}  // namespace
}  // namespace heed::tests
