// The arithmetic of one weight, step by step, for read-outs.
#pragma once

#include <cstddef>
#include <vector>

#include "heed/attention.hpp"
#include "heed/lsh_attention.hpp"

namespace heed {

/// The rule that hides a key from a query; the first that applies in this order.
enum class HiddenBy { kNothing, kKeyMask, kMask, kBias, kCausal, kWindow, kSelf };

/// Name of a rule as the bindings show it: "nothing", "keyMask", "mask", "bias", "causal",
/// "window", "self".
const char* to_string(HiddenBy rule);

/// One query's attention to one key under one mechanism.
struct CellShare {
  double logsumexp = 0;  // of the query, natural
  double weight = 0;     // exp(logit - logsumexp); 0 when the mechanism does not see the key
  std::size_t rank = 0;  // 1 + number of keys with a larger weight
  std::vector<float> contribution;  // weight * v_j, [value_dim]
  std::vector<float> context;       // the query's whole context, [value_dim]
};

/// From the dot product to the share of the context, in double from float32 inputs.
struct CellArithmetic {
  std::vector<float> products;  // q_t * k_t, [head_dim]; k normalised under shared_query_key
  double dot = 0;               // sum of the products
  double scaled = 0;            // scale * dot
  double capped = 0;            // after the soft cap
  double logit = 0;             // after the bias; -infinity when hidden
  HiddenBy hidden_by = HiddenBy::kNothing;
  CellShare exact;
  CellShare lsh;
  bool lsh_candidate = false;  // the pair met in some round
  int lsh_round = -1;          // the first such round
};

/// exact and lsh must be done(), over the same inputs, each with a logsumexp output.
Status explain_cell(Attention& exact, const LshAttention& lsh, std::size_t batch, std::size_t head,
                    std::size_t query, std::size_t key, CellArithmetic& out);

}  // namespace heed
