// Projections of vectors on explicit random directions, and the cross-polytope hash they make.
#pragma once

#include <algorithm>

#include "kernels/hash_lanes.hpp"
#include "kernels/kernel_table.hpp"
#include "kernels/simd.hpp"

namespace heed::kernels {

/// The rows of a group. The last group may be short: its last row fills it up.
template <class Arch>
struct RowGroup {
  static constexpr std::size_t kRows = RegisterTile<Arch>::kGroupRows;
  const float* row[kRows];

  RowGroup(const float* x, std::size_t stride, std::size_t count) {
    for (std::size_t r = 0; r < kRows; ++r) row[r] = x + std::min(r, count - 1) * stride;
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
void project_rows(const float* x, std::size_t stride, std::size_t rows, std::size_t dim,
                  const float* matrix, std::size_t width, float* y) {
  using Shape = RegisterTile<Arch>;
  const std::size_t padded = (width + Shape::kPanelWidth - 1) / Shape::kPanelWidth;
  for (std::size_t first = 0; first < rows; first += Shape::kGroupRows) {
    const std::size_t count = std::min(Shape::kGroupRows, rows - first);
    const RowGroup<Arch> group(x + first * stride, stride, count);
    for (std::size_t panel = 0; panel < padded; ++panel) {
      float* const out = y + (first * padded + panel) * Shape::kPanelWidth;
      rotate_panel<Arch>(
          group.row, matrix + panel * Shape::kPanelWidth * dim, dim,
          [&](std::size_t r, std::size_t offset, Floats<Arch> sum) __attribute__((always_inline)) {
            if (r < count) sum.store_unaligned(out + r * padded * Shape::kPanelWidth + offset);
          });
    }
  }
}

/// The winner over all lanes, which hold columns of one vector.
template <class Arch>
inline void finish_hash(const HashLanes<Arch>& lanes, std::size_t width, std::uint32_t& bucket,
                        float& margin) {
  constexpr std::size_t kWidth = Floats<Arch>::size;
  float best[kWidth], second[kWidth];
  std::int32_t end[kWidth];
  lanes.best.store_unaligned(best);
  lanes.second.store_unaligned(second);
  lanes.bucket.store_unaligned(end);
  std::size_t first = 0;
  for (std::size_t i = 1; i < kWidth; ++i) {
    if (best[i] > best[first] || (best[i] == best[first] && end[i] < end[first])) first = i;
  }
  float next = second[first];
  for (std::size_t i = 0; i < kWidth; ++i) {
    if (i != first) next = std::max(next, best[i]);
  }
  bucket = static_cast<std::uint32_t>(end[first]);
  margin = hash_margin(best[first], next, width);
}

template <class Arch>
void hash_rows(const float* x, std::size_t stride, std::size_t rows, std::size_t dim,
               const float* rotation, std::size_t width, std::uint32_t* bucket, float* margin) {
  using Shape = RegisterTile<Arch>;
  using F = Floats<Arch>;
  using I = Ints<Arch>;
  constexpr std::size_t kRows = Shape::kGroupRows;
  std::int32_t counting[Shape::kWidth];
  for (std::size_t i = 0; i < Shape::kWidth; ++i) counting[i] = static_cast<std::int32_t>(i);
  const I lane = I::load_unaligned(counting), columns(static_cast<std::int32_t>(width));
  for (std::size_t first = 0; first < rows; first += kRows) {
    const std::size_t count = std::min(kRows, rows - first);
    const RowGroup<Arch> group(x + first * stride, stride, count);
    HashLanes<Arch> lanes[kRows];
    for (std::size_t c = 0; c < width; c += Shape::kPanelWidth) {
      rotate_panel<Arch>(
          group.row, rotation + c * dim,
          dim, [&](std::size_t r, std::size_t offset, F y) __attribute__((always_inline)) {
            const I column = lane + I(static_cast<std::int32_t>(c + offset));
            // Columns beyond the width are padding: smaller than any magnitude.
            const auto real = xsimd::batch_bool_cast<float>(column < columns);
            lanes[r].take(xsimd::select(real, xsimd::abs(y), F(-1.0f)),
                          hash_end<Arch>(y, column, columns));
          });
    }
    for (std::size_t r = 0; r < count; ++r) {
      finish_hash<Arch>(lanes[r], width, bucket[first + r], margin[first + r]);
    }
  }
}

}  // namespace heed::kernels
