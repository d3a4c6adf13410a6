// The register-blocked microkernel under both matrix products of attention:
// acc[r][c] += sum_t a(t, r) * b[t][c], and the two products built from it.
#pragma once

#include <limits>

#include "kernels/kernel_table.hpp"
#include "kernels/simd.hpp"

namespace heed::kernels {

/// One register tile. a(t, r) = a[t * kStep + r * kRow]; b has panel_width floats a step. The
/// strides are constants so that every operand is one base register and an immediate offset.
template <class Arch, std::size_t kStep, std::size_t kRow>
[[gnu::always_inline]] inline void panel_product(
    const float* a, const float* b, std::size_t steps,
    Floats<Arch> (&acc)[RegisterTile<Arch>::kGroupRows][RegisterTile<Arch>::kPanelVectors]) {
  using Shape = RegisterTile<Arch>;
  using F = Floats<Arch>;
  for (std::size_t t = 0; t < steps; ++t) {
    F column[Shape::kPanelVectors];
#pragma GCC unroll 4
    for (std::size_t v = 0; v < Shape::kPanelVectors; ++v) {
      column[v] = F::load_unaligned(b + v * Shape::kWidth);
    }
#pragma GCC unroll 16
    for (std::size_t r = 0; r < Shape::kGroupRows; ++r) {
      const F factor(a[r * kRow]);
#pragma GCC unroll 4
      for (std::size_t v = 0; v < Shape::kPanelVectors; ++v) {
        acc[r][v] = multiply_add<Arch>(factor, column[v], acc[r][v]);
      }
    }
    a += kStep;
    b += Shape::kPanelWidth;
  }
}

template <class Arch>
void logits(const float* packed_queries, std::size_t groups, const float* packed_keys,
            std::size_t keys, std::size_t dim, float* s) {
  using Shape = RegisterTile<Arch>;
  using F = Floats<Arch>;
  for (std::size_t c = 0; c < keys; c += Shape::kPanelWidth) {
    const float* const panel = packed_keys + c * dim;
    for (std::size_t g = 0; g < groups; ++g) {
      F acc[Shape::kGroupRows][Shape::kPanelVectors];
#pragma GCC unroll 16
      for (auto& row : acc) {
#pragma GCC unroll 4
        for (F& x : row) x = F(0.0f);
      }
      panel_product<Arch, Shape::kGroupRows, 1>(packed_queries + g * Shape::kGroupRows * dim, panel,
                                                dim, acc);
      float* const out = s + g * Shape::kGroupRows * kKeyBlock + c;
#pragma GCC unroll 16
      for (std::size_t r = 0; r < Shape::kGroupRows; ++r) {
#pragma GCC unroll 4
        for (std::size_t v = 0; v < Shape::kPanelVectors; ++v) {
          acc[r][v].store_unaligned(out + r * kKeyBlock + v * Shape::kWidth);
        }
      }
    }
  }
}

template <class Arch>
void accumulate(const float* p, std::size_t groups, const float* decay, const float* packed_values,
                std::size_t values_stride, std::size_t keys, std::size_t dim, float* o) {
  using Shape = RegisterTile<Arch>;
  using F = Floats<Arch>;
  const std::size_t panels = (dim + Shape::kPanelWidth - 1) / Shape::kPanelWidth;
  const std::size_t o_stride = panels * Shape::kPanelWidth;
  for (std::size_t c = 0; c < panels; ++c) {
    const float* const panel = packed_values + c * values_stride * Shape::kPanelWidth;
    for (std::size_t g = 0; g < groups; ++g) {
      float* const out = o + g * Shape::kGroupRows * o_stride + c * Shape::kPanelWidth;
      F acc[Shape::kGroupRows][Shape::kPanelVectors];
#pragma GCC unroll 16
      for (std::size_t r = 0; r < Shape::kGroupRows; ++r) {
        const F factor(decay[g * Shape::kGroupRows + r]);
#pragma GCC unroll 4
        for (std::size_t v = 0; v < Shape::kPanelVectors; ++v) {
          acc[r][v] = factor * F::load_unaligned(out + r * o_stride + v * Shape::kWidth);
        }
      }
      panel_product<Arch, 1, kKeyBlock>(p + g * Shape::kGroupRows * kKeyBlock, panel, keys, acc);
#pragma GCC unroll 16
      for (std::size_t r = 0; r < Shape::kGroupRows; ++r) {
#pragma GCC unroll 4
        for (std::size_t v = 0; v < Shape::kPanelVectors; ++v) {
          acc[r][v].store_unaligned(out + r * o_stride + v * Shape::kWidth);
        }
      }
    }
  }
}

}  // namespace heed::kernels
