// LSH attention against the oracle: exact softmax over the union of each query's candidates.
#include <catch2/catch_test_macros.hpp>

#include "support/lsh_case.hpp"

namespace heed::tests {
namespace {

Sizes random_sizes(reference::Random& random, bool shared) {
  Sizes s;
  s.batch = random.size(1, 2);
  s.kv_heads = random.size(1, 2);
  s.heads = shared ? s.kv_heads : s.kv_heads * random.size(1, 2);
  s.query_len = random.chance(0.1) ? random.size(1, 3) : random.size(1, 200);
  s.key_len = shared || random.chance(0.5) ? s.query_len : random.size(1, 260);
  s.head_dim = random.size(1, 40);
  s.value_dim = random.size(1, 40);
  return s;
}

LshOptions random_lsh(reference::Random& random, bool shared) {
  LshOptions o;
  o.rounds = random.size(1, 5);
  o.seed = random.word();
  o.shared_query_key = shared;
  o.true_buckets = random.chance(0.4);
  if (random.chance(0.7)) o.buckets = random.chance(0.2) ? 72 : 2 * random.size(1, 12);
  if (random.chance(0.6)) o.chunk = random.chance(0.1) ? 1000 : random.size(1, 90);
  o.family = static_cast<HashFamily>(random.size(0, 2));
  if (o.family == HashFamily::kSimHash && o.buckets != 0) {
    o.buckets = std::size_t{1} << random.size(1, 7);
  } else if (o.family == HashFamily::kE2Lsh) {
    o.buckets = 0;
    o.true_buckets = false;
  }
  return o;
}

void random_options(AttentionCase& c, reference::Random& random) {
  AttentionOptions& o = c.options;
  o.causal = random.chance(0.4);
  if (random.chance(0.2)) o.window_left = random.size(0, 60);
  if (random.chance(0.2)) o.soft_cap = 8;
  if (random.chance(0.2)) o.scale = -0.3f;
  if (random.chance(0.2)) o.exclude_self = true;
  if (random.chance(0.1)) o.causal_offset = random.integer(-20, 20);
  if (random.chance(0.3)) c.hide_keys(random, random.chance(0.15) ? 1.0 : 0.3);
  if (random.chance(0.2)) c.hide_pairs(random, 0.4, false, true, true);
  if (random.chance(0.2)) c.add_bias(random, 0.3, true, false, true);
}

TEST_CASE("LSH attention is the exact softmax over the union of candidates") {
  const char* const isa = any_instruction_set();
  const InstructionSetScope scope(isa);
  for (std::uint64_t seed = 1; seed <= 180; ++seed) {
    reference::Random random(seed);
    const bool shared = random.chance(0.5);
    AttentionCase c(random_sizes(random, shared), random);
    random_options(c, random);
    const LshOptions lsh = random_lsh(random, shared);
    INFO("instruction set " << isa << ", seed " << seed << ", " << describe(c.sizes) << ", "
                            << describe(lsh));
    LshRun(c, lsh).require_union();
  }
}

TEST_CASE("orders sort by bucket and position, and hidden keys come last") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    reference::Random random(seed);
    const bool shared = seed % 2 == 0;
    AttentionCase c(random_sizes(random, shared), random);
    c.hide_keys(random, 0.3);
    const LshRun run(c, random_lsh(random, shared));
    const LshAttention& a = run.attention;
    INFO("seed " << seed << ", " << describe(c.sizes));
    for (std::size_t r = 0; r < a.rounds(); ++r) {
      for (std::size_t h = 0; h < c.sizes.heads; ++h) {
        const auto equal = [](std::span<const std::uint32_t> got,
                              const std::vector<std::uint32_t>& want) {
          return std::equal(got.begin(), got.end(), want.begin(), want.end());
        };
        REQUIRE(equal(a.query_order(0, h, r), reference::bucket_order(a.query_buckets(0, h, r))));
        REQUIRE(equal(a.key_order(0, h, r), reference::bucket_order(a.key_buckets(0, h, r))));
        const auto buckets = a.key_buckets(0, h, r);
        for (std::size_t j = 0; j < c.sizes.key_len; ++j) {
          REQUIRE((buckets[j] == a.buckets()) == (c.key_mask_data[j] == 0));
        }
      }
    }
  }
}

