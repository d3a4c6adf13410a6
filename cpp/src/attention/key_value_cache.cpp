#include "heed/key_value_cache.hpp"

#include "attention/dot_product_state.hpp"
#include "core/failure.hpp"

namespace heed {

struct KeyValueCache::State {
  CacheShape shape;
  std::size_t capacity = 0, length = 0;
  Buffer<float> key, value;  // [batch, kv_heads, capacity, head_dim or value_dim]
  float largest_key = 0, largest_value = 0;

  std::size_t sequences() const { return shape.batch * shape.kv_heads; }
  Tensor<const float> view(const Buffer<float>& buffer, std::size_t columns) const {
    Tensor<const float> all = dense(buffer.span(), shape.batch, shape.kv_heads, capacity, columns);
    all.rows = length;
    return all;
  }
  Status allocate(std::size_t wanted) {
    for (const auto& [buffer, columns, name] : {std::tuple{&key, shape.head_dim, "cached keys"},
                                                {&value, shape.value_dim, "cached values"}}) {
      std::size_t size = 0;
      if (!checked_product({shape.batch, shape.kv_heads, wanted, columns}, size)) {
        return {ErrorCode::kOverflow, name, std::to_string(wanted) + " positions", "fewer"};
      }
      HEED_TRY(buffer->allocate(size, name));
    }
    capacity = wanted;
    return {};
  }
  /// Writes the rows of x behind the first `length` positions.
  void copy_rows(const Tensor<const float>& x, Buffer<float>& buffer) {
    for (std::size_t b = 0; b < shape.batch; ++b) {
      for (std::size_t h = 0; h < shape.kv_heads; ++h) {
        float* out = buffer.data() + ((b * shape.kv_heads + h) * capacity + length) * x.columns;
        for (std::size_t r = 0; r < x.rows; ++r, out += x.columns) {
          std::copy_n(x.row(b, h, r), x.columns, out);
        }
      }
    }
  }
  /// A state of more capacity that holds the same positions.
  Status grown(std::size_t wanted, std::unique_ptr<State>& out) const {
    auto bigger = std::make_unique<State>();
    bigger->shape = shape;
    bigger->largest_key = largest_key;
    bigger->largest_value = largest_value;
    HEED_TRY(bigger->allocate(wanted));
    bigger->copy_rows(view(key, shape.head_dim), bigger->key);
    bigger->copy_rows(view(value, shape.value_dim), bigger->value);
    bigger->length = length;
    out = std::move(bigger);
    return {};
  }
};

namespace {

Status not_created() { return invalid_value("cache", "not created", "a call of create()"); }

}  // namespace

KeyValueCache::KeyValueCache() = default;
KeyValueCache::~KeyValueCache() = default;
KeyValueCache::KeyValueCache(KeyValueCache&&) noexcept = default;
KeyValueCache& KeyValueCache::operator=(KeyValueCache&&) noexcept = default;

Status KeyValueCache::create(const CacheShape& shape, std::size_t capacity) {
  if (shape.head_dim == 0) return invalid_shape("head_dim", "0", "at least 1");
  if (shape.value_dim == 0) return invalid_shape("value_dim", "0", "at least 1");
  auto state = std::make_unique<State>();
  state->shape = shape;
  HEED_TRY(state->allocate(capacity));
  state_ = std::move(state);
  return {};
}

Status KeyValueCache::append(const Tensor<const float>& key, const Tensor<const float>& value) {
  if (state_ == nullptr) return not_created();
  const CacheShape& shape = state_->shape;
  HEED_TRY(check_axis("key.batch", key.batch, "batch", shape.batch));
  HEED_TRY(check_axis("key.heads", key.heads, "kv_heads", shape.kv_heads));
  HEED_TRY(check_axis("key.columns", key.columns, "head_dim", shape.head_dim));
  HEED_TRY(check_axis("value.batch", value.batch, "batch", shape.batch));
  HEED_TRY(check_axis("value.heads", value.heads, "kv_heads", shape.kv_heads));
  HEED_TRY(check_axis("value.columns", value.columns, "value_dim", shape.value_dim));
  HEED_TRY(check_axis("value.rows", value.rows, "rows of key", key.rows));
  float largest_key = 0, largest_value = 0;
  HEED_TRY(check_view(key, "key", largest_key));
  HEED_TRY(check_view(value, "value", largest_value));
  std::size_t length = 0;
  if (!checked_sum({state_->length, key.rows}, length)) {
    return {ErrorCode::kOverflow, "key", std::to_string(key.rows) + " rows", "fewer rows"};
  }
  if (length > state_->capacity) {
    // Doubling makes every append cost its own rows, on average.
    HEED_TRY(state_->grown(std::max(length, 2 * state_->capacity), state_));
  }
  state_->copy_rows(key, state_->key);
  state_->copy_rows(value, state_->value);
  state_->length = length;
  state_->largest_key = std::max(state_->largest_key, largest_key);
  state_->largest_value = std::max(state_->largest_value, largest_value);
  return {};
}

Status KeyValueCache::truncate(std::size_t length) {
  if (state_ == nullptr) return not_created();
  if (length > state_->length) {
    return invalid_value("length", std::to_string(length),
                         "at most " + std::to_string(state_->length));
  }
  state_->length = length;
  return {};
}

std::size_t KeyValueCache::length() const { return state_ == nullptr ? 0 : state_->length; }
std::size_t KeyValueCache::capacity() const { return state_ == nullptr ? 0 : state_->capacity; }

Status KeyValueCache::attend(const Tensor<const float>& query, const AttentionOptions& options,
                             const AttentionOutputs& outputs) const {
  if (state_ == nullptr) return not_created();
  const State& s = *state_;
  const AttentionInputs inputs = {query, s.view(s.key, s.shape.head_dim),
                                  s.view(s.value, s.shape.value_dim)};
  Problem problem;
  HEED_TRY(resolve_problem(inputs, options, outputs, problem,
                           KeyMagnitudes{s.largest_key, s.largest_value}));
  return attend_in_one_go(problem);
}

std::size_t KeyValueCache::bytes() const {
  return state_ == nullptr ? 0 : state_->key.bytes() + state_->value.bytes();
}

}  // namespace heed
