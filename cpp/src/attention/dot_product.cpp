// Exact scaled dot-product attention (Vaswani et al. 2017, eq. 1) by tiles.
#include <algorithm>
#include <cmath>
#include <limits>

#include "attention/careful.hpp"
#include "attention/dot_product_state.hpp"
#include "attention/logit_rules.hpp"
#include "core/failure.hpp"

namespace heed {

using kernels::kKeyBlock;

namespace {

/// With so few queries a head, packing the keys costs more than it saves.
constexpr std::size_t kUnpackedRows = 4;

}  // namespace

Status Attention::State::allocate() {
  Problem& p = problem;
  const std::size_t panel = kernels::table().panel_width;
  const std::size_t tile_rows = std::min(kQueryTileRows, p.query_len);
  HEED_TRY(tile.allocate(p, tile_rows));
  std::size_t keys = 0, values = 0;
  if (!checked_product({round_up(p.key_len, panel), p.head_dim}, keys) ||
      !checked_product({round_up(p.value_dim, panel), p.key_len}, values)) {
    return {ErrorCode::kOverflow, "key", std::to_string(p.key_len) + " rows", "fewer rows"};
  }
  if (p.careful || p.query_len <= kUnpackedRows) keys = values = 0;
  HEED_TRY(packed_keys.allocate(keys, "packed keys"));
  HEED_TRY(packed_values.allocate(values, "packed values"));
  HEED_TRY(scratch.allocate(p.careful ? p.key_len : 0, "row of weights"));
  HEED_TRY(self_only.allocate(p.options.exclude_self ? rows_total() : 0, "self-only flags"));
  std::fill(self_only.span().begin(), self_only.span().end(), std::uint8_t{0});
  p.self_only = self_only.span();
  return {};
}

void Attention::State::pack_head(std::size_t batch, std::size_t head) {
  const Problem& p = problem;
  const std::size_t kv_head = p.kv_head(head);
  const std::size_t wanted = batch * p.kv_heads + kv_head;
  if (packed_head == wanted) return;
  const auto& kernel = kernels::table();
  const auto& [query, key, value] = p.inputs;
  kernel.pack_keys(key.row(batch, kv_head, 0), key.row_stride, nullptr, p.key_len, p.head_dim,
                   packed_keys.data());
  kernel.pack_values(value.row(batch, kv_head, 0), value.row_stride, nullptr, p.key_len,
                     p.value_dim, packed_values.data());
  packed_head = wanted;
}

PackedKeys Attention::State::key_block(std::size_t first, std::size_t end) const {
  return {.keys = packed_keys.data() + first * problem.head_dim,
          .values = packed_values.data() + first * kernels::table().panel_width,
          .values_stride = problem.key_len,
          .count = std::min(kKeyBlock, end - first),
          .first_position = first};
}

void Attention::State::attend_tile(std::size_t batch, std::size_t head, std::size_t first,
                                   std::size_t rows) {
  const Problem& p = problem;
  pack_head(batch, head);
  tile.begin(p, batch, head, nullptr, first, rows);
  // Both ends of the visible range grow with the query, so the first and last query bound the tile.
  const Range of_first = p.visible(first), of_last = p.visible(first + rows - 1);
  const std::size_t panel = kernels::table().panel_width;
  for (std::size_t k = of_first.begin / panel * panel; k < of_last.end; k += kKeyBlock) {
    const PackedKeys keys = key_block(k, of_last.end);
    tile.multiply(keys);
    const bool all_visible = k >= of_last.begin && k + keys.count <= of_first.end;
    if (!all_visible || p.has_rules()) tile.apply_rules(keys);
    tile.absorb(keys);
  }
  tile.finish();
}

void Attention::State::attend_row(std::size_t batch, std::size_t head, std::size_t query) {
  const Problem& p = problem;
  const auto& kernel = kernels::table();
  const auto& [queries, key, value] = p.inputs;
  const std::size_t kv_head = p.kv_head(head);
  const Range visible = p.visible(query);
  float* const context = p.outputs.context.row(batch, head, query);
  std::fill_n(context, p.value_dim, 0.0f);
  float maximum = -std::numeric_limits<float>::infinity(), sum = 0, decay = 1;
  for (std::size_t k = visible.begin; k < visible.end; k += kKeyBlock) {
    float s[kKeyBlock];
    const std::size_t count = std::min(kKeyBlock, visible.end - k);
    kernel.row_logits(queries.row(batch, head, query), key.row(batch, kv_head, k), key.row_stride,
                      nullptr, count, p.head_dim, static_cast<float>(p.scale * kLog2E), s);
    if (p.has_rules()) {
      apply_rules(
          p, batch, head, query, [k](std::size_t c) { return k + c; }, count,
          static_cast<float>(kLog2E), s);
    }
    kernel.softmax_update(s, 1, count, &maximum, &sum, &decay);
    kernel.row_accumulate(s, value.row(batch, kv_head, k), value.row_stride, nullptr, count,
                          p.value_dim, decay, context);
  }
  if (sum == 0) {
    finish_unseen_query(p, batch, head, query);
    return;
  }
  for (std::size_t t = 0; t < p.value_dim; ++t) context[t] /= sum;
  if (!p.outputs.logsumexp.empty()) {
    p.outputs.logsumexp[p.row_index(batch, head, query)] = natural_logsumexp(maximum, sum);
  }
}

void Attention::State::attend(std::size_t batch, std::size_t head, std::size_t first,
                              std::size_t rows) {
  const Problem& p = problem;
  if (p.careful) {
    for (std::size_t i = first; i < first + rows; ++i) {
      careful_attend(p, batch, head, i, {}, scratch.span());
      const std::int64_t self = p.position(i);
      if (p.options.exclude_self && self >= 0 && self < static_cast<std::int64_t>(p.key_len)) {
        const bool alone = scratch[static_cast<std::size_t>(self)] > 0;
        p.self_only[p.row_index(batch, head, i)] = alone;
      }
    }
  } else if (p.query_len <= kUnpackedRows) {
    for (std::size_t r = 0; r < rows; ++r) attend_row(batch, head, first + r);
  } else {
    attend_tile(batch, head, first, rows);
  }
}

Attention::Attention() = default;
Attention::~Attention() = default;
Attention::Attention(Attention&&) noexcept = default;
Attention& Attention::operator=(Attention&&) noexcept = default;

Status Attention::prepare(const AttentionInputs& inputs, const AttentionOptions& options,
                          const AttentionOutputs& outputs) {
  auto state = std::make_unique<State>();
  HEED_TRY(resolve_problem(inputs, options, outputs, state->problem));
  HEED_TRY(state->allocate());
  state_ = std::move(state);
  return {};
}

Status Attention::advance(double work) {
  if (state_ == nullptr) return invalid_value("attention", "not prepared", "a call of prepare()");
  State& state = *state_;
  const Problem& p = state.problem;
  // A call does at least one tile, which counts 1 or more.
  for (double done = 0; !state.done() && (done == 0 || done < work);) {
    const std::size_t head = state.next_row / p.query_len;
    const std::size_t first = state.next_row % p.query_len;
    const std::size_t rows = std::min(kQueryTileRows, p.query_len - first);
    state.attend(head / p.heads, head % p.heads, first, rows);
    state.next_row += rows;
    for (std::size_t r = 0; r < rows; ++r) done += static_cast<double>(p.visible(first + r).size());
    // A tile of queries that see nothing still is a step.
    done += 1;
  }
  return {};
}

bool Attention::done() const { return state_ != nullptr && state_->done(); }

double Attention::progress() const {
  if (state_ == nullptr || state_->rows_total() == 0) return done() ? 1.0 : 0.0;
  return static_cast<double>(state_->next_row) / static_cast<double>(state_->rows_total());
}

std::size_t Attention::workspace_bytes() const {
  if (state_ == nullptr) return 0;
  return state_->tile.bytes() + state_->packed_keys.bytes() + state_->packed_values.bytes() +
         state_->weight_rows.bytes() + state_->scratch.bytes() + state_->self_only.bytes();
}

Status attention(const AttentionInputs& inputs, const AttentionOptions& options,
                 const AttentionOutputs& outputs) {
  Attention whole;
  HEED_TRY(whole.prepare(inputs, options, outputs));
  return whole.advance(std::numeric_limits<double>::infinity());
}

}  // namespace heed
