// The argmax of a cross-polytope hash, lane by lane.
#pragma once

#include <limits>

#include "kernels/simd.hpp"

namespace heed::kernels {

/// The largest and second largest |y| so far in each lane, and the bucket of the largest: column c
/// for +y_c, width + c for -y_c. Lanes may hold columns of one vector or one column of many.
template <class Arch>
struct HashLanes {
  Floats<Arch> best = Floats<Arch>(-std::numeric_limits<float>::infinity());
  Floats<Arch> second = best;
  Ints<Arch> bucket = Ints<Arch>(std::numeric_limits<std::int32_t>::max());

  /// Takes |y| and the bucket of the end that y lies at.
  [[gnu::always_inline]] void take(Floats<Arch> size, Ints<Arch> end) {
    // At a tie the smaller bucket wins: argmax takes the first.
    const auto tie = (size == best) & xsimd::batch_bool_cast<float>(end < bucket);
    const auto wins = (size > best) | tie;
    second = xsimd::max(second, xsimd::min(best, size));
    bucket = xsimd::select(xsimd::batch_bool_cast<std::int32_t>(wins), end, bucket);
    best = xsimd::max(best, size);
  }
};

/// The bucket of y in a column.
template <class Arch>
[[gnu::always_inline]] inline Ints<Arch> hash_end(Floats<Arch> y, Ints<Arch> column,
                                                  Ints<Arch> width) {
  const auto negative = xsimd::batch_bool_cast<std::int32_t>(y < Floats<Arch>(0.0f));
  return xsimd::select(negative, column + width, column);
}

/// Best minus second best of [y; -y]: with one column the runner-up is the other end of its axis.
inline float hash_margin(float best, float second, std::size_t width) {
  return width == 1 ? 2 * best : best - second;
}

}  // namespace heed::kernels