TEST_CASE("buckets are the hashes of the rows, and shared-QK hashes queries by direction") {
  reference::Random random(131);
  AttentionCase c({1, 2, 2, 70, 70, 16, 4}, random);
  for (const bool shared : {false, true}) {
    const LshRun run(
        c, {.rounds = 3, .buckets = 8, .chunk = 10, .seed = 5, .shared_query_key = shared});
    for (std::size_t h = 0; h < 2; ++h) {
      for (std::size_t r = 0; r < 3; ++r) {
        const auto hash_of = [&](const Tensor<const float>& x) {
          std::vector<std::uint32_t> out(70);
          require_ok(lsh_hash(std::span(x.row(0, h, 0), 70 * 16), 70, 16, 8, 5, r, out));
          return out;
        };
        const auto q = run.attention.query_buckets(0, h, r), k = run.attention.key_buckets(0, h, r);
        const auto keys = hash_of(run.attention.exact_inputs().key);
        const auto queries = shared ? keys : hash_of(c.inputs().query);
        REQUIRE(std::equal(q.begin(), q.end(), queries.begin()));
        REQUIRE(std::equal(k.begin(), k.end(), keys.begin()));
      }
    }
  }
}

TEST_CASE("candidates are the oracle's visible pairs, ascending, with the first round of each") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    reference::Random random(seed);
    const bool shared = random.chance(0.5);
    // Every fourth problem is computed in double.
    AttentionCase c(random_sizes(random, shared), random, seed % 4 == 0 ? 1e20 : 1);
    random_options(c, random);
    const LshOptions lsh = random_lsh(random, shared);
    INFO("seed " << seed << ", " << describe(c.sizes) << ", " << describe(lsh));
    const LshRun run(c, lsh);
    const auto expected = run.expected();
    double pairs = 0, exact_pairs = 0;
    const auto exact = run.exact();
    for (const double logit : exact.logits) exact_pairs += logit != -INFINITY;
    reference::Meetings meetings;  // of the head at work
    for (std::size_t row = 0; row < c.rows(); ++row) {
      const std::size_t i = row % c.sizes.query_len, head = row / c.sizes.query_len;
      const std::size_t b = head / c.sizes.heads, h = head % c.sizes.heads;
      if (i == 0) meetings = run.meetings(b, h);
      const auto& met = meetings[i];
      std::vector<std::uint32_t> keys, rounds, want_keys, want_rounds;
      require_ok(run.attention.candidates(b, h, i, keys, rounds));
      for (std::uint32_t j = 0; j < c.sizes.key_len; ++j) {
        if (expected.logits[row * c.sizes.key_len + j] == -INFINITY) continue;
        want_keys.push_back(j);
        // The query itself, kept because it sees nothing else, need not have met itself.
        want_rounds.push_back(want_keys.size() == 1 && met[j].empty() ? 0 : met[j].at(0));
      }
      pairs += static_cast<double>(want_keys.size());
      CAPTURE(b, h, i);
      REQUIRE(keys == want_keys);
      REQUIRE(rounds.size() == want_rounds.size());
      const bool alone = run.attention.exact_options().exclude_self && want_keys.size() == 1;
      if (!alone) REQUIRE(rounds == want_rounds);
    }
    REQUIRE(run.attention.cost().exact_pairs == exact_pairs);
    REQUIRE(run.attention.cost().candidate_pairs == pairs);
  }
}

TEST_CASE("weights of LSH attention are the oracle's and sum to 1") {
  const char* const isa = any_instruction_set();
  const InstructionSetScope scope(isa);
  for (const double spread : {1.0, 30.0, 1e4, 1e10, 1e20}) {
    for (const bool shared : {false, true}) {
      reference::Random random(133);
      AttentionCase c({1, 2, 2, 60, 60, 8, 5}, random, spread);
      c.options.causal = true;
      const LshRun run(c, {.rounds = 2, .buckets = 6, .chunk = 9, .shared_query_key = shared});
      const auto expected = run.expected();
      std::vector<float> row(60);
      for (std::size_t r = 0; r < c.rows(); ++r) {
        require_ok(run.attention.weight_row(0, r / 60, r % 60, row));
        const auto bound = reference::tolerance(expected, r, 8);
        double sum = 0, worst = 0;
        for (std::size_t j = 0; j < 60; ++j) {
          const double want = expected.weight(0, r / 60, r % 60, j);
          worst = std::max(worst, std::abs(row[j] - want) - 0x1p-125);
          sum += row[j];
        }
        CAPTURE(isa, spread, shared, r, bound.logit);
        const double allowed = std::expm1(4 * bound.logit) + bound.weight;
        REQUIRE(worst <= std::max(allowed, 1e-6));
        const bool sees = expected.logsumexp[r] != -INFINITY;
        REQUIRE(std::abs(sum - (sees ? 1 : 0)) <= std::min(allowed, 1e-3));
      }
    }
  }
}

