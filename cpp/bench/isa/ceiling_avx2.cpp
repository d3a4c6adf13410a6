#include "bench/ceiling_impl.hpp"

namespace heed::bench {

extern const Ceiling kCeilingAvx2 = {"avx2", multiply_adds<xsimd::fma3<xsimd::avx2>>};

}  // namespace heed::bench
