#include "bench/ceiling_impl.hpp"

namespace heed::bench {

extern const Ceiling kCeilingSse2 = {"sse2", multiply_adds<xsimd::sse2>};

}  // namespace heed::bench
