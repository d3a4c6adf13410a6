// Seeded random test data, the same on every platform. Not the library's generator: tests of that
// one must not rest on itself.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace heed::reference {

/// SplitMix64 (Steele, Lea & Flood 2014) with the few distributions that tests need.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t word() {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  /// In (0, 1).
  double uniform() { return (static_cast<double>(word() >> 12) + 0.5) * 0x1p-52; }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  /// In [low, high], both included.
  std::int64_t integer(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(word() % static_cast<std::uint64_t>(high - low + 1));
  }
  std::size_t size(std::size_t low, std::size_t high) {
    return static_cast<std::size_t>(
        integer(static_cast<std::int64_t>(low), static_cast<std::int64_t>(high)));
  }
  bool chance(double probability) { return uniform() < probability; }
  /// Box & Muller 1958.
  double normal() {
    const double radius = std::sqrt(-2 * std::log(uniform()));
    return radius * std::cos(6.283185307179586 * uniform());
  }
  std::vector<float> normals(std::size_t count, double scale = 1) {
    std::vector<float> values(count);
    for (float& x : values) x = static_cast<float>(scale * normal());
    return values;
  }

 private:
  std::uint64_t state_;
};

}  // namespace heed::reference
