// Sizes at which vector code changes its path, and memory at an address of no alignment.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "kernels/kernel_table.hpp"
#include "reference/random.hpp"

namespace heed::tests {

/// The vector width of the table in use: a panel is two vectors.
inline std::size_t vector_width() { return kernels::table().panel_width / 2; }

/// 0, 1, W - 1, W, W + 1, 3 W, 8 W + 2 and the same around a panel, no more than `most`.
inline std::vector<std::size_t> kernel_sizes(std::size_t most = 1000) {
  const std::size_t w = vector_width();
  std::vector<std::size_t> sizes{0,         1,     w - 1,     w,     w + 1,
                                 2 * w - 1, 2 * w, 2 * w + 1, 3 * w, 8 * w + 2};
  std::erase_if(sizes, [most](std::size_t size) { return size > most; });
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

/// Floats that start 4 bytes past wherever the allocator put them, between guards whose value must
/// survive.
class MisalignedFloats {
 public:
  static constexpr float kGuard = -77.25f;
  explicit MisalignedFloats(std::size_t size) : storage_(size + 2 * kMargin, kGuard), size_(size) {}
  explicit MisalignedFloats(const std::vector<float>& values) : MisalignedFloats(values.size()) {
    std::copy(values.begin(), values.end(), data());
  }
  float* data() { return storage_.data() + kMargin; }
  std::size_t size() const { return size_; }
  float& operator[](std::size_t i) { return data()[i]; }
  bool guards_intact() const {
    const auto is_guard = [](float x) { return x == kGuard; };
    return std::all_of(storage_.begin(), storage_.begin() + kMargin, is_guard) &&
           std::all_of(storage_.end() - kMargin, storage_.end(), is_guard);
  }

 private:
  static constexpr std::ptrdiff_t kMargin = 33;
  std::vector<float> storage_;
  std::size_t size_;
};

inline std::size_t rounded_up(std::size_t a, std::size_t b) { return (a + b - 1) / b * b; }

}  // namespace heed::tests
