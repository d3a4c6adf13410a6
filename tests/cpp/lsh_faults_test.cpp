// Faults that other implementations of LSH attention had (trax, reformer-pytorch, transformers,
// HyperAttention), each as a test, and exact causality.
#include <catch2/catch_test_macros.hpp>

#include "support/lsh_case.hpp"

namespace heed::tests {
namespace {

constexpr LshOptions kShared{
    .rounds = 2, .buckets = 8, .chunk = 8, .seed = 3, .shared_query_key = true};
constexpr LshOptions kSharedBuckets{
    .rounds = 2, .buckets = 8, .seed = 3, .shared_query_key = true, .true_buckets = true};

bool finite(const std::vector<float>& x) {
  return std::all_of(x.begin(), x.end(), [](float v) { return std::isfinite(v); });
}

TEST_CASE("position 0 can be masked") {  // trax#820
  for (const LshOptions& lsh : {kShared, kSharedBuckets}) {
    reference::Random random(141);
    AttentionCase c({1, 1, 1, 40, 40, 8, 4}, random);
    c.key_mask_data.assign(40, 1);
    c.key_mask_data[0] = 0;
    c.options.key_mask = c.key_mask_data;
    const LshRun before(c, lsh);
    std::vector<float> row(40);
    for (std::size_t i = 0; i < 40; ++i) {
      require_ok(before.attention.weight_row(0, 0, i, row));
      REQUIRE(row[0] == 0.0f);
    }
    const Outcome kept = before.outcome;
    for (std::size_t t = 0; t < 8; ++t) c.query[t] += 3;
    for (std::size_t t = 0; t < 4; ++t) c.value[t] = 1e5f;
    const LshRun after(c, lsh);
    // Row 0 is the masked token's own; every other row must keep its bits.
    REQUIRE(std::equal(kept.context.begin() + 4, kept.context.end(),
                       after.outcome.context.begin() + 4));
  }
}

TEST_CASE("an object takes problems of other lengths one after another") {  // trax#1664
  LshAttention attention;
  for (const std::size_t length : {70, 8, 200, 1, 63}) {
    reference::Random random(length);
    AttentionCase c({1, 2, 2, length, length, 8, 4}, random);
    Outcome outcome = blank(c.inputs());
    require_ok(attention.prepare(c.inputs(), {}, kShared, views(outcome, c.inputs())));
    CHECK_FALSE(attention.done());
    require_ok(attention.advance(1e18));
    CHECK(outcome == LshRun(c, kShared).outcome);
  }
}

TEST_CASE("queries and keys may differ in content, length and heads") {
  // trax#539, transformers#4225, reformer-pytorch#23
  for (const auto& [query_len, key_len] : {std::pair{90, 31}, {31, 90}, {1, 90}, {90, 1}, {5, 0}}) {
    for (const bool true_buckets : {false, true}) {
      reference::Random random(142);
      AttentionCase c(
          {2, 4, 2, static_cast<std::size_t>(query_len), static_cast<std::size_t>(key_len), 8, 4},
          random);
      CAPTURE(query_len, key_len, true_buckets);
      LshRun(c, {.rounds = 3, .buckets = 4, .chunk = 8, .true_buckets = true_buckets})
          .require_union();
    }
  }
}

TEST_CASE("automatic buckets are even at every length") {  // transformers#4543
  for (std::size_t length = 1; length <= 300; ++length) {
    reference::Random random(length);
    AttentionCase c({1, 1, 1, length, length, 2, 1}, random);
    for (const std::size_t chunk : {0, 1, 7, 64}) {
      LshAttention attention;
      Outcome outcome = blank(c.inputs());
      require_ok(attention.prepare(c.inputs(), {}, {.rounds = 1, .chunk = chunk},
                                   views(outcome, c.inputs())));
      CAPTURE(length, chunk);
      REQUIRE(attention.buckets() % 2 == 0);
      REQUIRE(attention.buckets() >= 2);
      REQUIRE(attention.chunk() >= 1);
      REQUIRE(attention.chunk() <= length);
    }
  }
}

TEST_CASE("odd numbers of buckets are refused by name") {  // transformers#4543
  reference::Random random(143);
  AttentionCase c({1, 1, 1, 10, 10, 2, 1}, random);
  for (const std::size_t buckets : {1, 3, 63, 65, 66, 70, 1001}) {
    LshAttention attention;
    Outcome outcome = blank(c.inputs());
    const Status status =
        attention.prepare(c.inputs(), {}, {.buckets = buckets}, views(outcome, c.inputs()));
    CAPTURE(buckets);
    CHECK(status.code == ErrorCode::kInvalidValue);
    CHECK(status.field == "buckets");
    CHECK(status.received == std::to_string(buckets));
    CHECK(status.expected == "an even number from 2 to 64, or a multiple of 4 up to 2^30");
  }
}

TEST_CASE("sequences shorter than a chunk, of 63, and of one are attended to exactly") {
  // transformers#4720, reformer-pytorch#123
  for (const std::size_t length : {1, 2, 5, 63}) {
    for (const bool causal : {false, true}) {
      reference::Random random(144);
      AttentionCase c({1, 2, 2, length, length, 8, 4}, random);
      c.options.causal = causal;
      const LshRun run(c, {.rounds = 2, .chunk = 64, .shared_query_key = true});
      CAPTURE(length, causal);
      CHECK(finite(run.outcome.context));
      require_close(run.outcome, run.exact(), 8, largest_magnitude(c.value));
    }
  }
}

TEST_CASE("minus infinity and huge negative biases give no NaN") {
  // reformer-pytorch PR#26, #123; transformers#4241
  for (const LshOptions& lsh : {kShared, kSharedBuckets}) {
    for (const float hidden : {-kInfinity, -kMost, -1e30f}) {
      for (const double share : {0.5, 1.0}) {
        reference::Random random(145);
        AttentionCase c({1, 2, 2, 60, 60, 8, 4}, random);
        c.options.causal = true;
        c.add_bias(random, share, true, true, true);
        for (float& x : c.bias_data) x = x == -kInfinity ? hidden : x;
        const LshRun run(c, lsh);
        CAPTURE(hidden, share);
        CHECK(finite(run.outcome.context));
        for (const float x : run.outcome.logsumexp) {
          if (std::isnan(x) || x == kInfinity) FAIL("logsumexp " << x);
        }
      }
    }
  }
}

TEST_CASE("padding changes nothing about the tokens before it") {  // transformers#5560
  for (const LshOptions& lsh : {kShared, kSharedBuckets}) {
    reference::Random random(146);
    constexpr std::size_t kReal = 45, kPadded = 64;
    AttentionCase padded({1, 1, 1, kPadded, kPadded, 8, 4}, random);
    padded.options.causal = true;
    AttentionCase real({1, 1, 1, kReal, kReal, 8, 4}, random);
    real.options.causal = true;
    std::copy_n(padded.query.begin(), real.query.size(), real.query.begin());
    std::copy_n(padded.value.begin(), real.value.size(), real.value.begin());
    padded.key_mask_data.assign(kPadded, 1);
    std::fill(padded.key_mask_data.begin() + kReal, padded.key_mask_data.end(), 0);
    padded.options.key_mask = padded.key_mask_data;
    const LshRun with(padded, lsh), without(real, lsh);
    REQUIRE(std::equal(without.outcome.context.begin(), without.outcome.context.end(),
                       with.outcome.context.begin()));
    REQUIRE(std::equal(without.outcome.logsumexp.begin(), without.outcome.logsumexp.end(),
                       with.outcome.logsumexp.begin()));
  }
}

TEST_CASE("masked keys do not change a bit of other rows") {  // HyperAttention#3
  for (const bool true_buckets : {false, true}) {
    for (const bool shared : {false, true}) {
      reference::Random random(147);
      AttentionCase c({1, 1, 1, 80, 80, 8, 4}, random);
      c.hide_keys(random, 0.4);
      const LshOptions lsh{.rounds = 3,
                           .buckets = 6,
                           .chunk = 10,
                           .shared_query_key = shared,
                           .true_buckets = true_buckets};
      const LshRun before(c, lsh);
      const Outcome kept = before.outcome;
      for (std::size_t j = 0; j < 80; ++j) {
        if (c.key_mask_data[j] != 0) continue;
        for (std::size_t t = 0; t < 8; ++t) {
          (shared ? c.query : c.key)[j * 8 + t] = static_cast<float>(random.normal());
        }
        for (std::size_t t = 0; t < 4; ++t) c.value[j * 4 + t] = -1e5f;
      }
      const LshRun after(c, lsh);
      for (std::size_t i = 0; i < 80; ++i) {
        if (shared && c.key_mask_data[i] == 0) continue;
        CAPTURE(true_buckets, shared, i);
        REQUIRE(after.outcome.logsumexp[i] == kept.logsumexp[i]);
        for (std::size_t t = 0; t < 4; ++t) {
          REQUIRE(after.outcome.context[i * 4 + t] == kept.context[i * 4 + t]);
        }
      }
    }
  }
}

TEST_CASE("no pair is dropped when every token falls into one bucket") {  // reformer-pytorch#101
  reference::Random random(148);
  AttentionCase c({1, 1, 1, 300, 300, 8, 4}, random);
  for (std::size_t n = 8; n < c.query.size(); ++n) c.query[n] = c.query[n % 8];
  for (std::size_t n = 0; n < c.key.size(); ++n) c.key[n] = c.query[n % 8];
  c.options.causal = true;
  for (const bool shared : {false, true}) {
    const LshRun run(c,
                     {.rounds = 2, .buckets = 8, .shared_query_key = shared, .true_buckets = true});
    CAPTURE(shared);
    require_close(run.outcome, run.exact(), 8, largest_magnitude(c.value));
    CHECK(run.attention.cost().candidate_pairs == run.attention.cost().exact_pairs);
  }
}

TEST_CASE("rows of weights have one entry a key") {  // reformer-pytorch#106
  reference::Random random(149);
  AttentionCase c({1, 1, 1, 30, 50, 8, 4}, random);
  const LshRun run(c, {.rounds = 2, .buckets = 4});
  std::vector<float> right(50), wrong(30);
  CHECK(run.attention.weight_row(0, 0, 29, right).ok());
  const Status status = run.attention.weight_row(0, 0, 29, wrong);
  CHECK(status.code == ErrorCode::kInvalidShape);
  CHECK(status.field == "out");
}

TEST_CASE("the same seed gives the same result and another seed another") {
  reference::Random random(150);
  AttentionCase c({1, 2, 2, 120, 120, 8, 4}, random);
  LshOptions lsh{.rounds = 1, .buckets = 16, .chunk = 8, .seed = 1};
  const LshRun first(c, lsh), again(c, lsh);
  lsh.seed = 2;
  const LshRun other(c, lsh);
  CHECK(first.outcome == again.outcome);
  CHECK_FALSE(first.outcome == other.outcome);
}

TEST_CASE("with true buckets and the causal rule the future does not change a bit of the past") {
  const char* const isa = any_instruction_set();
  const InstructionSetScope scope(isa);
  for (const bool shared : {false, true}) {
    reference::Random random(151);
    constexpr std::size_t kLength = 400;
    AttentionCase c({1, 1, 1, kLength, kLength, 16, 6}, random);
    c.options.causal = true;
    // Few buckets, so that each is longer than a block of keys.
    const LshOptions lsh{
        .rounds = 3, .buckets = 2, .seed = 9, .shared_query_key = shared, .true_buckets = true};
    const LshRun before(c, lsh);
    for (const std::size_t prefix : {1, 50, 129, 333, 399}) {
      AttentionCase changed({1, 1, 1, kLength, kLength, 16, 6}, random);
      changed.options = c.options;
      const auto keep = [prefix](const std::vector<float>& from, std::vector<float>& to) {
        std::copy_n(from.begin(), prefix * (from.size() / kLength), to.begin());
      };
      keep(c.query, changed.query);
      keep(c.key, changed.key);
      keep(c.value, changed.value);
      const LshRun after(changed, lsh);
      std::size_t differ = 0;
      for (std::size_t n = 0; n < prefix * 6; ++n) {
        differ += before.outcome.context[n] != after.outcome.context[n];
      }
      for (std::size_t i = 0; i < prefix; ++i) {
        differ += before.outcome.logsumexp[i] != after.outcome.logsumexp[i];
      }
      CAPTURE(isa, shared, prefix);
      REQUIRE(differ == 0);
    }
  }
}

TEST_CASE("with chunks the future does change which keys the past sees") {
  // Why true buckets exist: of the spec's figure, 418 of 512 prefix rows, the order of magnitude.
  reference::Random random(152);
  constexpr std::size_t kLength = 1024, kPrefix = 512;
  AttentionCase c({1, 1, 1, kLength, kLength, 16, 1}, random);
  AttentionCase changed({1, 1, 1, kLength, kLength, 16, 1}, random);
  std::copy_n(c.query.begin(), kPrefix * 16, changed.query.begin());
  c.options.causal = changed.options.causal = true;
  const LshOptions lsh{.rounds = 1, .buckets = 32, .chunk = 64, .shared_query_key = true};
  const LshRun before(c, lsh), after(changed, lsh);
  std::size_t differ = 0;
  std::vector<std::uint32_t> keys, other, rounds;
  for (std::size_t i = 0; i < kPrefix; ++i) {
    require_ok(before.attention.candidates(0, 0, i, keys, rounds));
    require_ok(after.attention.candidates(0, 0, i, other, rounds));
    differ += keys != other;
  }
  CHECK(differ > kPrefix / 2);
}

TEST_CASE("shared-QK keys are unit queries and rows of zero norm stay defined") {
  reference::Random random(153);
  AttentionCase c({1, 1, 1, 50, 50, 8, 4}, random);
  std::fill_n(c.query.begin() + 3 * 8, 8, 0.0f);
  std::fill_n(c.query.begin() + 4 * 8, 8, -0.0f);
  for (std::size_t t = 0; t < 8; ++t) c.query[5 * 8 + t] *= 0x1p-140f;  // norm below 1e-12
  for (std::size_t t = 0; t < 8; ++t) c.query[6 * 8 + t] *= 0x1p+120f;
  for (const LshOptions& lsh : {kShared, kSharedBuckets}) {
    const LshRun run(c, lsh);
    CHECK(finite(run.outcome.context));
    run.require_union();
    const AttentionInputs exact = run.attention.exact_inputs();
    for (std::size_t i = 0; i < 50; ++i) {
      double square = 0;
      for (std::size_t t = 0; t < 8; ++t) {
        square += static_cast<double>(c.query[i * 8 + t]) * c.query[i * 8 + t];
      }
      const double norm = std::max(std::sqrt(square), 1e-12);
      for (std::size_t t = 0; t < 8; ++t) {
        const double want = c.query[i * 8 + t] / norm;
        REQUIRE(std::abs(exact.key.row(0, 0, i)[t] - want) <= 0x1p-24 * std::abs(want) + 1e-45);
      }
    }
    CHECK(run.attention.exact_options().exclude_self);
  }
}

TEST_CASE("under shared-QK a token sees itself only where it sees nothing else") {
  for (const double spread : {1.0, 1e20}) {
    reference::Random random(154);
    AttentionCase c({1, 1, 1, 60, 60, 8, 4}, random, spread);
    c.options.causal = true;
    const LshRun run(
        c, {.rounds = 1, .buckets = 16, .seed = 4, .shared_query_key = true, .true_buckets = true});
    std::size_t alone = 0;
    std::vector<std::uint32_t> keys, rounds;
    std::vector<float> row(60);
    for (std::uint32_t i = 0; i < 60; ++i) {
      require_ok(run.attention.candidates(0, 0, i, keys, rounds));
      require_ok(run.attention.weight_row(0, 0, i, row));
      CAPTURE(spread, i);
      const bool self = std::find(keys.begin(), keys.end(), i) != keys.end();
      REQUIRE(self == (keys.size() == 1 && keys[0] == i));
      if (!self) continue;
      ++alone;
      REQUIRE(row[i] == 1.0f);
      for (std::size_t t = 0; t < 4; ++t) {
        REQUIRE(run.outcome.context[i * 4 + t] == c.value[i * 4 + t]);
      }
    }
    CHECK(alone >= 1);  // position 0 has no past
    CHECK(alone < 60);
  }
}

}  // namespace
}  // namespace heed::tests
