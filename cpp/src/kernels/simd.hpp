// The few things the kernels need that xsimd leaves to its user.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <xsimd/xsimd.hpp>

namespace heed::kernels {

template <class Arch>
using Floats = xsimd::batch<float, Arch>;
template <class Arch>
using Ints = xsimd::batch<std::int32_t, Arch>;

/// Register tile of the microkernels: kGroupRows x kPanelVectors accumulators, beside which two
/// loads and a broadcast need registers. 10 independent accumulators hide the latency of a
/// multiply-add. Of WebAssembly's 16 registers V8 keeps one, and without a fused multiply-add the
/// product needs another: 6 x 2 spills there. With 32 registers 12 x 2 loads each operand half as
/// often. Measured in web/docs/decisions/0002-exact-attention-tiles.md.
template <class Arch>
struct RegisterTile {
  static constexpr std::size_t kWidth = Floats<Arch>::size;
#if defined(__AVX512F__) || defined(__aarch64__)
  static constexpr std::size_t kGroupRows = 12, kTileGroups = 4;
#elif defined(__wasm__)
  static constexpr std::size_t kGroupRows = 5, kTileGroups = 8;
#else
  static constexpr std::size_t kGroupRows = 6, kTileGroups = 8;
#endif
  static constexpr std::size_t kPanelVectors = 2;
  static constexpr std::size_t kPanelWidth = kWidth * kPanelVectors;
  /// Queries of a tile: their logits against a block of keys, 20 to 24 KB, stay in a first-level
  /// cache of 32 KB.
  static constexpr std::size_t kTileRows = kGroupRows * kTileGroups;
};

/// body(constant 0), ..., body(constant kCount - 1). Loops over registers are written with it
/// because GCC keeps an array in registers only when no loop ever indexed it.
template <std::size_t kCount, class Body>
[[gnu::always_inline]] inline void unroll(Body body) {
  [&]<std::size_t... kIndex>(std::index_sequence<kIndex...>) __attribute__((always_inline)) {
    (body(std::integral_constant<std::size_t, kIndex>{}), ...);
  }
  (std::make_index_sequence<kCount>{});
}

/// a * b + c, fused where the instruction set can. xsimd's WebAssembly fma stays a multiply and an
/// add even in relaxed builds.
template <class Arch>
inline Floats<Arch> multiply_add(Floats<Arch> a, Floats<Arch> b, Floats<Arch> c) {
#if defined(__wasm_relaxed_simd__)
  return wasm_f32x4_relaxed_madd(a, b, c);
#else
  return xsimd::fma(a, b, c);
#endif
}

/// Keeps the compiler from moving the computation of x behind what follows. LLVM writes WebAssembly
/// expression by expression, and V8 keeps that order: interleaved chains would become one long
/// chain after the other.
template <class F>
[[gnu::always_inline]] inline void compute_here([[maybe_unused]] F& x) {
#if defined(__wasm__)
  v128_t value = x;
  asm volatile("" : "+r"(value));
  x = value;
#endif
}

/// x[i] = body(i) for all i, in this order.
template <std::size_t kCount, class F, class Body>
[[gnu::always_inline]] inline void each(F (&x)[kCount], Body body) {
  unroll<kCount>([&](auto i) __attribute__((always_inline)) {
    x[i] = body(i);
    compute_here(x[i]);
  });
}

/// x[i] = 2^x[i] for x <= 0, kCount vectors side by side because one alone waits for its own
/// results. Relative error below 2.5e-7 from -126 to 0, exactly 1 at 0; exactly 0 up to -127 and
/// for -infinity; in between at most 2^-126. x = n + f, |f| <= 1/2; 2^f by the minimax polynomial
/// of degree 5 in f with constant term 1 (relative error 9.2e-8 before rounding), in Estrin's
/// order; n is added to the exponent field. At -127 the fields of 1 and n cancel to 0.
template <class Arch, std::size_t kCount>
[[gnu::always_inline]] inline void exp2_nonpositive(Floats<Arch> (&x)[kCount]) {
  using F = Floats<Arch>;
  constexpr float kSmallest = -127.0f;
  const F magic(0x1.8p23f);  // adding it rounds to the nearest integer, left in the low bits
  F shifted[kCount], f[kCount], square[kCount], low[kCount], middle[kCount], p[kCount];
  each(
      x, [&](auto i) __attribute__((always_inline)) { return xsimd::max(x[i], F(kSmallest)); });
  each(
      shifted, [&](auto i) __attribute__((always_inline)) { return x[i] + magic; });
  each(
      f, [&](auto i) __attribute__((always_inline)) { return shifted[i] - magic; });
  each(
      f, [&](auto i) __attribute__((always_inline)) { return x[i] - f[i]; });
  each(
      square, [&](auto i) __attribute__((always_inline)) { return f[i] * f[i]; });
  each(
      p, [&](auto i) __attribute__((always_inline)) {
        return multiply_add<Arch>(F(1.3264738814614072e-3f), f[i], F(9.671516679513277e-3f));
      });
  each(
      middle, [&](auto i) __attribute__((always_inline)) {
        return multiply_add<Arch>(F(5.550733752641092e-2f), f[i], F(2.4022242023989177e-1f));
      });
  each(
      low, [&](auto i) __attribute__((always_inline)) {
        return multiply_add<Arch>(F(6.931469775690748e-1f), f[i], F(1.0f));
      });
  each(
      p, [&](auto i) __attribute__((always_inline)) {
        return multiply_add<Arch>(p[i], square[i], middle[i]);
      });
  each(
      p, [&](auto i) __attribute__((always_inline)) {
        return multiply_add<Arch>(p[i], square[i], low[i]);
      });
  each(
      x, [&](auto i) __attribute__((always_inline)) {
        const Ints<Arch> exponent = xsimd::bitwise_cast<std::int32_t>(shifted[i]) << 23;
        return xsimd::bitwise_cast<float>(xsimd::bitwise_cast<std::int32_t>(p[i]) + exponent);
      });
}

}  // namespace heed::kernels
