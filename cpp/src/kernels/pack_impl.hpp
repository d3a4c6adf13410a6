// Copies rows into the layouts that the microkernels read front to back.
#pragma once

#include "kernels/kernel_table.hpp"
#include "kernels/simd.hpp"

namespace heed::kernels {

inline const float* row_of(const float* x, std::size_t stride, const std::uint32_t* index,
                           std::size_t row) {
  return x + (index == nullptr ? row : index[row]) * stride;
}

/// Writes columns [begin, end) of `rows` rows to packed[t * kLanes + r], zero for the lanes left.
template <std::size_t kLanes>
void pack_transposed_scalar(const float* const (&source)[kLanes], std::size_t rows,
                            std::size_t begin, std::size_t end, double scale, float* packed) {
  for (std::size_t t = begin; t < end; ++t) {
    for (std::size_t r = 0; r < kLanes; ++r) {
      packed[t * kLanes + r] = r < rows ? static_cast<float>(scale * source[r][t]) : 0.0f;
    }
  }
}

template <class Arch>
void pack_keys(const float* x, std::size_t stride, const std::uint32_t* index, std::size_t rows,
               std::size_t dim, float* packed) {
  using Shape = RegisterTile<Arch>;
  using F = Floats<Arch>;
  constexpr std::size_t kWidth = Shape::kWidth;
  for (std::size_t first = 0; first < rows; first += Shape::kPanelWidth) {
    const std::size_t count = rows - first < Shape::kPanelWidth ? rows - first : Shape::kPanelWidth;
    const float* source[Shape::kPanelWidth] = {};
    for (std::size_t r = 0; r < count; ++r) source[r] = row_of(x, stride, index, first + r);
    float* const panel = packed + first * dim;
    std::size_t t = 0;
    if (count == Shape::kPanelWidth) {
      for (; t + kWidth <= dim; t += kWidth) {
        for (std::size_t v = 0; v < Shape::kPanelVectors; ++v) {
          F square[kWidth];
          for (std::size_t r = 0; r < kWidth; ++r) {
            square[r] = F::load_unaligned(source[v * kWidth + r] + t);
          }
          xsimd::transpose(square, square + kWidth);
          for (std::size_t r = 0; r < kWidth; ++r) {
            square[r].store_unaligned(panel + (t + r) * Shape::kPanelWidth + v * kWidth);
          }
        }
      }
    }
    pack_transposed_scalar<Shape::kPanelWidth>(source, count, t, dim, 1.0f, panel);
  }
}

template <class Arch>
void pack_queries(const float* x, std::size_t stride, const std::uint32_t* index, std::size_t rows,
                  std::size_t dim, double scale, float* packed) {
  constexpr std::size_t kGroupRows = RegisterTile<Arch>::kGroupRows;
  for (std::size_t first = 0; first < rows; first += kGroupRows) {
    const std::size_t count = rows - first < kGroupRows ? rows - first : kGroupRows;
    const float* source[kGroupRows] = {};
    for (std::size_t r = 0; r < count; ++r) source[r] = row_of(x, stride, index, first + r);
    pack_transposed_scalar<kGroupRows>(source, count, 0, dim, scale, packed + first * dim);
  }
}

template <class Arch>
void pack_values(const float* x, std::size_t stride, const std::uint32_t* index, std::size_t rows,
                 std::size_t dim, float* packed) {
  using Shape = RegisterTile<Arch>;
  using F = Floats<Arch>;
  for (std::size_t first = 0; first < dim; first += Shape::kPanelWidth) {
    const std::size_t count = dim - first < Shape::kPanelWidth ? dim - first : Shape::kPanelWidth;
    float* out = packed + first * rows;
    for (std::size_t r = 0; r < rows; ++r, out += Shape::kPanelWidth) {
      const float* const row = row_of(x, stride, index, r) + first;
      if (count == Shape::kPanelWidth) {
        for (std::size_t v = 0; v < Shape::kPanelVectors; ++v) {
          F::load_unaligned(row + v * Shape::kWidth).store_unaligned(out + v * Shape::kWidth);
        }
      } else {
        for (std::size_t c = 0; c < Shape::kPanelWidth; ++c) out[c] = c < count ? row[c] : 0.0f;
      }
    }
  }
}

}  // namespace heed::kernels
