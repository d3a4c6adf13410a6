// Oracles of the counter-based generator: Philox4x32-10 and the polar method with the C library's
// logarithm.
#pragma once

#include <array>
#include <cstdint>

namespace heed::reference {

/// Salmon et al. 2011, section 3.3: ten rounds, the key raised by the Weyl constants between them.
std::array<std::uint32_t, 4> philox4x32_10(std::array<std::uint32_t, 4> counter,
                                           std::array<std::uint32_t, 2> key);

/// A standard normal number: Marsaglia's polar method on the 52 leading bits of word pairs of
/// counter (index with the attempt in its top byte, stream).
double normal_draw(std::uint64_t seed, std::uint64_t stream, std::uint64_t index);

}  // namespace heed::reference
