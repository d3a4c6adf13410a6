// The register-blocked microkernel under both matrix products of attention:
// acc[r][c] += sum_t a(t, r) * b[t][c], and the two products built from it.
#pragma once

#include "kernels/kernel_table.hpp"
#include "kernels/simd.hpp"

namespace heed::kernels {

/// The accumulators of one register tile, row by row.
template <class Arch>
struct Accumulators {
  using Shape = RegisterTile<Arch>;
  static constexpr std::size_t kCount = Shape::kGroupRows * Shape::kPanelVectors;
  static constexpr std::size_t row(std::size_t i) { return i / Shape::kPanelVectors; }
  static constexpr std::size_t column(std::size_t i) {
    return i % Shape::kPanelVectors * Shape::kWidth;
  }
  Floats<Arch> value[kCount];
};

/// acc[r][c] += sum over `steps` t of a[t * kStep + r * kRow] * b[t * panel_width + c]. The strides
/// are constants so that every operand is one base register and an immediate offset.
template <class Arch, std::size_t kStep, std::size_t kRow>
[[gnu::always_inline]] inline void panel_product(const float* a, const float* b, std::size_t steps,
                                                 Accumulators<Arch>& acc) {
  using Shape = RegisterTile<Arch>;
  using F = Floats<Arch>;
  // A counter beside the two pointers would cost an instruction a step.
  for (const float* const end = b + steps * Shape::kPanelWidth; b != end;) {
    F column[Shape::kPanelVectors];
    unroll<Shape::kPanelVectors>([&](auto v) __attribute__((always_inline)) {
      column[v] = F::load_unaligned(b + v * Shape::kWidth);
    });
    unroll<Shape::kGroupRows>([&](auto r) __attribute__((always_inline)) {
      const F factor(a[r * kRow]);
      unroll<Shape::kPanelVectors>([&](auto v) __attribute__((always_inline)) {
        constexpr std::size_t i = r * Shape::kPanelVectors + v;
        acc.value[i] = multiply_add<Arch>(factor, column[v], acc.value[i]);
      });
    });
    a += kStep;
    b += Shape::kPanelWidth;
  }
}

template <class Arch>
void logits(const float* packed_queries, std::size_t groups, const float* packed_keys,
            std::size_t keys, std::size_t dim, float* s) {
  using Shape = RegisterTile<Arch>;
  using Tile = Accumulators<Arch>;
  for (std::size_t c = 0; c < keys; c += Shape::kPanelWidth) {
    for (std::size_t g = 0; g < groups; ++g) {
      Tile acc;
      unroll<Tile::kCount>([&](auto i) __attribute__((always_inline)) {
        acc.value[i] = Floats<Arch>(0.0f);
      });
      panel_product<Arch, Shape::kGroupRows, 1>(packed_queries + g * Shape::kGroupRows * dim,
                                                packed_keys + c * dim, dim, acc);
      float* const out = s + g * Shape::kGroupRows * kKeyBlock + c;
      unroll<Tile::kCount>([&](auto i) __attribute__((always_inline)) {
        acc.value[i].store_unaligned(out + Tile::row(i) * kKeyBlock + Tile::column(i));
      });
    }
  }
}

template <class Arch>
void accumulate(const float* p, std::size_t groups, const float* decay, const float* packed_values,
                std::size_t values_stride, std::size_t keys, std::size_t dim, float* o) {
  using Shape = RegisterTile<Arch>;
  using Tile = Accumulators<Arch>;
  using F = Floats<Arch>;
  const std::size_t panels = (dim + Shape::kPanelWidth - 1) / Shape::kPanelWidth;
  const std::size_t stride = panels * Shape::kPanelWidth;
  for (std::size_t c = 0; c < panels; ++c) {
    const float* const panel = packed_values + c * values_stride * Shape::kPanelWidth;
    for (std::size_t g = 0; g < groups; ++g) {
      float* const out = o + g * Shape::kGroupRows * stride + c * Shape::kPanelWidth;
      const float* const factor = decay + g * Shape::kGroupRows;
      Tile acc;
      unroll<Tile::kCount>([&](auto i) __attribute__((always_inline)) {
        acc.value[i] = F(factor[Tile::row(i)]) *
                       F::load_unaligned(out + Tile::row(i) * stride + Tile::column(i));
      });
      panel_product<Arch, 1, kKeyBlock>(p + g * Shape::kGroupRows * kKeyBlock, panel, keys, acc);
      unroll<Tile::kCount>([&](auto i) __attribute__((always_inline)) {
        acc.value[i].store_unaligned(out + Tile::row(i) * stride + Tile::column(i));
      });
    }
  }
}

}  // namespace heed::kernels
