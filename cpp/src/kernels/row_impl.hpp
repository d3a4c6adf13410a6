// Kernels for a single query: decoding, candidate lists, and the hiding of keys already seen.
#pragma once

#include <limits>

#include "kernels/kernel_table.hpp"
#include "kernels/pack_impl.hpp"
#include "kernels/simd.hpp"

namespace heed::kernels {

/// s[i] = scale * <q, key[i]> for kKeys keys at once: each load of q serves all of them, and their
/// sums hide each other's latency.
template <class Arch, std::size_t kKeys>
[[gnu::always_inline]] inline void dots(const float* q, const float* const (&key)[kKeys],
                                        std::size_t dim, float scale, float* s) {
  using F = Floats<Arch>;
  constexpr std::size_t kWidth = F::size;
  F even[kKeys], odd[kKeys];
  unroll<kKeys>([&](auto i) __attribute__((always_inline)) { even[i] = odd[i] = F(0.0f); });
  std::size_t t = 0;
  for (; t + 2 * kWidth <= dim; t += 2 * kWidth) {
    const F first = F::load_unaligned(q + t), second = F::load_unaligned(q + t + kWidth);
    unroll<kKeys>([&](auto i) __attribute__((always_inline)) {
      even[i] = multiply_add<Arch>(first, F::load_unaligned(key[i] + t), even[i]);
      odd[i] = multiply_add<Arch>(second, F::load_unaligned(key[i] + t + kWidth), odd[i]);
    });
  }
  if (t + kWidth <= dim) {
    const F first = F::load_unaligned(q + t);
    unroll<kKeys>([&](auto i) __attribute__((always_inline)) {
      even[i] = multiply_add<Arch>(first, F::load_unaligned(key[i] + t), even[i]);
    });
    t += kWidth;
  }
  unroll<kKeys>([&](auto i) __attribute__((always_inline)) {
    float sum = xsimd::reduce_add(even[i] + odd[i]);
    for (std::size_t rest = t; rest < dim; ++rest) sum += q[rest] * key[i][rest];
    s[i] = scale * sum;
  });
}

template <class Arch>
void row_logits(const float* q, const float* k, std::size_t stride, const std::uint32_t* index,
                std::size_t keys, std::size_t dim, float scale, float* s) {
  std::size_t c = 0;
  for (; c + 4 <= keys; c += 4) {
    const float* const key[4] = {row_of(k, stride, index, c), row_of(k, stride, index, c + 1),
                                 row_of(k, stride, index, c + 2), row_of(k, stride, index, c + 3)};
    dots<Arch>(q, key, dim, scale, s + c);
  }
  for (; c < keys; ++c) {
    const float* const key[1] = {row_of(k, stride, index, c)};
    dots<Arch>(q, key, dim, scale, s + c);
  }
}

/// Columns [0, kVectors * width) of row_accumulate, which stay in registers over all keys.
template <class Arch, std::size_t kVectors>
[[gnu::always_inline]] inline void accumulate_columns(const float* p, const float* v,
                                                      std::size_t stride,
                                                      const std::uint32_t* index, std::size_t keys,
                                                      float decay, float* o) {
  using F = Floats<Arch>;
  constexpr std::size_t kWidth = F::size;
  F acc[kVectors];
  unroll<kVectors>([&](auto i) __attribute__((always_inline)) {
    acc[i] = F(decay) * F::load_unaligned(o + i * kWidth);
  });
  for (std::size_t c = 0; c < keys; ++c) {
    const float* const row = row_of(v, stride, index, c);
    const F factor(p[c]);
    unroll<kVectors>([&](auto i) __attribute__((always_inline)) {
      acc[i] = multiply_add<Arch>(factor, F::load_unaligned(row + i * kWidth), acc[i]);
    });
  }
  unroll<kVectors>([&](auto i)
                       __attribute__((always_inline)) { acc[i].store_unaligned(o + i * kWidth); });
}

template <class Arch>
void row_accumulate(const float* p, const float* v, std::size_t stride, const std::uint32_t* index,
                    std::size_t keys, std::size_t dim, float decay, float* o) {
  constexpr std::size_t kWidth = Floats<Arch>::size, kVectors = 8;
  std::size_t t = 0;
  for (; t + kVectors * kWidth <= dim; t += kVectors * kWidth) {
    accumulate_columns<Arch, kVectors>(p, v + t, stride, index, keys, decay, o + t);
  }
  for (; t + kWidth <= dim; t += kWidth) {
    accumulate_columns<Arch, 1>(p, v + t, stride, index, keys, decay, o + t);
  }
  for (; t < dim; ++t) {
    float sum = decay * o[t];
    for (std::size_t c = 0; c < keys; ++c) sum += p[c] * row_of(v, stride, index, c)[t];
    o[t] = sum;
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