TEST_CASE("tiles of weights and of their difference to the exact ones reduce rows") {
  reference::Random random(134);
  AttentionCase c({1, 2, 1, 90, 70, 8, 5}, random);
  const LshRun run(c, {.rounds = 2, .buckets = 6, .chunk = 12});
  ExactRun exact(run.attention);
  const auto expected = run.expected(), all = run.exact();
  const WeightTile tile{.batch = 0,
                        .head = 1,
                        .rows = {7, 83},
                        .columns = {5, 64},
                        .rows_per_cell = 5,
                        .columns_per_cell = 7};
  const std::size_t cells = tile.cell_rows() * tile.cell_columns();
  for (const bool difference : {false, true}) {
    std::vector<float> peak(cells), mean(cells);
    const TileOutputs out{.peak = peak, .mean = mean};
    require_ok(difference ? run.attention.weight_difference(exact.attention, tile, out)
                          : run.attention.weights(tile, out));
    std::vector<double> want_peak(cells), want_mean(cells), count(cells);
    for (std::size_t i = 7; i < 83; ++i) {
      for (std::size_t j = 5; j < 64; ++j) {
        const std::size_t cell = (i - 7) / 5 * tile.cell_columns() + (j - 5) / 7;
        const double w = expected.weight(0, 1, i, j) - (difference ? all.weight(0, 1, i, j) : 0);
        if (std::abs(w) > std::abs(want_peak[cell])) want_peak[cell] = w;
        want_mean[cell] += w;
        ++count[cell];
      }
    }
    CAPTURE(difference);
    for (std::size_t n = 0; n < cells; ++n) {
      // Two peaks of equal size and other signs may swap.
      REQUIRE(std::abs(std::abs(peak[n]) - std::abs(want_peak[n])) < 2e-5);
      REQUIRE(std::abs(mean[n] - want_mean[n] / count[n]) < 2e-5);
    }
  }
}

TEST_CASE("a chunk as long as the sequence gives exact attention") {
  for (const bool shared : {false, true}) {
    for (const std::size_t length : {1, 2, 5, 63, 64, 65, 130}) {
      reference::Random random(135);
      AttentionCase c({1, 2, 2, length, length, 8, 5}, random);
      c.options.causal = true;
      const LshRun run(c, {.rounds = 1, .buckets = 4, .chunk = length, .shared_query_key = shared});
      CAPTURE(shared, length);
      require_close(run.outcome, run.exact(), 8, largest_magnitude(c.value));
      CHECK(run.attention.cost().candidate_pairs == run.attention.cost().exact_pairs);
    }
  }
}

TEST_CASE("slices of any size give the bits of one go") {
  for (const bool true_buckets : {false, true}) {
    for (const double spread : {1.0, 1e20}) {
      reference::Random random(136);
      AttentionCase c({2, 2, 2, 80, 80, 8, 8}, random, spread);
      const LshOptions lsh{.rounds = 3,
                           .buckets = 8,
                           .chunk = 16,
                           .shared_query_key = true,
                           .true_buckets = true_buckets};
      const LshRun whole(c, lsh);
      for (const double work : {0.0, 1.0, 700.0, 1e9}) {
        Outcome outcome = blank(c.inputs());
        LshAttention attention;
        require_ok(attention.prepare(c.inputs(), c.options, lsh, views(outcome, c.inputs())));
        double last = -1;
        std::size_t calls = 0;
        CAPTURE(true_buckets, spread, work);
        while (!attention.done()) {
          REQUIRE(attention.progress() >= last);
          last = attention.progress();
          require_ok(attention.advance(work));
          REQUIRE(++calls < 1000);
        }
        CHECK(attention.progress() == 1.0);
        if (work <= 1) CHECK(calls > 10);
        REQUIRE(outcome == whole.outcome);
      }
      Outcome one_shot = blank(c.inputs());
      require_ok(lsh_attention(c.inputs(), c.options, lsh, views(one_shot, c.inputs())));
      REQUIRE(one_shot == whole.outcome);
    }
  }
}

}  // namespace
}  // namespace heed::tests
