// Online softmax and the exponential it is made of.
#include <catch2/catch_test_macros.hpp>

#include "support/attention_case.hpp"
#include "support/kernel_sizes.hpp"

namespace heed::tests {
namespace {

using kernels::kKeyBlock;

constexpr double kExp2Error = 2.5e-7;  // stated by exp2_nonpositive()

TEST_CASE("exp2_shifted stays within its relative error bound at every exponent") {
  const char* const isa = any_instruction_set();
  CAPTURE(isa);
  const InstructionSetScope scope(isa);
  reference::Random random(31);
  for (int exponent = -126; exponent <= 0; ++exponent) {
    // Fractions over the whole interval, both ends of it and the halves where rounding turns.
    std::vector<float> s;
    for (int i = 0; i <= 512; ++i) s.push_back(static_cast<float>(exponent + i / 512.0));
    for (int i = 0; i < 200; ++i) s.push_back(static_cast<float>(exponent + random.uniform()));
    s.push_back(std::nextafter(static_cast<float>(exponent) + 0.5f, -200.0f));
    for (float& x : s) x = std::min(x, 0.0f);
    std::vector<float> p(s.size());
    kernels::table().exp2_shifted(s.data(), s.size(), 0.0f, p.data());
    double worst = 0;
    for (std::size_t i = 0; i < s.size(); ++i) {
      const double want = std::exp2(static_cast<double>(s[i]));
      worst = std::max(worst, std::abs(p[i] - want) / want);
    }
    CAPTURE(exponent);
    REQUIRE(worst < kExp2Error);
  }
}

TEST_CASE(
    "exp2_shifted is exactly 1 at 0 and exactly 0 for minus infinity and below the normal range") {
  const char* const isa = any_instruction_set();
  CAPTURE(isa);
  const InstructionSetScope scope(isa);
  for (const std::size_t count : kernel_sizes()) {
    for (const float shift : {0.0f, 17.5f, -3e5f}) {
      CAPTURE(count, shift);
      MisalignedFloats s(count), p(count);
      for (std::size_t i = 0; i < count; ++i) {
        const float lowest[] = {shift, -kInfinity, shift - 200.0f, -kMost};
        s[i] = lowest[i % 4];
      }
      kernels::table().exp2_shifted(s.data(), count, shift, p.data());
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < count; ++i) wrong += p[i] != (i % 4 == 0 ? 1.0f : 0.0f);
      REQUIRE(wrong == 0);
      REQUIRE(p.guards_intact());
      kernels::table().exp2_shifted(s.data(), count, shift, s.data());
      REQUIRE(std::equal(s.data(), s.data() + count, p.data()));
    }
  }
}

TEST_CASE("softmax_update carries maximum, sum and decay from block to block") {
  const char* const isa = any_instruction_set();
  CAPTURE(isa);
  const InstructionSetScope scope(isa);
  reference::Random random(32);
  for (const std::size_t keys : kernel_sizes(kKeyBlock)) {
    CAPTURE(keys);
    constexpr std::size_t kRows = 5;
    std::vector<float> maximum(kRows, -kInfinity), sum(kRows, 0.0f), decay(kRows, NAN);
    std::vector<double> before_max(kRows, -INFINITY), before_sum(kRows, 0.0);
    for (int block = 0; block < 4; ++block) {
      MisalignedFloats s(kRows * kKeyBlock);
      for (std::size_t r = 0; r < kRows; ++r) {
        for (std::size_t c = 0; c < keys; ++c) {
          // Row 0 sees nothing before block 2; row 1 nothing after block 0; others some.
          const bool hidden = (r == 0 && block < 2) || (r == 1 && block > 0) || random.chance(0.2);
          s[r * kKeyBlock + c] =
              hidden ? -kInfinity : static_cast<float>(20 * random.normal() + 8 * block);
        }
      }
      const std::vector<float> logits(s.data(), s.data() + s.size());
      kernels::table().softmax_update(s.data(), kRows, keys, maximum.data(), sum.data(),
                                      decay.data());
      CAPTURE(block);
      for (std::size_t r = 0; r < kRows; ++r) {
        CAPTURE(r);
        const float* const row = logits.data() + r * kKeyBlock;
        double most = before_max[r];
        for (std::size_t c = 0; c < keys; ++c) most = std::max(most, static_cast<double>(row[c]));
        REQUIRE(maximum[r] == most);
        const double shrink = most == -INFINITY ? 1 : std::exp2(before_max[r] - most);
        // The library's exp2 of a rounded difference below 2^8: a factor of 1 + 5.3e-6.
        const double decay_bound = 6e-6 * shrink + std::numeric_limits<float>::denorm_min();
        REQUIRE(std::abs(decay[r] - (before_max[r] == most ? 1 : shrink)) <= decay_bound);
        double total = before_sum[r] * shrink;
        std::size_t wrong = 0;
        for (std::size_t c = 0; c < keys; ++c) {
          const double want = most == -INFINITY ? 0 : std::exp2(row[c] - most);
          const double got = s[r * kKeyBlock + c];
          // The rounded difference of logits below 2^8 is off by 2^-17: a factor of 1 + 5.3e-6.
          wrong += !(std::abs(got - want) <= (kExp2Error + 5.3e-6) * want + 0x1p-126);
          wrong += row[c] == -kInfinity && got != 0;
          total += want;
        }
        REQUIRE(wrong == 0);
        const double roundings = static_cast<double>(keys + 3) * 0x1p-24;
        REQUIRE(std::abs(sum[r] - total) <= (1e-5 + roundings) * total);
        before_max[r] = most;
        before_sum[r] = total;
      }
      for (std::size_t r = 0; r < kRows; ++r) {
        for (std::size_t c = keys; c < kKeyBlock; ++c) {
          if (s[r * kKeyBlock + c] != MisalignedFloats::kGuard) FAIL("wrote beyond the keys");
        }
      }
      REQUIRE(s.guards_intact());
    }
  }
}

TEST_CASE("softmax_update leaves a row that never saw a key without weight") {
  const char* const isa = any_instruction_set();
  CAPTURE(isa);
  const InstructionSetScope scope(isa);
  std::vector<float> s(kKeyBlock, -kInfinity);
  float maximum = -kInfinity, sum = 0, decay = NAN;
  kernels::table().softmax_update(s.data(), 1, 19, &maximum, &sum, &decay);
  CHECK(maximum == -kInfinity);
  CHECK(sum == 0.0f);
  CHECK(decay == 1.0f);
  CHECK(std::all_of(s.begin(), s.begin() + 19, [](float p) { return p == 0.0f; }));
}

TEST_CASE("the sum of a row does not depend on hidden keys after its last visible one") {
  const char* const isa = any_instruction_set();
  CAPTURE(isa);
  const InstructionSetScope scope(isa);
  reference::Random random(33);
  for (std::size_t visible = 1; visible <= kKeyBlock; ++visible) {
    std::vector<float> logits(kKeyBlock, -kInfinity);
    for (std::size_t c = 0; c < visible; ++c) logits[c] = static_cast<float>(random.normal());
    float expected = 0;
    for (std::size_t keys = visible; keys <= kKeyBlock; ++keys) {
      std::vector<float> s = logits;
      float maximum = -kInfinity, sum = 0, decay = 0;
      kernels::table().softmax_update(s.data(), 1, keys, &maximum, &sum, &decay);
      if (keys == visible) expected = sum;
      CAPTURE(visible, keys);
      REQUIRE(sum == expected);
    }
  }
}

}  // namespace
}  // namespace heed::tests
