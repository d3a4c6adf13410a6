// Exported by itself: a WebAssembly file of two functions that the JavaScript benchmarks call.
#include "bench/ceiling_impl.hpp"

/// Floating-point operations done in `steps` steps; call it often, so that the engine optimises it.
extern "C" double heed_multiply_adds(std::size_t steps) {
  static float sink = 1e-3f;
  return heed::bench::multiply_adds<xsimd::wasm>(steps, sink);
}

/// Reads 64 MB, more than the caches of one socket hold, and returns the floats read.
extern "C" double heed_read_floats() {
  using F = heed::kernels::Floats<xsimd::wasm>;
  constexpr std::size_t kFloats = std::size_t{16} << 20, kSums = 8;
  static float data[kFloats];
  static float sink;
  // Memory never written is one page of zeros, which a cache holds.
  if (data[1] == 0) {
    for (float& x : data) x = 1e-30f;
  }
  F sums[kSums];
  heed::kernels::unroll<kSums>([&](auto i) __attribute__((always_inline)) { sums[i] = F(0.0f); });
  for (const float* at = data; at != data + kFloats; at += kSums * F::size) {
    heed::kernels::unroll<kSums>([&](auto i) __attribute__((always_inline)) {
      sums[i] += F::load_unaligned(at + i * F::size);
    });
  }
  heed::kernels::unroll<kSums>([&](auto i) __attribute__((always_inline)) {
    sink += xsimd::reduce_add(sums[i]);
  });
  return kFloats;
}
