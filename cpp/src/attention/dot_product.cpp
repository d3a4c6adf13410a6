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

Status allocate_flags(Problem& p, Buffer<std::uint8_t>& flags) {
  const std::size_t rows = p.batch * p.heads * p.query_len;
  HEED_TRY(flags.allocate(p.options.exclude_self ? rows : 0, "self-only flags"));
  std::fill(flags.span().begin(), flags.span().end(), std::uint8_t{0});
  p.self_only = flags.span();
  return {};
}

Status Attention::State::allocate(Range rows) {
  next_row = rows.begin;
  end_row = rows.end;
  const Problem& p = problem;
  const auto& kernel = kernels::table();
  const std::size_t panel = kernel.panel_width, tile_rows = kernel.tile_rows;
  HEED_TRY(logits.allocate(OnlineTile::logits_size(std::min(tile_rows, p.query_len)),
                           "logits of a tile"));
  std::size_t left = p.query_len;
  for (OnlineTile& tile : tiles) {
    HEED_TRY(tile.allocate(p, std::min(tile_rows, left), logits.span()));
    left -= std::min(tile_rows, left);
  }
  std::size_t keys = 0, values = 0;
  if (!checked_product({round_up(p.key_len, panel), p.head_dim}, keys) ||
      !checked_product({round_up(p.value_dim, panel), p.key_len}, values)) {
    return {ErrorCode::kOverflow, "key", std::to_string(p.key_len) + " rows", "fewer rows"};
  }
  if (p.careful || p.query_len <= kUnpackedRows) keys = values = 0;
  HEED_TRY(packed_keys.allocate(keys, "packed keys"));
  HEED_TRY(packed_values.allocate(values, "packed values"));
  return scratch.allocate(p.careful ? p.key_len : 0, "row of weights");
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

void Attention::State::begin_tiles(std::size_t batch, std::size_t head, std::size_t first) {
  const Problem& p = problem;
  pack_head(batch, head);
  const std::size_t tile_rows = kernels::table().tile_rows;
  const std::size_t left = std::min(p.query_len - first, end_row - next_row);
  rows_at_work = 0;
  for (OnlineTile& tile : tiles) {
    if (rows_at_work == left) break;
    const std::size_t rows = std::min(tile_rows, left - rows_at_work);
    tile.begin(p, batch, head, nullptr, first + rows_at_work, rows);
    rows_at_work += rows;
  }
  // Both ends of the visible range grow with the query, so the first and last query bound the rest.
  const std::size_t panel = kernels::table().panel_width;
  keys_at_work = {p.visible(first).begin / panel * panel, p.visible(first + rows_at_work - 1).end};
}

double Attention::State::attend_block() {
  const Problem& p = problem;
  const std::size_t k = keys_at_work.begin;
  double pairs = 1;  // tiles that see nothing still are a step
  std::size_t rows = 0;
  for (OnlineTile& tile : tiles) {
    if (rows == rows_at_work) break;
    rows += tile.rows();
    const Range of_first = p.visible(tile.query(0));
    const Range of_last = p.visible(tile.query(tile.rows() - 1));
    if (k >= of_last.end || k + kKeyBlock <= of_first.begin) continue;
    const PackedKeys keys = key_block(k, of_last.end);
    tile.multiply(keys);
    const bool all_visible = k >= of_last.begin && k + keys.count <= of_first.end;
    if (!all_visible || p.has_rules()) tile.apply_rules(keys);
    tile.absorb(keys);
    pairs += static_cast<double>(tile.rows() * keys.count);
  }
  keys_at_work.begin = std::min(k + kKeyBlock, std::max(k, keys_at_work.end));
  return pairs;
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

void Attention::State::attend_careful(std::size_t batch, std::size_t head, std::size_t query) {
  const Problem& p = problem;
  careful_attend(p, batch, head, query, {}, scratch.span());
  const std::int64_t self = p.position(query);
  if (p.options.exclude_self && self >= 0 && self < static_cast<std::int64_t>(p.key_len)) {
    p.self_only[p.row_index(batch, head, query)] = scratch[static_cast<std::size_t>(self)] > 0;
  }
}

double Attention::State::step() {
  const Problem& p = problem;
  const std::size_t index = next_row / p.query_len, first = next_row % p.query_len;
  const std::size_t batch = index / p.heads, head = index % p.heads;
  if (p.careful || p.query_len <= kUnpackedRows) {
    if (p.careful) {
      attend_careful(batch, head, first);
    } else {
      attend_row(batch, head, first);
    }
    ++next_row;
    return 1 + static_cast<double>(p.visible(first).size());
  }
  if (rows_at_work == 0) begin_tiles(batch, head, first);
  const double pairs = attend_block();
  if (keys_at_work.begin >= keys_at_work.end) {
    std::size_t rows = 0;
    for (OnlineTile& tile : tiles) {
      if (rows == rows_at_work) break;
      rows += tile.rows();
      tile.finish();
    }
    next_row += rows_at_work;
    rows_at_work = 0;
  }
  return pairs;
}

Attention::Attention() = default;
Attention::~Attention() = default;
Attention::Attention(Attention&&) noexcept = default;
Attention& Attention::operator=(Attention&&) noexcept = default;

Status Attention::prepare(const AttentionInputs& inputs, const AttentionOptions& options,
                          const AttentionOutputs& outputs) {
  auto state = std::make_unique<State>();
  HEED_TRY(resolve_problem(inputs, options, outputs, state->problem));
  HEED_TRY(allocate_flags(state->problem, state->self_only));
  HEED_TRY(state->allocate({0, state->rows_total()}));
  state_ = std::move(state);
  return {};
}

Status Attention::advance(double work) {
  if (state_ == nullptr) return invalid_value("attention", "not prepared", "a call of prepare()");
  // A call does at least one step, which counts 1 or more.
  for (double done = 0; !state_->done() && (done == 0 || done < work);) done += state_->step();
  return {};
}

bool Attention::done() const { return state_ != nullptr && state_->done(); }

double Attention::progress() const {
  if (state_ == nullptr || state_->rows_total() == 0) return done() ? 1.0 : 0.0;
  const State& s = *state_;
  double rows = static_cast<double>(s.next_row);
  if (s.rows_at_work > 0) {
    const double taken = static_cast<double>(s.keys_at_work.begin);
    rows += static_cast<double>(s.rows_at_work) * taken / static_cast<double>(s.keys_at_work.end);
  }
  return rows / static_cast<double>(s.rows_total());
}

std::size_t Attention::workspace_bytes() const {
  if (state_ == nullptr) return 0;
  const State& s = *state_;
  std::size_t bytes = s.logits.bytes() + s.packed_keys.bytes() + s.packed_values.bytes() +
                      s.weight_rows.bytes() + s.scratch.bytes() + s.self_only.bytes();
  for (const OnlineTile& tile : s.tiles) bytes += tile.bytes();
  return bytes;
}

Status attend_in_one_go(const Problem& problem) {
  Attention::State state;
  state.problem = problem;
  HEED_TRY(allocate_flags(state.problem, state.self_only));
  HEED_TRY(state.allocate({0, state.rows_total()}));
  while (!state.done()) state.step();
  return {};
}

Status attention(const AttentionInputs& inputs, const AttentionOptions& options,
                 const AttentionOutputs& outputs) {
  Problem problem;
  HEED_TRY(resolve_problem(inputs, options, outputs, problem));
  return attend_in_one_go(problem);
}

}  // namespace heed
