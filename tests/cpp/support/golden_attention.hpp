// What the golden tests share: options from a golden case, attention with all its weights, and the
// comparison of arrays.
#pragma once

#include <algorithm>
#include <catch2/generators/catch_generators_range.hpp>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "golden_file.hpp"
#include "heed/attention.hpp"

namespace heed::golden {

/// Generator: the running test case runs once for each instruction set.
inline const char* any_instruction_set() {
  const auto names = available_instruction_sets();
  return GENERATE_REF(from_range(names.begin(), names.end()));
}

/// Runs the rest of a scope on one instruction set.
class InstructionSetScope {
 public:
  explicit InstructionSetScope(const char* name) { REQUIRE(use_instruction_set(name).ok()); }
  ~InstructionSetScope() { (void)use_instruction_set(previous_.c_str()); }
  InstructionSetScope(const InstructionSetScope&) = delete;
  InstructionSetScope& operator=(const InstructionSetScope&) = delete;

 private:
  std::string previous_ = instruction_set();
};

/// Fails with the status' own sentence.
inline void require_ok(const Status& status) {
  INFO(status.message());
  REQUIRE(status.ok());
}

/// The view of a [batch, heads, rows, columns] array.
inline Tensor<const float> view(const Array& a) {
  return dense(a.span(), a.dim(0), a.dim(1), a.dim(2), a.dim(3));
}

/// The options a golden case states, and the storage behind their masks.
struct StatedOptions {
  explicit StatedOptions(const Case& c) {
    if (c.has("scale")) options.scale = c["scale"].scalar();
    if (c.has("soft_cap")) options.soft_cap = c["soft_cap"].scalar();
    if (c.has("causal_offset")) {
      options.causal = true;
      options.causal_offset = static_cast<std::int64_t>(c["causal_offset"].scalar());
    }
    if (c.has("bias")) options.bias = view(c["bias"]);
    if (c.has("mask")) {
      const Array& a = c["mask"];
      mask.assign(a.data.begin(), a.data.end());
      options.mask =
          dense(std::span<const std::uint8_t>(mask), a.dim(0), a.dim(1), a.dim(2), a.dim(3));
    }
    if (c.has("key_mask")) {
      key_mask.assign(c["key_mask"].data.begin(), c["key_mask"].data.end());
      options.key_mask = key_mask;
    }
  }
  StatedOptions(const StatedOptions&) = delete;
  StatedOptions& operator=(const StatedOptions&) = delete;

  std::vector<std::uint8_t> mask, key_mask;
  AttentionOptions options;
};

/// context dense [batch, query_len, heads, value_dim] if rows_first, else [batch, heads, query_len,
/// value_dim]; logsumexp [batch, heads, query_len]; weights [batch, heads, query_len, key_len].
struct Attended {
  std::vector<float> context, logsumexp, weights;
};

inline Attended attend(const AttentionInputs& inputs, const AttentionOptions& options,
                       bool rows_first = false) {
  const auto& [query, key, value] = inputs;
  const std::size_t batch = query.batch, heads = query.heads, rows = query.rows;
  Attended result;
  result.context.resize(batch * heads * rows * value.columns);
  result.logsumexp.resize(batch * heads * rows);
  result.weights.resize(batch * heads * rows * key.rows);
  const std::span<float> context = result.context;
  const Tensor<float> context_view =
      rows_first ? dense_rows_first(context, batch, heads, rows, value.columns)
                 : dense(context, batch, heads, rows, value.columns);
  Attention attention;
  require_ok(attention.prepare(inputs, options, {context_view, result.logsumexp}));
  while (!attention.done()) require_ok(attention.advance(1));
  std::span<float> rest = result.weights;
  for (std::size_t b = 0; b < batch; ++b) {
    for (std::size_t h = 0; h < heads; ++h) {
      const WeightTile tile = {.batch = b, .head = h, .rows = {0, rows}, .columns = {0, key.rows}};
      const std::span<float> out = rest.first(rows * key.rows);
      require_ok(attention.weights(tile, {.peak = out, .mean = {}}));
      rest = rest.subspan(out.size());
    }
  }
  return result;
}

/// NaN, which compares with nothing, is worse than any number.
inline float largest_difference(std::span<const float> a, std::span<const float> b) {
  REQUIRE(a.size() == b.size());
  float worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const float difference = std::abs(a[i] - b[i]);
    if (!(difference <= worst)) worst = difference;
    if (std::isnan(worst)) break;
  }
  return worst;
}

inline float largest_magnitude(std::span<const float> a) {
  float largest = 0;
  for (const float x : a) largest = std::max(largest, std::abs(x));
  return largest;
}

inline float largest_norm(const Tensor<const float>& x) {
  float largest = 0;
  for (std::size_t b = 0; b < x.batch; ++b) {
    for (std::size_t h = 0; h < x.heads; ++h) {
      for (std::size_t i = 0; i < x.rows; ++i) {
        const float* const row = x.row(b, h, i);
        largest = std::max(largest, std::inner_product(row, row + x.columns, row, 0.0f));
      }
    }
  }
  return std::sqrt(largest);
}

/// Bound on the error of a softmax weight in float32. A logit of size |q| |k| is wrong by some
/// units in its last place; exp turns that into a relative error, of the numerator and of the sum.
/// The 8 are for exp, the sum and the quotient.
inline float weight_tolerance(const AttentionInputs& inputs, const AttentionOptions& options) {
  const float scale =
      std::abs(options.scale.value_or(1 / std::sqrt(static_cast<float>(inputs.query.columns))));
  const float logit = scale * largest_norm(inputs.query) * largest_norm(inputs.key);
  return std::numeric_limits<float>::epsilon() * (2 * logit + 8);
}

}  // namespace heed::golden
