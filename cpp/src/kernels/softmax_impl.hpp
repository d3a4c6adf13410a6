// Online softmax over tiles of logits in log2 units, and the exponential by itself.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/kernel_table.hpp"
#include "kernels/simd.hpp"

namespace heed::kernels {

/// p = exp2(s - shift); returns the sum. Which accumulator an element goes to depends on its place
/// alone, so that hidden elements at the end of a row leave the bits of the sum as they are.
template <class Arch>
inline float exp2_row(const float* s, std::size_t count, float shift, float* p) {
  using F = Floats<Arch>;
  constexpr std::size_t kWidth = F::size, kVectors = 4, kStep = kVectors * kWidth;
  constexpr float kHidden = -std::numeric_limits<float>::infinity();
  const F shifts(shift);
  F sums[kVectors];
  unroll<kVectors>([&](auto v) __attribute__((always_inline)) { sums[v] = F(0.0f); });
  const auto step = [&](const float* from, float* to) __attribute__((always_inline)) {
    F x[kVectors];
    each(
        x, [&](auto v) __attribute__((always_inline)) {
          return F::load_unaligned(from + v * kWidth) - shifts;
        });
    exp2_nonpositive<Arch>(x);
    unroll<kVectors>([&](auto v) __attribute__((always_inline)) {
      x[v].store_unaligned(to + v * kWidth);
      sums[v] += x[v];
    });
  };
  std::size_t c = 0;
  for (; c + kStep <= count; c += kStep) step(s + c, p + c);
  if (c < count) {
    float tail[kStep];
    std::fill(std::copy(s + c, s + count, tail), tail + kStep, kHidden);
    step(tail, tail);
    std::copy_n(tail, count - c, p + c);
  }
  return xsimd::reduce_add((sums[0] + sums[1]) + (sums[2] + sums[3]));
}

template <class Arch>
inline float row_maximum(const float* s, std::size_t count) {
  using F = Floats<Arch>;
  constexpr std::size_t kWidth = F::size;
  float best = -std::numeric_limits<float>::infinity();
  std::size_t c = 0;
  if (count >= 2 * kWidth) {
    F most0 = F::load_unaligned(s), most1 = F::load_unaligned(s + kWidth);
    for (c = 2 * kWidth; c + 2 * kWidth <= count; c += 2 * kWidth) {
      const F next0 = F::load_unaligned(s + c), next1 = F::load_unaligned(s + c + kWidth);
      most0 = xsimd::max(most0, next0);
      most1 = xsimd::max(most1, next1);
    }
    best = xsimd::reduce_max(xsimd::max(most0, most1));
  }
  for (; c < count; ++c) best = s[c] > best ? s[c] : best;
  return best;
}

template <class Arch>
void softmax_update(float* s, std::size_t rows, std::size_t keys, float* maximum, float* sum,
                    float* decay) {
  constexpr float kHidden = -std::numeric_limits<float>::infinity();
  for (std::size_t r = 0; r < rows; ++r, s += kKeyBlock) {
    const float block_maximum = row_maximum<Arch>(s, keys);
    const float old_maximum = maximum[r];
    const float new_maximum = block_maximum > old_maximum ? block_maximum : old_maximum;
    if (new_maximum == kHidden) {  // nothing visible yet: no weight, nothing to decay
      for (std::size_t c = 0; c < keys; ++c) s[c] = 0.0f;
      decay[r] = 1.0f;
      continue;
    }
    decay[r] = new_maximum == old_maximum ? 1.0f : std::exp2(old_maximum - new_maximum);
    maximum[r] = new_maximum;
    sum[r] = sum[r] * decay[r] + exp2_row<Arch>(s, keys, new_maximum, s);
  }
}

template <class Arch>
void exp2_shifted(const float* s, std::size_t count, float shift, float* p) {
  exp2_row<Arch>(s, count, shift, p);
}

}  // namespace heed::kernels
