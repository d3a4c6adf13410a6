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

/// Register tile of the microkernels: kGroupRows x kPanelVectors accumulators. 12 independent
/// accumulators hide the latency of a fused multiply-add; with 16 registers 6 x 2 leaves room for
/// two loads and a broadcast, with 32 registers 12 x 2 loads each operand half as often.
template <class Arch>
struct RegisterTile {
  static constexpr std::size_t kWidth = Floats<Arch>::size;
  static constexpr bool kManyRegisters =
#if defined(__AVX512F__) || defined(__aarch64__)
      true;
#else
      false;
#endif
  static constexpr std::size_t kGroupRows = kManyRegisters ? 12 : 6;
  static constexpr std::size_t kPanelVectors = 2;
  static constexpr std::size_t kPanelWidth = kWidth * kPanelVectors;
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

/// 2^x for x <= 0 with a relative error below 2.5e-7; exactly 1 at 0, exactly 0 below 2^-126 and
/// for -infinity. x = n + f, |f| <= 1/2; 2^f by the minimax polynomial of degree 5 in f with
/// constant term 1 (relative error 9.2e-8 before rounding); n is added to the exponent field.
template <class Arch>
inline Floats<Arch> exp2_nonpositive(Floats<Arch> x) {
  using F = Floats<Arch>;
  const F magic(0x1.8p23f);  // adding it rounds to the nearest integer, left in the low bits
  const F shifted = x + magic;
  const F f = x - (shifted - magic);
  F p = multiply_add<Arch>(f, F(1.3264738814614072e-3f), F(9.671516679513277e-3f));
  p = multiply_add<Arch>(f, p, F(5.550733752641092e-2f));
  p = multiply_add<Arch>(f, p, F(2.4022242023989177e-1f));
  p = multiply_add<Arch>(f, p, F(6.931469775690748e-1f));
  p = multiply_add<Arch>(f, p, F(1.0f));
  const Ints<Arch> exponent = xsimd::bitwise_cast<std::int32_t>(shifted) << 23;
  const F result = xsimd::bitwise_cast<float>(xsimd::bitwise_cast<std::int32_t>(p) + exponent);
  return xsimd::select(x >= F(-126.0f), result, F(0.0f));
}

}  // namespace heed::kernels
