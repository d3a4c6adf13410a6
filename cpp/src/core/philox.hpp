// Counter-based random numbers: the value at a counter depends on nothing but seed and counter, so
// draws are the same in any order, on any thread and on any machine.
#pragma once

#include <array>
#include <cstdint>

namespace heed {

/// Philox4x32-10 (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3"): four uniform
/// 32-bit words for a 128-bit counter under a 64-bit key.
std::array<std::uint32_t, 4> philox(std::uint64_t key, std::array<std::uint32_t, 4> counter);

/// A standard normal draw for the pair (stream, index) by Marsaglia's polar method, computed with
/// IEEE additions, multiplications, divisions and square roots alone: the same bits everywhere.
float normal_draw(std::uint64_t seed, std::uint64_t stream, std::uint64_t index);

/// A uniform draw below `bound` (> 0), bias below 2^-32 * bound / 2^32.
std::uint64_t uniform_below(std::uint64_t seed, std::uint64_t stream, std::uint64_t index,
                            std::uint64_t bound);

}  // namespace heed
