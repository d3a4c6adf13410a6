// The kernel tables that this build contains, one per instruction set.
#pragma once

#include "kernels/kernel_table.hpp"

namespace heed::kernels {

#if defined(__wasm__)
extern const KernelTable kTableWasm;
#elif defined(__aarch64__)
extern const KernelTable kTableNeon;
#else
extern const KernelTable kTableSse2;
extern const KernelTable kTableAvx2;
extern const KernelTable kTableAvx512;
#endif

}  // namespace heed::kernels
