// One attention problem after validation: sizes agree, defaults are filled in, inputs are finite.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "heed/attention.hpp"

namespace heed {

struct Problem {
  AttentionInputs inputs;
  AttentionOptions options;
  AttentionOutputs outputs;
  std::size_t batch = 0, heads = 0, kv_heads = 0;
  std::size_t query_len = 0, key_len = 0, head_dim = 0, value_dim = 0;
  float scale = 0;
  std::int64_t offset = 0;
  /// The magnitudes of the inputs are such that float32 sums could overflow. Rows are then computed
  /// one by one in double (attention/careful.hpp).
  bool careful = false;
  /// One flag a query, [batch, heads, query_len], set where exclude_self left nothing but the query
  /// itself. Owned by the mechanism; empty unless exclude_self.
  std::span<std::uint8_t> self_only;

  std::size_t kv_head(std::size_t head) const { return head / (heads / kv_heads); }
  std::size_t row_index(std::size_t b, std::size_t head, std::size_t query) const {
    return (b * heads + head) * query_len + query;
  }
  /// Position of a query among the keys.
  std::int64_t position(std::size_t query) const {
    return static_cast<std::int64_t>(query) + offset;
  }
  /// Keys that the causal rule and the window leave to a query.
  Range visible(std::size_t query) const {
    const auto length = static_cast<std::int64_t>(key_len);
    const std::int64_t at = position(query);
    std::int64_t begin = 0, end = length;
    if (options.window_left) {
      begin = at - static_cast<std::int64_t>(std::min(*options.window_left, key_len + query_len));
    }
    if (options.window_right) {
      end = std::min(
          end,
          at + static_cast<std::int64_t>(std::min(*options.window_right, key_len + query_len)) + 1);
    }
    if (options.causal) end = std::min(end, at + 1);
    begin = std::clamp<std::int64_t>(begin, 0, length);
    end = std::clamp<std::int64_t>(end, begin, length);
    return {static_cast<std::size_t>(begin), static_cast<std::size_t>(end)};
  }
  /// Some rule beside causal and window may change a logit.
  bool has_rules() const {
    return options.soft_cap > 0 || options.exclude_self || !options.key_mask.empty() ||
           !options.mask.data.empty() || !options.bias.data.empty();
  }
  /// Whether exclude_self left the query nothing but itself; known once it has been attended to.
  bool only_self(std::size_t b, std::size_t head, std::size_t query) const {
    return !self_only.empty() && self_only[row_index(b, head, query)] != 0;
  }
  /// Whether every rule lets the query see the key; a query that is left alone sees itself beside.
  bool sees(std::size_t b, std::size_t head, std::size_t query, std::size_t key) const;
  /// Whether mask, key mask and bias show a key to a query; causal, window and self aside.
  bool shows(std::size_t b, std::size_t head, std::size_t query, std::size_t key) const;
  /// Query-key pairs under all rules, over all batches and heads.
  double visible_pairs() const;
};

/// Largest magnitudes of keys and values found finite before.
struct KeyMagnitudes {
  float key = 0, value = 0;
};

/// Checks sizes, strides, ranges and finiteness, in that order, and fills in `problem`. Keys and
/// values whose magnitudes are given are not read again.
Status resolve_problem(const AttentionInputs& inputs, const AttentionOptions& options,
                       const AttentionOutputs& outputs, Problem& problem,
                       const std::optional<KeyMagnitudes>& checked = {});

/// Fails, naming `field`, when two problems cannot be compared query by query.
Status check_comparable(const Problem& p, const Problem& other, const char* field);

/// Fails when the problem keeps no logsumexp, from which weights are recomputed.
Status check_logsumexp(const Problem& p);

/// Fails unless an axis has the size it must have; `what` says what that is.
Status check_axis(const char* field, std::size_t received, const char* what, std::size_t expected);

/// A view must lie in its span, and all its numbers be finite; the largest magnitude goes out.
Status check_view(const Tensor<const float>& tensor, const char* field, float& largest);

/// The largest magnitude in a view; fails on NaN and infinity with the place it found.
Status check_finite(const Tensor<const float>& tensor, const char* field, float& largest);

}  // namespace heed
