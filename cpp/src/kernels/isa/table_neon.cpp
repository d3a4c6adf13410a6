#include "kernels/isa/tables.hpp"
#include "kernels/table_impl.hpp"

namespace heed::kernels {

const KernelTable kTableNeon = make_table<xsimd::neon64>("neon");

}  // namespace heed::kernels
