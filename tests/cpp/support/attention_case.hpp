// Attention problems that own their data, run through the library and held against the oracle.
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "golden_attention.hpp"
#include "heed/attention.hpp"
#include "reference/attention.hpp"
#include "reference/random.hpp"

namespace heed::tests {

using golden::any_instruction_set;
using golden::InstructionSetScope;
using golden::require_ok;

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();
inline constexpr float kMost = std::numeric_limits<float>::max();

struct Sizes {
  std::size_t batch = 1, heads = 1, kv_heads = 1, query_len = 1, key_len = 1, head_dim = 4,
              value_dim = 4;
};

/// Query, key and value, dense, and options that point into the case's own masks.
struct AttentionCase {
  Sizes sizes;
  std::vector<float> query, key, value, bias_data;
  std::vector<std::uint8_t> mask_data, key_mask_data;
  AttentionOptions options;

  AttentionCase(const Sizes& s, reference::Random& random, double spread = 1)
      : sizes(s),
        query(random.normals(s.batch * s.heads * s.query_len * s.head_dim, spread)),
        key(random.normals(s.batch * s.kv_heads * s.key_len * s.head_dim, spread)),
        value(random.normals(s.batch * s.kv_heads * s.key_len * s.value_dim)) {}
  AttentionCase(const AttentionCase&) = delete;
  AttentionCase& operator=(const AttentionCase&) = delete;

  AttentionInputs inputs() const {
    const Sizes& s = sizes;
    return {dense(std::span<const float>(query), s.batch, s.heads, s.query_len, s.head_dim),
            dense(std::span<const float>(key), s.batch, s.kv_heads, s.key_len, s.head_dim),
            dense(std::span<const float>(value), s.batch, s.kv_heads, s.key_len, s.value_dim)};
  }
  std::size_t rows() const { return sizes.batch * sizes.heads * sizes.query_len; }

  void hide_keys(reference::Random& random, double share) {
    key_mask_data.resize(sizes.batch * sizes.key_len);
    for (auto& m : key_mask_data) m = random.chance(share) ? 0 : 1;
    options.key_mask = key_mask_data;
  }
  void hide_pairs(reference::Random& random, double share, bool batch, bool heads, bool rows_) {
    const std::size_t b = batch ? sizes.batch : 1, h = heads ? sizes.heads : 1,
                      r = rows_ ? sizes.query_len : 1;
    mask_data.resize(b * h * r * sizes.key_len);
    for (auto& m : mask_data)
      m = random.chance(share) ? 0 : static_cast<std::uint8_t>(random.size(1, 255));
    options.mask = dense(std::span<const std::uint8_t>(mask_data), b, h, r, sizes.key_len);
  }
  void add_bias(reference::Random& random, double hidden, bool batch, bool heads, bool rows_) {
    const std::size_t b = batch ? sizes.batch : 1, h = heads ? sizes.heads : 1,
                      r = rows_ ? sizes.query_len : 1;
    bias_data = random.normals(b * h * r * sizes.key_len, 2);
    for (auto& x : bias_data) x = random.chance(hidden) ? -kInfinity : x;
    options.bias = dense(std::span<const float>(bias_data), b, h, r, sizes.key_len);
  }
};

struct Outcome {
  std::vector<float> context, logsumexp;
  bool operator==(const Outcome& other) const {
    // Bits, so that NaN would equal itself and -0 differ from 0.
    const auto same = [](const std::vector<float>& a, const std::vector<float>& b) {
      return a.size() == b.size() &&
             (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
    };
    return same(context, other.context) && same(logsumexp, other.logsumexp);
  }
};

/// Results filled with NaN first, so that what is not written is noticed.
inline Outcome blank(const AttentionInputs& inputs) {
  const std::size_t rows = inputs.query.batch * inputs.query.heads * inputs.query.rows;
  return {std::vector<float>(rows * inputs.value.columns, NAN), std::vector<float>(rows, NAN)};
}
inline AttentionOutputs views(Outcome& outcome, const AttentionInputs& inputs) {
  const auto& q = inputs.query;
  return {dense(std::span<float>(outcome.context), q.batch, q.heads, q.rows, inputs.value.columns),
          outcome.logsumexp};
}

inline Outcome run(const AttentionInputs& inputs, const AttentionOptions& options) {
  Outcome outcome = blank(inputs);
  require_ok(attention(inputs, options, views(outcome, inputs)));
  return outcome;
}

/// Every context and logsumexp within the bounds of reference::tolerance().
inline void require_close(const Outcome& got, const reference::Attended& expected,
                          std::size_t head_dim, double largest_value) {
  REQUIRE(got.logsumexp.size() == expected.logsumexp.size());
  REQUIRE(got.context.size() == expected.context.size());
  std::ostringstream wrong;
  for (std::size_t row = 0; row < expected.logsumexp.size(); ++row) {
    const auto bound = reference::tolerance(expected, row, head_dim);
    const double want = expected.logsumexp[row], have = got.logsumexp[row];
    const bool hidden = want == -std::numeric_limits<double>::infinity();
    if (hidden ? have != want : !(std::abs(have - want) <= bound.logit)) {
      wrong << "logsumexp of row " << row << ": " << have << ", expected " << want << " +- "
            << bound.logit << "\n";
    }
    const double floor = bound.underflow * static_cast<double>(expected.key_len) * largest_value +
                         std::numeric_limits<float>::min();
    for (std::size_t t = 0; t < expected.value_dim; ++t) {
      const std::size_t at = row * expected.value_dim + t;
      const double allowed = hidden ? 0 : bound.weight * expected.absolute_context[at] + floor;
      if (!(std::abs(got.context[at] - expected.context[at]) <= allowed)) {
        wrong << "context [" << row << ", " << t << "]: " << got.context[at] << ", expected "
              << expected.context[at] << " +- " << allowed << "\n";
      }
    }
    if (wrong.tellp() > 2000) break;
  }
  INFO(wrong.str());
  REQUIRE(wrong.str().empty());
}

inline double largest_magnitude(const std::vector<float>& values) {
  double largest = 0;
  for (const float x : values) largest = std::max(largest, std::abs(static_cast<double>(x)));
  return largest;
}

inline void require_oracle(const AttentionCase& c) {
  require_close(run(c.inputs(), c.options), reference::attention(c.inputs(), c.options),
                c.sizes.head_dim, largest_magnitude(c.value));
}

inline std::string describe(const Sizes& s) {
  std::ostringstream text;
  text << "batch " << s.batch << " heads " << s.heads << "/" << s.kv_heads << " query_len "
       << s.query_len << " key_len " << s.key_len << " head_dim " << s.head_dim << " value_dim "
       << s.value_dim;
  return text.str();
}

}  // namespace heed::tests
