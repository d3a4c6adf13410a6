#include "attention/online_tile.hpp"

#include <algorithm>
#include <cmath>

#include "attention/careful.hpp"

namespace heed {

using kernels::kKeyBlock;

std::size_t OnlineTile::logits_size(std::size_t rows) {
  return round_up(rows, kernels::table().group_rows) * kKeyBlock;
}

Status OnlineTile::allocate(const Problem& p, std::size_t rows, std::span<float> logits) {
  kernel_ = &kernels::table();
  s_ = logits;
  const std::size_t padded = round_up(rows, kernel_->group_rows);
  o_stride_ = round_up(p.value_dim, kernel_->panel_width);
  HEED_TRY(packed_queries_.allocate(padded * p.head_dim, "query tile"));
  HEED_TRY(o_.allocate(padded * o_stride_, "context tile"));
  HEED_TRY(maximum_.allocate(padded, "tile maximum"));
  HEED_TRY(sum_.allocate(padded, "tile sum"));
  return decay_.allocate(padded, "tile decay");
}

std::size_t OnlineTile::bytes() const {
  return packed_queries_.bytes() + o_.bytes() + maximum_.bytes() + sum_.bytes() + decay_.bytes();
}

void OnlineTile::begin(const Problem& p, std::size_t batch, std::size_t head,
                       const std::uint32_t* query, std::size_t first, std::size_t rows) {
  problem_ = &p;
  batch_ = batch;
  head_ = head;
  query_ = query;
  first_ = first;
  rows_ = rows;
  kernel_->pack_queries(p.inputs.query.row(batch, head, first), p.inputs.query.row_stride, query,
                        rows, p.head_dim, p.scale * kLog2E, packed_queries_.data());
  const std::size_t padded = groups() * kernel_->group_rows;
  std::fill_n(o_.data(), padded * o_stride_, 0.0f);
  std::fill_n(maximum_.data(), padded, -std::numeric_limits<float>::infinity());
  std::fill_n(sum_.data(), padded, 0.0f);
  std::fill_n(decay_.data(), padded, 1.0f);
}

void OnlineTile::multiply(const PackedKeys& keys) {
  kernel_->logits(packed_queries_.data(), groups(), keys.keys, keys.count, problem_->head_dim,
                  s_.data());
}

void OnlineTile::apply_rules(const PackedKeys& keys) {
  if (!problem_->has_rules() && keys.position == nullptr) {
    hide_invisible(keys);
    return;
  }
  const auto position_of = [&keys](std::size_t c) { return keys.position_of(c); };
  for (std::size_t r = 0; r < rows_; ++r) {
    heed::apply_rules(*problem_, batch_, head_, query(r), position_of, keys.count,
                      static_cast<float>(kLog2E), logits(r));
  }
}

void OnlineTile::hide_invisible(const PackedKeys& keys) {
  constexpr float kHidden = -std::numeric_limits<float>::infinity();
  const auto place = [&keys](std::size_t position) {
    return std::clamp(position, keys.first_position, keys.first_position + keys.count) -
           keys.first_position;
  };
  for (std::size_t r = 0; r < rows_; ++r) {
    const Range visible = problem_->visible(query(r));
    float* const s = logits(r);
    std::fill(s, s + place(visible.begin), kHidden);
    std::fill(s + place(visible.end), s + keys.count, kHidden);
  }
}

void OnlineTile::absorb(const PackedKeys& keys) {
  kernel_->softmax_update(s_.data(), rows_, keys.count, maximum_.data(), sum_.data(),
                          decay_.data());
  kernel_->accumulate(s_.data(), groups(), decay_.data(), keys.values, keys.values_stride,
                      keys.count, problem_->value_dim, o_.data());
}

std::size_t OnlineTile::count_visible(const PackedKeys& keys) const {
  constexpr float kHidden = -std::numeric_limits<float>::infinity();
  std::size_t count = 0;
  for (std::size_t r = 0; r < rows_; ++r) {
    const float* const s = s_.data() + r * kKeyBlock;
    std::uint32_t visible = 0;
    for (std::size_t c = 0; c < keys.count; ++c) visible += s[c] != kHidden;
    count += visible;
  }
  return count;
}

void OnlineTile::save(std::span<float> maximum, std::span<float> sum) const {
  for (std::size_t r = 0; r < rows_; ++r) {
    maximum[query(r)] = maximum_[r];
    sum[query(r)] = sum_[r];
    std::copy_n(o_.data() + r * o_stride_, problem_->value_dim,
                problem_->outputs.context.row(batch_, head_, query(r)));
  }
}

void OnlineTile::restore(std::span<const float> maximum, std::span<const float> sum) {
  for (std::size_t r = 0; r < rows_; ++r) {
    maximum_[r] = maximum[query(r)];
    sum_[r] = sum[query(r)];
    std::copy_n(problem_->outputs.context.row(batch_, head_, query(r)), problem_->value_dim,
                o_.data() + r * o_stride_);
  }
}

void OnlineTile::finish() {
  const Problem& p = *problem_;
  for (std::size_t r = 0; r < rows_; ++r) {
    if (sum_[r] == 0) {
      finish_unseen_query(p, batch_, head_, query(r));
      continue;
    }
    float* const context = p.outputs.context.row(batch_, head_, query(r));
    const float inverse = 1.0f / sum_[r];
    const float* const o = o_.data() + r * o_stride_;
    for (std::size_t t = 0; t < p.value_dim; ++t) context[t] = o[t] * inverse;
    if (!p.outputs.logsumexp.empty()) {
      p.outputs.logsumexp[p.row_index(batch_, head_, query(r))] =
          natural_logsumexp(maximum_[r], sum_[r]);
    }
  }
}

void finish_unseen_query(const Problem& p, std::size_t batch, std::size_t head, std::size_t query) {
  const std::int64_t self = p.position(query);
  const bool inside = self >= 0 && self < static_cast<std::int64_t>(p.key_len);
  std::uint32_t key = 0;
  double weight = 0;
  std::size_t count = 0;
  if (p.options.exclude_self && inside) {
    key = static_cast<std::uint32_t>(self);
    count = 1;
  }
  careful_attend(p, batch, head, query, {&key, count}, {&weight, count});
  if (weight > 0) p.self_only[p.row_index(batch, head, query)] = 1;
}

}  // namespace heed
