// Cross-polytope hashing with an explicit rotation matrix.
#pragma once

#include <algorithm>
#include <limits>

#include "kernels/kernel_table.hpp"
#include "kernels/pack_impl.hpp"
#include "kernels/simd.hpp"

namespace heed::kernels {

/// The largest and second largest |y| of one vector so far, lane by lane, and the bucket of the
/// largest: column c for +y_c, width + c for -y_c.
template <class Arch>
struct HashLanes {
  Floats<Arch> best, second;
  Ints<Arch> bucket;

  void reset() {
    best = second = Floats<Arch>(-std::numeric_limits<float>::infinity());
    bucket = Ints<Arch>(std::numeric_limits<std::int32_t>::max());
  }

  /// Takes y of the columns `column`; those from `width` on are padding.
  [[gnu::always_inline]] void take(Floats<Arch> y, Ints<Arch> column, Ints<Arch> width) {
    using F = Floats<Arch>;
    const auto real = xsimd::batch_bool_cast<float>(column < width);
    const F size = xsimd::select(real, xsimd::abs(y), F(-1.0f));
    const auto negative = xsimd::batch_bool_cast<std::int32_t>(y < F(0.0f));
    const Ints<Arch> end = xsimd::select(negative, column + width, column);
    // At a tie the smaller bucket wins: argmax takes the first.
    const auto tie = (size == best) & xsimd::batch_bool_cast<float>(end < bucket);
    const auto wins = (size > best) | tie;
    second = xsimd::max(second, xsimd::min(best, size));
    bucket = xsimd::select(xsimd::batch_bool_cast<std::int32_t>(wins), end, bucket);
    best = xsimd::max(best, size);
  }

  /// Over all lanes.
  void finish(std::size_t width, std::uint32_t& winner, float& margin) const {
    constexpr std::size_t kWidth = Floats<Arch>::size;
    float size[kWidth], runner_up[kWidth];
    std::int32_t end[kWidth];
    best.store_unaligned(size);
    second.store_unaligned(runner_up);
    bucket.store_unaligned(end);
    std::size_t first = 0;
    for (std::size_t i = 1; i < kWidth; ++i) {
      if (size[i] > size[first] || (size[i] == size[first] && end[i] < end[first])) first = i;
    }
    float next = runner_up[first];
    for (std::size_t i = 0; i < kWidth; ++i) {
      next = std::max(next, i == first ? runner_up[i] : size[i]);
    }
    winner = static_cast<std::uint32_t>(end[first]);
    // With one column the runner-up is the other end of the same axis.
    margin = width == 1 ? 2 * size[first] : size[first] - next;
  }
};

/// y[r][c] = sum over t, in order, of row[r][t] * panel[t][c], multiply then add: fused,
/// instruction sets would give different bits.
template <class Arch, class Take>
[[gnu::always_inline]] inline void rotate_panel(
    const float* const (&row)[RegisterTile<Arch>::kGroupRows], const float* panel, std::size_t dim,
    Take take) {
  using Shape = RegisterTile<Arch>;
  using F = Floats<Arch>;
  constexpr std::size_t kSums = Shape::kGroupRows * Shape::kPanelVectors;
  F sum[kSums];
  unroll<kSums>([&](auto i) __attribute__((always_inline)) { sum[i] = F(0.0f); });
  for (std::size_t t = 0; t < dim; ++t, panel += Shape::kPanelWidth) {
    F column[Shape::kPanelVectors];
    unroll<Shape::kPanelVectors>([&](auto v) __attribute__((always_inline)) {
      column[v] = F::load_unaligned(panel + v * Shape::kWidth);
    });
    unroll<Shape::kGroupRows>([&](auto r) __attribute__((always_inline)) {
      const F factor(row[r][t]);
      unroll<Shape::kPanelVectors>([&](auto v) __attribute__((always_inline)) {
        constexpr std::size_t i = r * Shape::kPanelVectors + v;
        sum[i] = sum[i] + factor * column[v];
      });
    });
  }
  unroll<kSums>([&](auto i) __attribute__((always_inline)) {
    take(i / Shape::kPanelVectors, i % Shape::kPanelVectors * Shape::kWidth, sum[i]);
  });
}

template <class Arch>
void hash_rows(const float* x, std::size_t stride, std::size_t rows, std::size_t dim,
               const float* rotation, std::size_t width, std::uint32_t* bucket, float* margin) {
  using Shape = RegisterTile<Arch>;
  constexpr std::size_t kRows = Shape::kGroupRows;
  std::int32_t counting[Shape::kWidth];
  for (std::size_t i = 0; i < Shape::kWidth; ++i) counting[i] = static_cast<std::int32_t>(i);
  const Ints<Arch> lane = Ints<Arch>::load_unaligned(counting);
  const Ints<Arch> columns(static_cast<std::int32_t>(width));
  for (std::size_t first = 0; first < rows; first += kRows) {
    const std::size_t count = std::min(kRows, rows - first);
    const float* row[kRows];
    // The last group may be short: its last row fills it up.
    for (std::size_t r = 0; r < kRows; ++r) row[r] = x + (first + std::min(r, count - 1)) * stride;
    HashLanes<Arch> lanes[kRows];
    for (HashLanes<Arch>& l : lanes) l.reset();
    for (std::size_t c = 0; c < width; c += Shape::kPanelWidth) {
      rotate_panel<Arch>(
          row, rotation + c * dim, dim,
          [&](std::size_t r, std::size_t offset, Floats<Arch> y) __attribute__((always_inline)) {
            lanes[r].take(y, lane + Ints<Arch>(static_cast<std::int32_t>(c + offset)), columns);
          });
    }
    for (std::size_t r = 0; r < count; ++r) {
      lanes[r].finish(width, bucket[first + r], margin[first + r]);
    }
  }
}

}  // namespace heed::kernels
