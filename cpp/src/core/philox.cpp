#include "core/philox.hpp"

#include <cmath>

namespace heed {
namespace {

std::array<std::uint32_t, 4> counter_of(std::uint64_t stream, std::uint64_t index) {
  return {static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32),
          static_cast<std::uint32_t>(stream), static_cast<std::uint32_t>(stream >> 32)};
}

// Natural logarithm of x in (0, 1) from basic operations, because libm differs between platforms.
// x = m 2^e with m in [sqrt(1/2), sqrt(2)); log m = 2 artanh((m - 1) / (m + 1)), |t| < 0.172, so
// that 11 terms leave a relative error near 1e-17.
double portable_log(double x) {
  constexpr double kLn2 = 0.693147180559945309417;
  constexpr double kSqrtHalf = 0.70710678118654752440;
  int exponent = 0;
  double mantissa = std::frexp(x, &exponent);
  if (mantissa < kSqrtHalf) {
    mantissa *= 2;
    exponent -= 1;
  }
  const double t = (mantissa - 1) / (mantissa + 1);
  const double square = t * t;
  double sum = 0;
  for (int k = 21; k >= 1; k -= 2) sum = sum * square + 1.0 / k;
  return exponent * kLn2 + 2 * t * sum;
}

// 52 bits of two words as a double in (-1, 1), never 0.
double symmetric_unit(std::uint32_t high, std::uint32_t low) {
  const std::uint64_t bits = (static_cast<std::uint64_t>(high) << 32 | low) >> 12;
  return (static_cast<double>(bits) + 0.5) * 0x1p-51 - 1.0;
}

}  // namespace

std::array<std::uint32_t, 4> philox(std::uint64_t key, std::array<std::uint32_t, 4> counter) {
  constexpr std::uint64_t kMultiplier0 = 0xD2511F53, kMultiplier1 = 0xCD9E8D57;
  constexpr std::uint32_t kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;
  auto key0 = static_cast<std::uint32_t>(key), key1 = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = kMultiplier0 * counter[0], product1 = kMultiplier1 * counter[2];
    counter = {static_cast<std::uint32_t>(product1 >> 32) ^ counter[1] ^ key0,
               static_cast<std::uint32_t>(product1),
               static_cast<std::uint32_t>(product0 >> 32) ^ counter[3] ^ key1,
               static_cast<std::uint32_t>(product0)};
    key0 += kWeyl0;
    key1 += kWeyl1;
  }
  return counter;
}

float normal_draw(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
  // A point uniform in the unit disc; a square's point misses it with probability 0.215. The top
  // byte of the index tells the attempts apart.
  for (std::uint64_t attempt = 0;; ++attempt) {
    const auto words = philox(seed, counter_of(stream, index | attempt << 56));
    const double x = symmetric_unit(words[0], words[1]), y = symmetric_unit(words[2], words[3]);
    const double square = x * x + y * y;
    if (square >= 1) continue;
    return static_cast<float>(x * std::sqrt(-2 * portable_log(square) / square));
  }
}

std::uint64_t uniform_below(std::uint64_t seed, std::uint64_t stream, std::uint64_t index,
                            std::uint64_t bound) {
  const auto words = philox(seed, counter_of(stream, index));
  const std::uint64_t word = static_cast<std::uint64_t>(words[0]) << 32 | words[1];
  // The high half of the 128-bit product word * bound, in 32-bit limbs for WebAssembly's sake.
  const std::uint64_t low = (word & 0xFFFFFFFFu) * (bound & 0xFFFFFFFFu);
  const std::uint64_t middle0 = (word >> 32) * (bound & 0xFFFFFFFFu) + (low >> 32);
  const std::uint64_t middle1 = (word & 0xFFFFFFFFu) * (bound >> 32) + (middle0 & 0xFFFFFFFFu);
  return (word >> 32) * (bound >> 32) + (middle0 >> 32) + (middle1 >> 32);
}

}  // namespace heed
