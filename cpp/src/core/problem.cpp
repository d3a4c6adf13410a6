#include "core/problem.hpp"

#include <bit>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <utility>

#include "core/checked.hpp"
#include "core/failure.hpp"

namespace heed {
namespace {

std::string number(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

template <class T>
std::string shape_of(const Tensor<T>& t) {
  return "[" + std::to_string(t.batch) + ", " + std::to_string(t.heads) + ", " +
         std::to_string(t.rows) + ", " + std::to_string(t.columns) + "]";
}

/// The last element that the strides reach must lie in the span.
template <class T>
Status check_extent(const Tensor<T>& t, const char* field) {
  if (t.batch == 0 || t.heads == 0 || t.rows == 0 || t.columns == 0) return {};
  std::size_t batch = 0, heads = 0, rows = 0, extent = 0;
  if (!checked_product({t.batch - 1, t.batch_stride}, batch) ||
      !checked_product({t.heads - 1, t.head_stride}, heads) ||
      !checked_product({t.rows - 1, t.row_stride}, rows) ||
      !checked_sum({batch, heads, rows, t.columns}, extent)) {
    return {ErrorCode::kOverflow, field, "shape " + shape_of(t),
            "sizes and strides whose product fits the address space"};
  }
  if (extent > t.data.size()) {
    return invalid_shape(field, std::to_string(t.data.size()) + " elements",
                         "at least " + std::to_string(extent) + " for shape " + shape_of(t));
  }
  return {};
}

/// Masks and biases may have 1 where the problem has more; their stride there becomes 0.
template <class T>
Status check_broadcast(Tensor<T>& t, const char* field, const Problem& p) {
  if (t.data.empty()) return {};
  const auto fits = [](std::size_t size, std::size_t full) { return size == full || size == 1; };
  if (!fits(t.batch, p.batch) || !fits(t.heads, p.heads) || !fits(t.rows, p.query_len) ||
      t.columns != p.key_len) {
    return invalid_shape(field, shape_of(t),
                         "[batch or 1, heads or 1, query_len or 1, key_len] of [" +
                             std::to_string(p.batch) + ", " + std::to_string(p.heads) + ", " +
                             std::to_string(p.query_len) + ", " + std::to_string(p.key_len) + "]");
  }
  HEED_TRY(check_extent(t, field));
  if (t.batch == 1) t.batch_stride = 0;
  if (t.heads == 1) t.head_stride = 0;
  if (t.rows == 1) t.row_stride = 0;
  return {};
}

Status check_bias(const Tensor<const float>& bias) {
  for (std::size_t b = 0; b < bias.batch; ++b) {
    for (std::size_t h = 0; h < bias.heads; ++h) {
      for (std::size_t r = 0; r < bias.rows; ++r) {
        const float* const row = bias.row(b, h, r);
        for (std::size_t c = 0; c < bias.columns; ++c) {
          if (std::isnan(row[c]) || row[c] == std::numeric_limits<float>::infinity()) {
            return invalid_value("bias",
                                 number(row[c]) + " at [" + std::to_string(b) + ", " +
                                     std::to_string(h) + ", " + std::to_string(r) + ", " +
                                     std::to_string(c) + "]",
                                 "finite numbers or -infinity");
          }
        }
      }
    }
  }
  return {};
}

Status check_sizes(const AttentionInputs& in, const AttentionOutputs& out, Problem& p) {
  if (p.head_dim == 0) return invalid_shape("query.columns", "0", "a head_dim of at least 1");
  if (p.value_dim == 0) return invalid_shape("value.columns", "0", "a value_dim of at least 1");
  HEED_TRY(check_axis("key.columns", in.key.columns, "head_dim", p.head_dim));
  HEED_TRY(check_axis("key.batch", in.key.batch, "batch", p.batch));
  HEED_TRY(check_axis("value.batch", in.value.batch, "batch", p.batch));
  HEED_TRY(check_axis("value.heads", in.value.heads, "kv_heads", p.kv_heads));
  HEED_TRY(check_axis("value.rows", in.value.rows, "key_len", p.key_len));
  if (p.kv_heads == 0 ? p.heads != 0 : p.heads % p.kv_heads != 0) {
    return invalid_shape("query.heads", std::to_string(p.heads),
                         "a multiple of kv_heads " + std::to_string(p.kv_heads));
  }
  HEED_TRY(check_axis("context.batch", out.context.batch, "batch", p.batch));
  HEED_TRY(check_axis("context.heads", out.context.heads, "heads", p.heads));
  HEED_TRY(check_axis("context.rows", out.context.rows, "query_len", p.query_len));
  HEED_TRY(check_axis("context.columns", out.context.columns, "value_dim", p.value_dim));
  HEED_TRY(check_extent(in.query, "query"));
  HEED_TRY(check_extent(in.key, "key"));
  HEED_TRY(check_extent(in.value, "value"));
  HEED_TRY(check_extent(out.context, "context"));
  std::size_t rows = 0;
  if (!checked_product({p.batch, p.heads, p.query_len}, rows)) {
    return {ErrorCode::kOverflow, "query", "shape " + shape_of(in.query), "fewer rows"};
  }
  if (!out.logsumexp.empty()) {
    HEED_TRY(check_axis("logsumexp", out.logsumexp.size(), "batch * heads * query_len", rows));
  }
  // Positions are kept in 32 bits where they are gathered and sorted.
  constexpr std::size_t kLongest = std::numeric_limits<std::int32_t>::max();
  for (const auto& [field, length] :
       {std::pair{"query.rows", p.query_len}, {"key.rows", p.key_len}}) {
    if (length > kLongest) {
      return {ErrorCode::kOverflow, field, std::to_string(length),
              "at most " + std::to_string(kLongest)};
    }
  }
  return {};
}

Status check_options(Problem& p) {
  AttentionOptions& o = p.options;
  p.scale = o.scale.value_or(1.0f / std::sqrt(static_cast<float>(p.head_dim)));
  if (!std::isfinite(p.scale)) return invalid_value("scale", number(p.scale), "a finite number");
  if (!std::isfinite(o.soft_cap) || o.soft_cap < 0) {
    return invalid_value("soft_cap", number(o.soft_cap), "0 (off) or a positive number");
  }
  constexpr std::int64_t kFurthest = std::int64_t{1} << 40;
  p.offset = o.causal_offset.value_or(static_cast<std::int64_t>(p.key_len) -
                                      static_cast<std::int64_t>(p.query_len));
  if (p.offset < -kFurthest || p.offset > kFurthest) {
    return invalid_value("causal_offset", std::to_string(p.offset), "a magnitude of at most 2^40");
  }
  if (!o.key_mask.empty()) {
    std::size_t keys = 0;
    if (!checked_product({p.batch, p.key_len}, keys)) {
      return {ErrorCode::kOverflow, "key_mask", std::to_string(p.batch) + " batches",
              "batch * key_len within the address space"};
    }
    HEED_TRY(check_axis("key_mask", o.key_mask.size(), "batch * key_len", keys));
  }
  HEED_TRY(check_broadcast(o.mask, "mask", p));
  HEED_TRY(check_broadcast(o.bias, "bias", p));
  return check_bias(o.bias);
}

}  // namespace

Status check_axis(const char* field, std::size_t received, const char* what, std::size_t expected) {
  if (received == expected) return {};
  return invalid_shape(field, std::to_string(received),
                       std::to_string(expected) + " (" + what + ")");
}

Status check_view(const Tensor<const float>& tensor, const char* field, float& largest) {
  HEED_TRY(check_extent(tensor, field));
  return check_finite(tensor, field, largest);
}

bool Problem::shows(std::size_t b, std::size_t head, std::size_t query, std::size_t key) const {
  if (!options.key_mask.empty() && options.key_mask[b * key_len + key] == 0) return false;
  if (!options.mask.data.empty() && options.mask.row(b, head, query)[key] == 0) return false;
  return options.bias.data.empty() ||
         options.bias.row(b, head, query)[key] != -std::numeric_limits<float>::infinity();
}

bool Problem::sees(std::size_t b, std::size_t head, std::size_t query, std::size_t key) const {
  const Range range = visible(query);
  const bool self = static_cast<std::int64_t>(key) == position(query);
  return key >= range.begin && key < range.end && shows(b, head, query, key) &&
         !(options.exclude_self && self);
}

double Problem::visible_pairs() const {
  const bool ranges_only =
      options.key_mask.empty() && options.mask.data.empty() && options.bias.data.empty();
  double sum = 0;
  for (std::size_t b = 0; b < (ranges_only ? 1 : batch); ++b) {
    for (std::size_t h = 0; h < (ranges_only ? 1 : heads); ++h) {
      for (std::size_t i = 0; i < query_len; ++i) {
        const Range range = visible(i);
        std::size_t count = range.size();
        if (!ranges_only) {
          count = 0;
          for (std::size_t j = range.begin; j < range.end; ++j) count += shows(b, h, i, j);
        }
        const std::int64_t self = position(i);
        const bool self_inside = self >= static_cast<std::int64_t>(range.begin) &&
                                 self < static_cast<std::int64_t>(range.end);
        // A query that sees nothing but itself keeps that one pair.
        if (options.exclude_self && self_inside && count > 1 &&
            shows(b, h, i, static_cast<std::size_t>(self))) {
          --count;
        }
        sum += static_cast<double>(count);
      }
    }
  }
  return ranges_only ? sum * static_cast<double>(batch) * static_cast<double>(heads) : sum;
}

Status check_comparable(const Problem& p, const Problem& other, const char* field) {
  if (p.batch == other.batch && p.heads == other.heads && p.query_len == other.query_len &&
      p.key_len == other.key_len && p.value_dim == other.value_dim) {
    return {};
  }
  return invalid_shape(field, "another problem", "attention over the same inputs");
}

Status check_logsumexp(const Problem& p) {
  if (!p.outputs.logsumexp.empty()) return {};
  return invalid_value("logsumexp", "none", "an output for it");
}

Status check_finite(const Tensor<const float>& tensor, const char* field, float& largest) {
  // Magnitudes of floats order like their bits without the sign, NaN and infinity above all.
  constexpr std::int32_t kInfinityBits = 0x7f800000;
  std::int32_t most = 0;
  for (std::size_t b = 0; b < tensor.batch; ++b) {
    for (std::size_t h = 0; h < tensor.heads; ++h) {
      for (std::size_t r = 0; r < tensor.rows; ++r) {
        const float* const row = tensor.row(b, h, r);
        std::int32_t row_most = 0;
        for (std::size_t c = 0; c < tensor.columns; ++c) {
          row_most = std::max(row_most, std::bit_cast<std::int32_t>(row[c]) & 0x7fffffff);
        }
        if (row_most >= kInfinityBits) {
          std::size_t c = 0;
          while (std::isfinite(row[c])) ++c;
          return invalid_value(field,
                               number(row[c]) + " at [" + std::to_string(b) + ", " +
                                   std::to_string(h) + ", " + std::to_string(r) + ", " +
                                   std::to_string(c) + "]",
                               "finite numbers");
        }
        most = std::max(most, row_most);
      }
    }
  }
  largest = std::bit_cast<float>(most);
  return {};
}

Status resolve_problem(const AttentionInputs& inputs, const AttentionOptions& options,
                       const AttentionOutputs& outputs, Problem& p,
                       const std::optional<KeyMagnitudes>& checked) {
  p = Problem();
  p.inputs = inputs;
  p.options = options;
  p.outputs = outputs;
  p.batch = inputs.query.batch;
  p.heads = inputs.query.heads;
  p.kv_heads = inputs.key.heads;
  p.query_len = inputs.query.rows;
  p.key_len = inputs.key.rows;
  p.head_dim = inputs.query.columns;
  p.value_dim = inputs.value.columns;
  HEED_TRY(check_sizes(inputs, outputs, p));
  HEED_TRY(check_options(p));
  float query_most = 0;
  KeyMagnitudes most = checked.value_or(KeyMagnitudes{});
  HEED_TRY(check_finite(inputs.query, "query", query_most));
  if (!checked) {
    HEED_TRY(check_finite(inputs.key, "key", most.key));
    HEED_TRY(check_finite(inputs.value, "value", most.value));
  }
  // Well below the float32 maximum of 3.4e38, for the factor log2(e) and the sums' own rounding.
  constexpr double kSafe = 1e37;
  const double scaled = std::max(1.0, std::abs(static_cast<double>(p.scale))) * query_most;
  const double logit = scaled * most.key * static_cast<double>(p.head_dim);
  const double context = static_cast<double>(most.value) * static_cast<double>(p.key_len);
  p.careful = scaled > kSafe || logit > kSafe || context > kSafe || std::abs(p.scale) > kSafe ||
              p.options.soft_cap > kSafe;
  return {};
}

}  // namespace heed
