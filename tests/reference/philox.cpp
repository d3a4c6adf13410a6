#include "reference/philox.hpp"

#include <cmath>

namespace heed::reference {

std::array<std::uint32_t, 4> philox4x32_10(std::array<std::uint32_t, 4> x,
                                           std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53} * x[0];
    const std::uint64_t b = std::uint64_t{0xCD9E8D57} * x[2];
    const auto high = [](std::uint64_t v) { return static_cast<std::uint32_t>(v >> 32); };
    const auto low = [](std::uint64_t v) { return static_cast<std::uint32_t>(v); };
    x = {high(b) ^ x[1] ^ key[0], low(b), high(a) ^ x[3] ^ key[1], low(a)};
    key = {key[0] + 0x9E3779B9u, key[1] + 0xBB67AE85u};
  }
  return x;
}

double normal_draw(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
  const auto low = [](std::uint64_t v) { return static_cast<std::uint32_t>(v); };
  for (std::uint64_t attempt = 0; attempt < 256; ++attempt) {
    const std::uint64_t place = index + (attempt << 56);
    const auto words = philox4x32_10({low(place), low(place >> 32), low(stream), low(stream >> 32)},
                                     {low(seed), low(seed >> 32)});
    const auto unit = [&words](std::size_t w) {
      const std::uint64_t bits = ((std::uint64_t{words[w]} << 32) + words[w + 1]) / 4096;
      return std::ldexp(static_cast<double>(bits) + 0.5, -51) - 1;
    };
    const double x = unit(0), y = unit(2), square = x * x + y * y;
    if (square < 1) return x * std::sqrt(-2 * std::log(square) / square);
  }
  return NAN;
}

}  // namespace heed::reference
