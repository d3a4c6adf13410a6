// Attention of a single query in double precision: for inputs whose magnitudes would overflow
// float32 sums, and for read-outs of single rows. Slow and exact, over any list of keys.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>

#include "core/buffer.hpp"
#include "core/problem.hpp"

namespace heed {

/// Whether the last place of a float32 logsumexp is too coarse to normalise single weights by: half
/// of it, 2^-24 of the magnitude, is a relative error of the weight, here beyond 2^-14.
inline bool is_coarse(float logsumexp) {
  return std::isfinite(logsumexp) && std::abs(logsumexp) > 1024.0f;
}

/// One query's softmax. weights[c] belongs to keys[c], or to key c when keys is empty and all of
/// key_len are meant; weights has as many elements. Returns the logsumexp in double, -infinity when
/// nothing is visible. A query under exclude_self that sees no other listed key attends to itself
/// if it is listed and otherwise visible.
double careful_weights(const Problem& p, std::size_t batch, std::size_t head, std::size_t query,
                       std::span<const std::uint32_t> keys, std::span<double> weights);

/// Writes context and logsumexp of the query into the problem's outputs. logsumexp saturates at the
/// largest float32. weights is scratch of key_len elements.
void careful_attend(const Problem& p, std::size_t batch, std::size_t head, std::size_t query,
                    std::span<const std::uint32_t> keys, std::span<double> weights);

}  // namespace heed
