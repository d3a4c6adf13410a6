// Read-out of one cell: every intermediate number between q, k and the context.
#include "heed/cell.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "attention/dot_product_state.hpp"
#include "attention/logit_rules.hpp"
#include "attention/lsh_state.hpp"
#include "attention/tile_reducer.hpp"
#include "core/failure.hpp"

namespace heed {
namespace {

HiddenBy hiding_rule(const Problem& p, std::size_t b, std::size_t h, std::size_t i, std::size_t j) {
  const AttentionOptions& o = p.options;
  const std::int64_t distance = static_cast<std::int64_t>(j) - p.position(i);
  if (!o.key_mask.empty() && o.key_mask[b * p.key_len + j] == 0) return HiddenBy::kKeyMask;
  if (!o.mask.data.empty() && o.mask.row(b, h, i)[j] == 0) return HiddenBy::kMask;
  if (!p.shows(b, h, i, j)) return HiddenBy::kBias;
  if (o.causal && distance > 0) return HiddenBy::kCausal;
  const Range visible = p.visible(i);
  if (j < visible.begin || j >= visible.end) return HiddenBy::kWindow;
  if (o.exclude_self && distance == 0 && !p.only_self(b, h, i)) return HiddenBy::kSelf;
  return HiddenBy::kNothing;
}

/// Fills the share of key j from the query's row of weights.
void fill_share(const Problem& p, std::size_t b, std::size_t h, std::size_t i, std::size_t j,
                std::span<const float> row, CellShare& share) {
  share.logsumexp = p.outputs.logsumexp[p.row_index(b, h, i)];
  share.weight = row[j];
  share.rank = 1 + static_cast<std::size_t>(std::count_if(
                       row.begin(), row.end(), [&](float weight) { return weight > row[j]; }));
  const float* const value = p.inputs.value.row(b, p.kv_head(h), j);
  const float* const context = p.outputs.context.row(b, h, i);
  share.context.assign(context, context + p.value_dim);
  share.contribution.resize(p.value_dim);
  for (std::size_t t = 0; t < p.value_dim; ++t) share.contribution[t] = row[j] * value[t];
}

}  // namespace

const char* to_string(HiddenBy rule) {
  switch (rule) {
    case HiddenBy::kNothing:
      return "nothing";
    case HiddenBy::kKeyMask:
      return "keyMask";
    case HiddenBy::kMask:
      return "mask";
    case HiddenBy::kBias:
      return "bias";
    case HiddenBy::kCausal:
      return "causal";
    case HiddenBy::kWindow:
      return "window";
    case HiddenBy::kSelf:
      return "self";
  }
  return "unknown";
}

Status explain_cell(Attention& exact, const LshAttention& lsh, std::size_t batch, std::size_t head,
                    std::size_t query, std::size_t key, CellArithmetic& out) {
  if (!exact.done() || !lsh.done()) {
    return invalid_value("attention", "not done", "advance() both until done()");
  }
  const Problem& p = exact.state_->problem;
  const Problem& q = lsh.state_->problem;
  HEED_TRY(check_comparable(p, q, "lsh"));
  HEED_TRY(check_tile(
      {.batch = batch, .head = head, .rows = {query, query + 1}, .columns = {key, key + 1}}, {},
      p.batch, p.heads, p.query_len, p.key_len));
  std::vector<float> row(p.key_len);
  HEED_TRY(exact.weight_row(batch, head, query, row));
  fill_share(p, batch, head, query, key, row, out.exact);
  HEED_TRY(lsh.weight_row(batch, head, query, row));
  fill_share(q, batch, head, query, key, row, out.lsh);

  const float* const x = p.inputs.query.row(batch, head, query);
  const float* const y = p.inputs.key.row(batch, p.kv_head(head), key);
  out.products.resize(p.head_dim);
  out.dot = 0;
  for (std::size_t t = 0; t < p.head_dim; ++t) {
    const double product = static_cast<double>(x[t]) * y[t];
    out.products[t] = static_cast<float>(product);
    out.dot += product;
  }
  out.scaled = p.scale * out.dot;
  const double cap = p.options.soft_cap;
  out.capped = cap > 0 ? cap * std::tanh(out.scaled / cap) : out.scaled;
  out.hidden_by = hiding_rule(p, batch, head, query, key);
  out.logit = -std::numeric_limits<double>::infinity();
  if (out.hidden_by == HiddenBy::kNothing) {
    out.logit = out.capped;
    if (!p.options.bias.data.empty()) out.logit += p.options.bias.row(batch, head, query)[key];
  }

  Candidates candidates;
  lsh.state_->collect_candidates(batch, head, query, candidates);
  const auto found = std::find(candidates.keys.begin(), candidates.keys.end(), key);
  out.lsh_candidate = found != candidates.keys.end();
  out.lsh_round =
      out.lsh_candidate
          ? static_cast<int>(
                candidates.rounds[static_cast<std::size_t>(found - candidates.keys.begin())])
          : -1;
  return {};
}

}  // namespace heed
