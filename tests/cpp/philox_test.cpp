// The counter-based generator against published answers, its oracle, and the normal distribution.
#include "core/philox.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <vector>

#include "reference/philox.hpp"
#include "reference/random.hpp"

namespace heed::tests {
namespace {

using Words = std::array<std::uint32_t, 4>;

TEST_CASE("philox gives the known answers of Random123") {
  // Random123 (Salmon et al. 2011), kat_vectors, philox4x32 with 10 rounds.
  struct Answer {
    Words counter;
    std::array<std::uint32_t, 2> key;
    Words words;
  };
  constexpr std::uint32_t kOnes = 0xffffffff;
  const Answer answers[] = {
      {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {{kOnes, kOnes, kOnes, kOnes},
       {kOnes, kOnes},
       {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
      {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
       {0xa4093822, 0x299f31d0},
       {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}};
  for (const auto& [counter, key, words] : answers) {
    CHECK(philox(std::uint64_t{key[1]} << 32 | key[0], counter) == words);
    CHECK(reference::philox4x32_10(counter, key) == words);
  }
}

TEST_CASE("normal draws are the polar method's, within a unit in the last place") {
  reference::Random random(61);
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t seed = random.word(), stream = random.word(), index = random.word() >> 8;
    const auto want = static_cast<float>(reference::normal_draw(seed, stream, index));
    const float got = normal_draw(seed, stream, index);
    CAPTURE(seed, stream, index, want, got);
    const bool near = got == want || got == std::nextafter(want, got);
    if (!near) FAIL("differs from the oracle");
  }
}

TEST_CASE("normal draws have the moments and the distribution of the standard normal") {
  constexpr std::size_t kCount = 200000;
  const auto n = static_cast<double>(kCount);
  std::vector<double> draws;
  for (std::size_t i = 0; i < kCount; ++i) draws.push_back(normal_draw(7, 3, i));
  double mean = 0, square = 0, fourth = 0;
  for (const double x : draws) {
    mean += x / n;
    square += x * x / n;
    fourth += x * x * x * x / n;
  }
  // Standard errors of the moments: sqrt(1/n), sqrt(2/n), sqrt(96/n); 5 of them.
  CHECK(std::abs(mean) < 5 * std::sqrt(1 / n));
  CHECK(std::abs(square - 1) < 5 * std::sqrt(2 / n));
  CHECK(std::abs(fourth - 3) < 5 * std::sqrt(96 / n));
  std::sort(draws.begin(), draws.end());
  double distance = 0;  // Kolmogorov-Smirnov
  for (std::size_t i = 0; i < kCount; ++i) {
    const double phi = 0.5 * std::erfc(-draws[i] / std::sqrt(2.0));
    distance = std::max(distance, std::abs(phi - (static_cast<double>(i) + 0.5) / n));
  }
  CHECK(distance < 1.95 / std::sqrt(n));  // exceeded with probability 0.001
}

TEST_CASE("draws depend on seed, stream and index alone") {
  CHECK(normal_draw(1, 2, 3) == normal_draw(1, 2, 3));
  CHECK(normal_draw(1, 2, 3) != normal_draw(2, 2, 3));
  CHECK(normal_draw(1, 2, 3) != normal_draw(1, 3, 3));
  CHECK(normal_draw(1, 2, 3) != normal_draw(1, 2, 4));
}

TEST_CASE("uniform_below is the high half of word times bound") {
  reference::Random random(62);
  std::vector<int> counts(10, 0);
  for (std::uint64_t i = 0; i < 20000; ++i) {
    const std::uint64_t bound = i % 2 == 0 ? 10 : (random.word() >> random.size(0, 62)) | 1;
    const std::uint64_t draw = uniform_below(5, 6, i, bound);
    if (draw >= bound) FAIL("not below " << bound);
    if (bound == 10) ++counts[draw];
    const auto words = reference::philox4x32_10({static_cast<std::uint32_t>(i), 0, 6, 0}, {5, 0});
    const double word = std::ldexp(words[0], 32) + words[1];
    // Through long double or 128-bit integers this would not run everywhere; double is near enough.
    const double want = std::ldexp(word, -64) * static_cast<double>(bound);
    if (std::abs(static_cast<double>(draw) - want) > 1 + want * 1e-14) FAIL("bound " << bound);
  }
  // 10000 draws in 10 cells: 1000 each with a deviation of 30; 5 of them.
  for (const int count : counts) CHECK(std::abs(count - 1000) < 150);
}

}  // namespace
}  // namespace heed::tests
