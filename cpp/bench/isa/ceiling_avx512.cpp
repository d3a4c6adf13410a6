#include "bench/ceiling_impl.hpp"

namespace heed::bench {

extern const Ceiling kCeilingAvx512 = {"avx512", multiply_adds<xsimd::avx512bw>};

}  // namespace heed::bench
