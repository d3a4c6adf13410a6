#include "kernels/isa/tables.hpp"
#include "kernels/table_impl.hpp"

namespace heed::kernels {

const KernelTable kTableAvx512 = make_table<xsimd::avx512bw>("avx512");

}  // namespace heed::kernels
