// Kernels for a single query: decoding, candidate lists, and the hiding of keys already seen.
#pragma once

#include <limits>

#include "kernels/kernel_table.hpp"
#include "kernels/pack_impl.hpp"
#include "kernels/simd.hpp"

namespace heed::kernels {

template <class Arch>
inline float dot(const float* a, const float* b, std::size_t dim) {
  using F = Floats<Arch>;
  constexpr std::size_t kWidth = F::size;
  F sums[4] = {F(0.0f), F(0.0f), F(0.0f), F(0.0f)};
  std::size_t t = 0;
  for (; t + 4 * kWidth <= dim; t += 4 * kWidth) {
#pragma GCC unroll 4
    for (std::size_t v = 0; v < 4; ++v) {
      sums[v] = multiply_add<Arch>(F::load_unaligned(a + t + v * kWidth),
                                   F::load_unaligned(b + t + v * kWidth), sums[v]);
    }
  }
  for (; t + kWidth <= dim; t += kWidth) {
    sums[0] = multiply_add<Arch>(F::load_unaligned(a + t), F::load_unaligned(b + t), sums[0]);
  }
  float result = xsimd::reduce_add((sums[0] + sums[1]) + (sums[2] + sums[3]));
  for (; t < dim; ++t) result += a[t] * b[t];
  return result;
}

template <class Arch>
void row_logits(const float* q, const float* k, std::size_t stride, const std::uint32_t* index,
                std::size_t keys, std::size_t dim, float scale, float* s) {
  for (std::size_t c = 0; c < keys; ++c) {
    s[c] = scale * dot<Arch>(q, row_of(k, stride, index, c), dim);
  }
}

template <class Arch>
void row_accumulate(const float* p, const float* v, std::size_t stride, const std::uint32_t* index,
                    std::size_t keys, std::size_t dim, float decay, float* o) {
  using F = Floats<Arch>;
  constexpr std::size_t kWidth = F::size;
  for (std::size_t t = 0; t < dim; ++t) o[t] *= decay;
  for (std::size_t c = 0; c < keys; ++c) {
    const float* const row = row_of(v, stride, index, c);
    const F factor(p[c]);
    std::size_t t = 0;
    for (; t + kWidth <= dim; t += kWidth) {
      multiply_add<Arch>(factor, F::load_unaligned(row + t), F::load_unaligned(o + t))
          .store_unaligned(o + t);
    }
    for (; t < dim; ++t) o[t] += p[c] * row[t];
  }
}

template <class Arch>
void hide_code_range(float* s, std::size_t keys, std::uint32_t query_code,
                     const std::uint32_t* key_code, std::uint32_t span) {
  for (std::size_t c = 0; c < keys; ++c) {
    if (query_code - key_code[c] <= span) s[c] = -std::numeric_limits<float>::infinity();
  }
}

}  // namespace heed::kernels
