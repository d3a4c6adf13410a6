// The oracles held against hand-made answers and against each other.
#include <catch2/catch_test_macros.hpp>

#include "reference/multi_head.hpp"
#include "support/lsh_case.hpp"

namespace heed::tests {
namespace {

TEST_CASE("the attention oracle solves a problem that is solved by hand") {
  // Logits 0 and log 3: weights 1/4 and 3/4.
  const float q[] = {1}, k[] = {0, std::log(3.0f)}, v[] = {4, 8};
  const AttentionInputs inputs = {dense(std::span<const float>(q), 1, 1, 1, 1),
                                  dense(std::span<const float>(k), 1, 1, 2, 1),
                                  dense(std::span<const float>(v), 1, 1, 2, 1)};
  const auto result = reference::attention(inputs, {});
  CHECK(std::abs(result.weight(0, 0, 0, 1) - 0.75) < 1e-7);
  CHECK(std::abs(result.context[0] - 7) < 1e-6);
  CHECK(std::abs(result.logsumexp[0] - std::log(4.0)) < 1e-7);
  AttentionOptions self;  // the one query stands at position 1
  self.exclude_self = true;
  CHECK(reference::attention(inputs, self).context[0] == 4);
  self.window_left = 0;  // now it sees nothing but itself
  CHECK(reference::attention(inputs, self).context[0] == 8);
  self.causal = true;
  self.causal_offset = -1;
  CHECK(reference::attention(inputs, self).logsumexp[0] == -INFINITY);
}

TEST_CASE("the multi-head oracle with identity projections is the attention oracle") {
  reference::Random random(111);
  constexpr std::size_t kLength = 6, kDim = 4;
  const auto x = random.normals(kLength * kDim);
  std::vector<float> identity(kDim * kDim, 0.0f);
  for (std::size_t n = 0; n < kDim; ++n) identity[n * kDim + n] = 1;
  const Linear same = {identity, {}};
  const MultiHeadShape shape{1, kLength, kLength, kDim, kDim, 2, 2, 2, 2, kDim};
  AttentionOptions causal;
  causal.causal = true;
  const auto joint = reference::multi_head_attention(shape, {same, same, same, same}, x, x, causal);
  const auto heads = dense_rows_first(std::span<const float>(x), 1, 2, kLength, 2);
  const auto apart = reference::attention({heads, heads, heads}, causal);
  for (std::size_t n = 0; n < apart.context.size(); ++n) {
    REQUIRE(std::abs(joint.context[n] - apart.context[n]) < 1e-14);
  }
  REQUIRE(joint.output[1 * kDim + 2] == joint.context[(1 * kLength + 1) * 2]);
}

TEST_CASE("rounds combined with the correction for repeated pairs are one softmax over the union") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    reference::Random random(seed);
    const std::size_t length = random.size(1, 60), rounds = random.size(1, 8);
    const std::size_t chunk = random.size(1, length);
    std::vector<reference::Round> buckets(rounds);
    for (auto& round : buckets) {
      for (std::size_t i = 0; i < length; ++i) {
        round.query_buckets.push_back(static_cast<std::uint32_t>(random.size(0, 7)));
        round.key_buckets.push_back(static_cast<std::uint32_t>(random.size(0, 7)));
      }
    }
    const auto met = seed % 2 == 0 ? reference::chunk_meetings(buckets, {chunk, chunk, 8})
                                   : reference::bucket_meetings(buckets, 8);
    const auto values = random.normals(length * 3);
    const std::vector<double> value(values.begin(), values.end());
    for (std::size_t i = 0; i < length; ++i) {
      std::vector<double> logits, candidates;
      for (std::size_t j = 0; j < length; ++j) {
        // Causal with the query itself hidden, so that some rounds and some rows see nothing.
        logits.push_back(j < i ? 3 * random.normal() : -INFINITY);
        candidates.push_back(met[i][j].empty() ? -INFINITY : logits[j]);
      }
      const auto roundwise = reference::combine_rounds(logits, met[i], rounds, value, 3);
      const auto joint = reference::softmax(candidates);
      CAPTURE(seed, i);
      if (joint.logsumexp == -INFINITY) {
        REQUIRE(roundwise.logsumexp == -INFINITY);
        REQUIRE(roundwise.context == std::vector<double>(3, 0.0));
        continue;
      }
      REQUIRE(std::abs(roundwise.logsumexp - joint.logsumexp) < 1e-12);
      for (std::size_t t = 0; t < 3; ++t) {
        double context = 0;
        for (std::size_t j = 0; j < length; ++j) context += joint.weights[j] * value[j * 3 + t];
        REQUIRE(std::abs(roundwise.context[t] - context) < 1e-12);
      }
    }
  }
}

TEST_CASE("the chunk oracle looks at its own chunk and the one before without wrapping") {
  // Sorted order of keys and queries: 1 3 0 2 4, chunks of 2: {1 3} {0 2} {4}.
  const std::vector<std::uint32_t> buckets = {1, 0, 1, 0, 2};
  REQUIRE(reference::bucket_order(buckets) == std::vector<std::uint32_t>{1, 3, 0, 2, 4});
  const auto met = reference::chunk_meetings({{buckets, buckets}}, {2, 2, 3});
  const auto keys_of = [&met](std::size_t i) {
    std::vector<std::size_t> keys;
    for (std::size_t j = 0; j < 5; ++j) {
      if (!met[i][j].empty()) keys.push_back(j);
    }
    return keys;
  };
  CHECK(keys_of(3) == std::vector<std::size_t>{1, 3});
  CHECK(keys_of(2) == std::vector<std::size_t>{0, 1, 2, 3});
  CHECK(keys_of(4) == std::vector<std::size_t>{0, 2, 4});
}

}  // namespace
}  // namespace heed::tests
