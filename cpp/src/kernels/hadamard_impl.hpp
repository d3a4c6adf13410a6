// Cross-polytope hashing with pseudo-random rotations made of Walsh-Hadamard transforms.
#pragma once

#include <algorithm>

#include "kernels/hash_lanes.hpp"
#include "kernels/kernel_table.hpp"
#include "kernels/pack_impl.hpp"
#include "kernels/simd.hpp"

namespace heed::kernels {

/// log2(kRadix) stages of the transform of `size` elements, each a panel of rows, from stride
/// `half` on. Elements are multiplied by `signs` first, unless that is null.
template <class Arch, std::size_t kRadix>
void butterflies(const float* from, const float* signs, std::size_t size, std::size_t half,
                 float* to) {
  using Shape = RegisterTile<Arch>;
  using F = Floats<Arch>;
  const std::size_t step = half * Shape::kPanelWidth;
  for (std::size_t base = 0; base < size; base += half * kRadix) {
    for (std::size_t i = base; i < base + half; ++i) {
      for (std::size_t v = 0; v < Shape::kPanelWidth; v += Shape::kWidth) {
        const std::size_t at = i * Shape::kPanelWidth + v;
        F x[kRadix];
        unroll<kRadix>([&](auto j) __attribute__((always_inline)) {
          x[j] = F::load_unaligned(from + at + j * step);
          if (signs != nullptr) x[j] *= F(signs[i + j * half]);
        });
        const auto stage = [&](auto distance) __attribute__((always_inline)) {
          constexpr std::size_t kDistance = distance;
          if constexpr (kDistance < kRadix) {
            unroll<kRadix / 2>([&](auto pair) __attribute__((always_inline)) {
              constexpr std::size_t low = pair / kDistance * 2 * kDistance + pair % kDistance;
              constexpr std::size_t high = low + kDistance;
              const F sum = x[low] + x[high];
              x[high] = x[low] - x[high];
              x[low] = sum;
            });
          }
        };
        stage(std::integral_constant<std::size_t, 1>{});
        stage(std::integral_constant<std::size_t, 2>{});
        stage(std::integral_constant<std::size_t, 4>{});
        unroll<kRadix>([&](auto j) __attribute__((always_inline)) {
          x[j].store_unaligned(to + at + j * step);
        });
      }
    }
  }
}

/// to = H D from, H the unnormalised Walsh-Hadamard matrix in natural order, D the signs.
template <class Arch>
void hadamard(const float* from, const float* signs, std::size_t size, float* to) {
  if (size == 1) {
    butterflies<Arch, 1>(from, signs, 1, 1, to);
    return;
  }
  for (std::size_t half = 1; half < size;) {
    const std::size_t left = size / half;
    if (left >= 8) {
      butterflies<Arch, 8>(from, signs, size, half, to);
      half *= 8;
    } else if (left == 4) {
      butterflies<Arch, 4>(from, signs, size, half, to);
      half *= 4;
    } else {
      butterflies<Arch, 2>(from, signs, size, half, to);
      half *= 2;
    }
    from = to;
    signs = nullptr;
  }
}

template <class Arch>
void hash_rows_hadamard(const float* x, std::size_t stride, std::size_t rows, std::size_t dim,
                        const float* signs, std::size_t size, std::size_t width,
                        std::uint32_t* bucket, float* margin, float* work) {
  using Shape = RegisterTile<Arch>;
  using F = Floats<Arch>;
  using I = Ints<Arch>;
  constexpr std::size_t kRows = Shape::kPanelWidth;
  const I columns(static_cast<std::int32_t>(width));
  const F scale(1.0f / static_cast<float>(size));
  float* const y = work + size * kRows;
  for (std::size_t first = 0; first < rows; first += kRows) {
    const std::size_t count = std::min(kRows, rows - first);
    // Transposed, so that a vector holds one element of many rows and needs no shuffle.
    pack_keys<Arch>(x + first * stride, stride, nullptr, count, dim, work);
    std::fill(work + dim * kRows, work + size * kRows, 0.0f);
    HashLanes<Arch> lanes[Shape::kPanelVectors];
    const float* sign = signs;
    for (std::size_t begin = 0; begin < width; begin += size, sign += 3 * size) {
      hadamard<Arch>(work, sign, size, y);
      hadamard<Arch>(y, sign + size, size, y);
      hadamard<Arch>(y, sign + 2 * size, size, y);
      for (std::size_t i = 0; i < std::min(size, width - begin); ++i) {
        const I column(static_cast<std::int32_t>(begin + i));
        unroll<Shape::kPanelVectors>([&](auto v) __attribute__((always_inline)) {
          const F value = scale * F::load_unaligned(y + i * kRows + v * Shape::kWidth);
          lanes[v].take(xsimd::abs(value), hash_end<Arch>(value, column, columns));
        });
      }
    }
    float best[kRows], second[kRows];
    std::int32_t end[kRows];
    for (std::size_t v = 0; v < Shape::kPanelVectors; ++v) {
      lanes[v].best.store_unaligned(best + v * Shape::kWidth);
      lanes[v].second.store_unaligned(second + v * Shape::kWidth);
      lanes[v].bucket.store_unaligned(end + v * Shape::kWidth);
    }
    for (std::size_t r = 0; r < count; ++r) {
      bucket[first + r] = static_cast<std::uint32_t>(end[r]);
      margin[first + r] = hash_margin(best[r], second[r], width);
    }
  }
}

}  // namespace heed::kernels
