// Exported by itself: a WebAssembly file of one function that the JavaScript benchmarks call.
#include "bench/ceiling_impl.hpp"

/// Floating-point operations done in `steps` steps; call it often, so that the engine optimises it.
extern "C" double heed_multiply_adds(std::size_t steps) {
  static float sink = 1e-3f;
  return heed::bench::multiply_adds<xsimd::wasm>(steps, sink);
}
