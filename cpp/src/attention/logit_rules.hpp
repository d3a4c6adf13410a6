// What happens to a dot product before the softmax: soft cap, bias, masks, causal, window.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "core/problem.hpp"

namespace heed {

/// log2(e): logits in kernels are in units of log2.
inline constexpr double kLog2E = 1.44269504088896340736;
inline constexpr double kLn2 = 0.69314718055994530942;

/// Natural logsumexp of a running softmax: its maximum in log2 units, its sum relative to that.
inline float natural_logsumexp(float maximum, float sum) {
  return static_cast<float>((maximum + std::log2(static_cast<double>(sum))) * kLn2);
}

/// Whether a query's own position is treated as the option says or shown regardless; the second
/// serves rows that see nothing else.
enum class SelfRule { kAsOptions, kVisible };

/// Applies the rules of one query to `count` scaled dot products s, where s[c] belongs to key
/// position_of(c). `unit` is 1 for natural logits and log2(e) for logits in log2 units. Hidden keys
/// become -infinity; finite results stay finite.
template <class T, class PositionOf>
void apply_rules(const Problem& p, std::size_t batch, std::size_t head, std::size_t query,
                 PositionOf position_of, std::size_t count, T unit, T* s,
                 SelfRule self_rule = SelfRule::kAsOptions) {
  constexpr T kHidden = -std::numeric_limits<T>::infinity();
  constexpr T kMost = std::numeric_limits<T>::max();
  const AttentionOptions& o = p.options;
  if (o.soft_cap > 0) {
    const T cap = static_cast<T>(o.soft_cap) * unit;
    for (std::size_t c = 0; c < count; ++c) s[c] = cap * std::tanh(s[c] / cap);
  }
  if (!o.bias.data.empty()) {
    const float* const bias = o.bias.row(batch, head, query);
    for (std::size_t c = 0; c < count; ++c) {
      const T term = static_cast<T>(bias[position_of(c)]);
      if (term == kHidden) {
        s[c] = kHidden;
        continue;
      }
      const T sum = s[c] + term * unit;
      s[c] = sum > kMost ? kMost : sum < -kMost ? -kMost : sum;
    }
  }
  if (!o.mask.data.empty()) {
    const std::uint8_t* const mask = o.mask.row(batch, head, query);
    for (std::size_t c = 0; c < count; ++c) {
      if (mask[position_of(c)] == 0) s[c] = kHidden;
    }
  }
  if (!o.key_mask.empty()) {
    const std::uint8_t* const mask = o.key_mask.data() + batch * p.key_len;
    for (std::size_t c = 0; c < count; ++c) {
      if (mask[position_of(c)] == 0) s[c] = kHidden;
    }
  }
  if (o.causal || o.window_left || o.window_right) {
    const Range visible = p.visible(query);
    for (std::size_t c = 0; c < count; ++c) {
      const std::size_t j = position_of(c);
      if (j < visible.begin || j >= visible.end) s[c] = kHidden;
    }
  }
  if (o.exclude_self && self_rule == SelfRule::kAsOptions) {
    const std::int64_t self = p.position(query);
    for (std::size_t c = 0; c < count; ++c) {
      if (static_cast<std::int64_t>(position_of(c)) == self) s[c] = kHidden;
    }
  }
}

}  // namespace heed
