// The oracle of scaled dot-product attention: the definition, in float64, with every weight stored.
// Slow, obviously right, and independent of the library's sources.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "heed/attention.hpp"

namespace heed::reference {

/// All arrays dense: context [batch, heads, query_len, value_dim], the others per row [batch,
/// heads, query_len] or per pair [batch, heads, query_len, key_len].
struct Attended {
  std::size_t batch = 0, heads = 0, query_len = 0, key_len = 0, value_dim = 0;
  std::vector<double> context, logsumexp, logits, weights;
  /// sum_j weight(i, j) |v_jt|, shaped like context: what relative errors of weights act on.
  std::vector<double> absolute_context;
  /// max over visible j of |scale| sum_t |q_it k_jt| + |bias|: what rounding of logits acts on.
  std::vector<double> logit_magnitude;

  std::size_t row(std::size_t b, std::size_t h, std::size_t i) const {
    return (b * heads + h) * query_len + i;
  }
  double weight(std::size_t b, std::size_t h, std::size_t i, std::size_t j) const {
    return weights[row(b, h, i) * key_len + j];
  }
};

/// Whether a mechanism lets query i of head h look at key j at all.
using Sees = std::function<bool(std::size_t b, std::size_t h, std::size_t i, std::size_t j)>;

/// Whether mask, key mask, bias, causal rule and window show key j to query i; exclude_self aside.
bool shows(const AttentionInputs& inputs, const AttentionOptions& options, std::size_t b,
           std::size_t h, std::size_t i, std::size_t j);

/// Exact softmax over the pairs that `sees` and the options leave. Under exclude_self a query left
/// with nothing attends to its own position if the other options show that.
Attended attention(const AttentionInputs& inputs, const AttentionOptions& options,
                   const Sees& sees = nullptr);

/// Unnormalised weights exp(logit) of a list of logits, and what comes of them.
struct Softmax {
  std::vector<double> weights;
  double logsumexp = 0;  // -infinity when every logit is
};
Softmax softmax(const std::vector<double>& logits);

/// Bounds on the float32 error of a row, from first principles (Higham 2002, section 3.1: a sum of
/// n products is off by at most gamma_n = n u / (1 - n u) times the sum of magnitudes, u = 2^-24).
struct RowTolerance {
  double logit = 0;      // absolute, of any logit and of the logsumexp
  double weight = 0;     // relative, of any weight
  double underflow = 0;  // absolute, of any weight: what lies below 2^-126 may become 0
};
RowTolerance tolerance(const Attended& expected, std::size_t row, std::size_t head_dim);

}  // namespace heed::reference
