#include "bench/ceiling_impl.hpp"

namespace heed::bench {

extern const Ceiling kCeilingNeon = {"neon", multiply_adds<xsimd::neon64>};

}  // namespace heed::bench
