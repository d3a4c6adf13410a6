#include "kernels/isa/tables.hpp"
#include "kernels/table_impl.hpp"

namespace heed::kernels {

const KernelTable kTableSse2 = make_table<xsimd::sse2>("sse2");

}  // namespace heed::kernels
