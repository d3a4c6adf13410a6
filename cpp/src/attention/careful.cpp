#include "attention/careful.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "attention/logit_rules.hpp"

namespace heed {
namespace {

constexpr double kHidden = -std::numeric_limits<double>::infinity();

double scaled_dot(const Problem& p, const float* q, const float* k) {
  double sum = 0;
  for (std::size_t t = 0; t < p.head_dim; ++t) sum += static_cast<double>(q[t]) * k[t];
  return sum * p.scale;
}

}  // namespace

double careful_weights(const Problem& p, std::size_t batch, std::size_t head, std::size_t query,
                       std::span<const std::uint32_t> keys, std::span<double> weights) {
  const auto position_of = [keys](std::size_t c) -> std::size_t {
    return keys.empty() ? c : keys[c];
  };
  const float* const q = p.inputs.query.row(batch, head, query);
  const auto logits = [&](SelfRule self_rule) {
    for (std::size_t c = 0; c < weights.size(); ++c) {
      weights[c] = scaled_dot(p, q, p.inputs.key.row(batch, p.kv_head(head), position_of(c)));
    }
    apply_rules(p, batch, head, query, position_of, weights.size(), 1.0, weights.data(), self_rule);
    return weights.empty() ? kHidden : *std::max_element(weights.begin(), weights.end());
  };
  double maximum = logits(SelfRule::kAsOptions);
  if (maximum == kHidden && p.options.exclude_self) maximum = logits(SelfRule::kVisible);
  if (maximum == kHidden) {
    std::fill(weights.begin(), weights.end(), 0.0);
    return kHidden;
  }
  double sum = 0;
  for (double& weight : weights) {
    weight = std::exp(weight - maximum);
    sum += weight;
  }
  for (double& weight : weights) weight /= sum;
  return maximum + std::log(sum);
}

void careful_attend(const Problem& p, std::size_t batch, std::size_t head, std::size_t query,
                    std::span<const std::uint32_t> keys, std::span<double> weights) {
  const double logsumexp = careful_weights(p, batch, head, query, keys, weights);
  float* const context = p.outputs.context.row(batch, head, query);
  for (std::size_t t = 0; t < p.value_dim; ++t) {
    double sum = 0;
    for (std::size_t c = 0; c < weights.size(); ++c) {
      const std::size_t key = keys.empty() ? c : keys[c];
      sum += weights[c] * p.inputs.value.row(batch, p.kv_head(head), key)[t];
    }
    context[t] = static_cast<float>(sum);
  }
  if (!p.outputs.logsumexp.empty()) {
    constexpr double kMost = std::numeric_limits<float>::max();
    p.outputs.logsumexp[p.row_index(batch, head, query)] =
        static_cast<float>(logsumexp == kHidden ? logsumexp : std::clamp(logsumexp, -kMost, kMost));
  }
}

}  // namespace heed
