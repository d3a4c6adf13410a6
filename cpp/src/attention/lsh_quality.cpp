// What an LSH attention loses against exact attention: measured, and bounded.
//
// With p the exact weights of a query, S its candidates and m = sum of p over S (captured mass),
// the LSH weights are p / m on S. So KL(p^ || p) = -log m, total variation is 1 - m, and for the
// outputs |o^ - o| <= 2 (1 - m) max_j |v_j|.
#include <algorithm>
#include <limits>
#include <vector>

#include "attention/careful.hpp"
#include "attention/dot_product_state.hpp"
#include "attention/lsh_state.hpp"
#include "attention/quality_sums.hpp"
#include "core/failure.hpp"

namespace heed {

Status LshAttention::quality(Attention& exact, std::size_t sample, std::uint64_t seed,
                             LshQuality& out) const {
  if (!done() || !exact.done()) {
    return invalid_value("attention", "not done", "advance() both until done()");
  }
  const State& s = *state_;
  const Problem& p = s.problem;
  const Problem& e = exact.state_->problem;
  HEED_TRY(check_comparable(p, e, "exact"));
  HEED_TRY(check_logsumexp(e));
  const bool sampled = sample != 0 && sample < p.query_len;
  QualitySums sums;
  Candidates candidates;
  std::vector<float> difference(p.value_dim);
  std::vector<double> row(p.key_len);
  for (std::size_t head = 0; head < p.batch * p.heads; ++head) {
    const std::size_t b = head / p.heads, h = head % p.heads;
    const double value_norm = largest_value_norm(p, b, p.kv_head(h));
    const auto queries = draw_queries(p.query_len, sampled ? sample : p.query_len, seed, head);
    for (const std::uint32_t i : queries) {
      const float logsumexp = e.outputs.logsumexp[e.row_index(b, h, i)];
      if (logsumexp == -std::numeric_limits<float>::infinity()) continue;
      const bool in_double = p.careful || e.careful || is_coarse(logsumexp);
      s.weigh(b, h, i, in_double ? careful_weights(e, b, h, i, {}, row) : double{logsumexp},
              candidates);
      double mass = 0;
      // A query left alone with itself has weight 1 under LSH; what that captures is another
      // matter.
      if (p.only_self(b, h, i)) {
        mass = e.only_self(b, h, i) ? 1 : 0;
      } else {
        for (const float weight : candidates.weights) mass += weight;
      }
      mass = std::min(mass, 1.0);
      const float* const approximate = p.outputs.context.row(b, h, i);
      const float* const truth = e.outputs.context.row(b, h, i);
      for (std::size_t t = 0; t < p.value_dim; ++t) difference[t] = approximate[t] - truth[t];
      sums.add(mass, norm(std::span<const float>(difference)),
               norm(std::span<const float>(truth, p.value_dim)), value_norm);
    }
  }
  out = sums.summarise(p.batch * p.heads * p.query_len, sampled, s.smallest_margin);
  return {};
}

}  // namespace heed
