// How exact "exact" is: the error against float64, beside that of a plain softmax in float32.
#include <catch2/catch_test_macros.hpp>

#include "support/attention_case.hpp"

namespace heed::tests {
namespace {

/// What a reader would write in float32: all logits of a row, their maximum, exponentials and sum
/// in a second pass, then the weighted values; every sum in order.
std::vector<float> two_pass(const AttentionCase& c, std::size_t queries, std::size_t keys,
                            std::size_t dim) {
  std::vector<float> context(queries * dim, 0.0f), weight(keys);
  const float scale = 1.0f / std::sqrt(static_cast<float>(dim));
  for (std::size_t i = 0; i < queries; ++i) {
    float maximum = -kInfinity, sum = 0;
    for (std::size_t j = 0; j < keys; ++j) {
      float dot = 0;
      for (std::size_t t = 0; t < dim; ++t) dot += c.query[i * dim + t] * c.key[j * dim + t];
      weight[j] = dot * scale;
      maximum = std::max(maximum, weight[j]);
    }
    for (float& w : weight) sum += w = std::exp(w - maximum);
    for (std::size_t j = 0; j < keys; ++j) {
      const float w = weight[j] / sum;
      for (std::size_t t = 0; t < dim; ++t) context[i * dim + t] += w * c.value[j * dim + t];
    }
  }
  return context;
}

TEST_CASE("the largest error is that of a two-pass float32 softmax, or less") {
  constexpr std::size_t kQueries = 8, kDim = 64;
  const char* const isa = any_instruction_set();
  const InstructionSetScope scope(isa);
  // Single maxima differ by the luck of the draw; over all settings ours must not be the larger.
  constexpr double kLuck = 1.6;
  double log_ratio = 0;
  for (const std::size_t keys : {std::size_t{64}, std::size_t{1024}, std::size_t{16384}}) {
    for (const double largest_logit : {1.0, 20.0, 80.0}) {
      double ours = 0, plain = 0;
      for (std::uint64_t seed = 0; seed < (keys > 10000 ? 2u : 5u); ++seed) {
        reference::Random random(seed);
        AttentionCase c({1, 1, 1, kQueries, keys, kDim, kDim}, random);
        // Scales the queries so that the largest of a row's logits has the wanted magnitude.
        for (std::size_t i = 0; i < kQueries; ++i) {
          double most = 0;
          for (std::size_t j = 0; j < keys; ++j) {
            double dot = 0;
            for (std::size_t t = 0; t < kDim; ++t) {
              dot += static_cast<double>(c.query[i * kDim + t]) * c.key[j * kDim + t];
            }
            most = std::max(most, std::abs(dot) / 8);
          }
          for (std::size_t t = 0; t < kDim; ++t) {
            c.query[i * kDim + t] *= static_cast<float>(largest_logit / most);
          }
        }
        const auto expected = reference::attention(c.inputs(), {});
        const Outcome result = run(c.inputs(), {});
        const auto float32 = two_pass(c, kQueries, keys, kDim);
        for (std::size_t n = 0; n < float32.size(); ++n) {
          ours = std::max(ours, std::abs(result.context[n] - expected.context[n]));
          plain = std::max(plain, std::abs(float32[n] - expected.context[n]));
        }
      }
      CAPTURE(isa, keys, largest_logit, ours, plain);
      CHECK(ours <= kLuck * plain);
      log_ratio += std::log(ours / plain);
    }
  }
  CHECK(log_ratio <= 0);
}

}  // namespace
}  // namespace heed::tests
