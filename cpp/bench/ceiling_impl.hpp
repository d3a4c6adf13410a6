// Body of the floating-point ceiling, generic in the instruction set. Included by isa/ only.
#pragma once

#include "bench/ceiling.hpp"
#include "kernels/simd.hpp"

namespace heed::bench {

/// 13 accumulators: latency times throughput is 8 to 10, and 15 registers, what V8 leaves of 16, hold
/// them next to the operands. Of 8 to 14 it is the fastest in WebAssembly.
template <class Arch>
double multiply_adds(std::size_t steps, float& sink) {
  using F = kernels::Floats<Arch>;
  constexpr std::size_t kAccumulators = 13;
  F acc[kAccumulators];
  kernels::unroll<kAccumulators>([&](auto i) __attribute__((always_inline)) {
    acc[i] = F(static_cast<float>(i));
  });
  const F factor(0.999f), term(sink);
  for (std::size_t step = 0; step < steps; ++step) {
    kernels::unroll<kAccumulators>([&](auto i) __attribute__((always_inline)) {
      acc[i] = kernels::multiply_add<Arch>(acc[i], factor, term);
    });
  }
  F sum(0.0f);
  kernels::unroll<kAccumulators>([&](auto i) __attribute__((always_inline)) { sum += acc[i]; });
  sink = xsimd::reduce_add(sum);
  return 2.0 * static_cast<double>(steps * kAccumulators * F::size);
}

}  // namespace heed::bench
