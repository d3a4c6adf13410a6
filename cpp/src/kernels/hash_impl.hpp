// Cross-polytope hashing with an explicit rotation matrix.
#pragma once

#include <limits>

#include "kernels/kernel_table.hpp"
#include "kernels/simd.hpp"

namespace heed::kernels {

/// Columns of the rotation handled at once: 8 vectors of accumulators.
template <class Arch>
inline constexpr std::size_t kHashColumns = 8 * Floats<Arch>::size;

/// y[c] = sum_t x[t] * rotation[t][c], multiply then add in the order of t.
template <class Arch>
inline void rotate(const float* x, std::size_t dim, const float* rotation, std::size_t width,
                   std::size_t columns, float* y) {
  using F = Floats<Arch>;
  constexpr std::size_t kWidth = F::size;
  if (columns == kHashColumns<Arch>) {
    F acc[8];
    for (F& a : acc) a = F(0.0f);
    for (std::size_t t = 0; t < dim; ++t) {
      const F factor(x[t]);
#pragma GCC unroll 8
      for (std::size_t v = 0; v < 8; ++v) {
        acc[v] = acc[v] + factor * F::load_unaligned(rotation + t * width + v * kWidth);
      }
    }
    for (std::size_t v = 0; v < 8; ++v) acc[v].store_unaligned(y + v * kWidth);
    return;
  }
  std::size_t c = 0;
  for (; c + kWidth <= columns; c += kWidth) {
    F acc(0.0f);
    for (std::size_t t = 0; t < dim; ++t) {
      acc = acc + F(x[t]) * F::load_unaligned(rotation + t * width + c);
    }
    acc.store_unaligned(y + c);
  }
  for (; c < columns; ++c) {
    float acc = 0.0f;
    for (std::size_t t = 0; t < dim; ++t) acc = acc + x[t] * rotation[t * width + c];
    y[c] = acc;
  }
}

template <class Arch>
void hash_rows(const float* x, std::size_t stride, std::size_t rows, std::size_t dim,
               const float* rotation, std::size_t width, std::uint32_t* bucket, float* margin) {
  constexpr float kLowest = -std::numeric_limits<float>::infinity();
  for (std::size_t r = 0; r < rows; ++r, x += stride) {
    float best = kLowest, second = kLowest;
    std::size_t best_column = 0;
    bool best_negative = false;
    for (std::size_t first = 0; first < width; first += kHashColumns<Arch>) {
      const std::size_t columns =
          width - first < kHashColumns<Arch> ? width - first : kHashColumns<Arch>;
      float y[kHashColumns<Arch>];
      rotate<Arch>(x, dim, rotation + first, width, columns, y);
      for (std::size_t c = 0; c < columns; ++c) {
        // |y| decides the axis and the sign the end of it. At a tie of +y and -y' the first of
        // [y; -y] wins, which is the positive one.
        const float magnitude = y[c] < 0 ? -y[c] : y[c];
        const bool negative = y[c] < 0;
        const bool wins = magnitude > best || (magnitude == best && best_negative && !negative);
        if (wins) {
          second = best;
          best = magnitude;
          best_column = first + c;
          best_negative = negative;
        } else if (magnitude > second) {
          second = magnitude;
        }
      }
    }
    bucket[r] = static_cast<std::uint32_t>(best_negative ? width + best_column : best_column);
    // With one column the runner-up is the other end of the same axis.
    margin[r] = width == 1 ? 2 * best : best - second;
  }
}

}  // namespace heed::kernels
