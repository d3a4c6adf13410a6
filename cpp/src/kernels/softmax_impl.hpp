// Online softmax over tiles of logits in log2 units, and the exponential by itself.
#pragma once

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
  constexpr std::size_t kWidth = F::size;
  constexpr float kHidden = -std::numeric_limits<float>::infinity();
  const F shifts(shift);
  F sums[2] = {F(0.0f), F(0.0f)};
  std::size_t c = 0;
  for (; c + 2 * kWidth <= count; c += 2 * kWidth) {
#pragma GCC unroll 2
    for (std::size_t v = 0; v < 2; ++v) {
      const F x = exp2_nonpositive<Arch>(F::load_unaligned(s + c + v * kWidth) - shifts);
      x.store_unaligned(p + c + v * kWidth);
      sums[v] += x;
    }
  }
  for (; c < count; c += kWidth) {
    const std::size_t left = count - c < kWidth ? count - c : kWidth;
    float tail[kWidth];
    for (std::size_t i = 0; i < kWidth; ++i) tail[i] = i < left ? s[c + i] : kHidden;
    const F x = exp2_nonpositive<Arch>(F::load_unaligned(tail) - shifts);
    x.store_unaligned(tail);
    for (std::size_t i = 0; i < left; ++i) p[c + i] = tail[i];
    sums[c / kWidth % 2] += x;
  }
  return xsimd::reduce_add(sums[0] + sums[1]);
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
