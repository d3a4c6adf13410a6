#include "kernels/isa/tables.hpp"
#include "kernels/table_impl.hpp"

namespace heed::kernels {

#if defined(__wasm_relaxed_simd__)
const KernelTable kTableWasm = make_table<xsimd::wasm>("wasm-relaxed");
#else
const KernelTable kTableWasm = make_table<xsimd::wasm>("wasm-simd128");
#endif

}  // namespace heed::kernels
