#include "kernels/isa/tables.hpp"
#include "kernels/table_impl.hpp"

namespace heed::kernels {

const KernelTable kTableAvx2 = make_table<xsimd::fma3<xsimd::avx2>>("avx2");

}  // namespace heed::kernels
