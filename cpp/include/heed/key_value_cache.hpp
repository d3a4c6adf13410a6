// Attention over keys and values that grow, as a language model decodes: the public API.
#pragma once

#include <memory>

#include "heed/attention.hpp"

namespace heed {

/// Sizes of a cache.
struct CacheShape {
  std::size_t batch = 1;
  std::size_t kv_heads = 1;
  std::size_t head_dim = 0;   // at least 1
  std::size_t value_dim = 0;  // at least 1
};

/// Keys and values of all positions so far. They are copied and checked once, when appended, so
/// that a call of attend() with few queries does nothing but read them: it runs at the speed of
/// memory.
class KeyValueCache {
 public:
  KeyValueCache();
  ~KeyValueCache();
  KeyValueCache(KeyValueCache&&) noexcept;
  KeyValueCache& operator=(KeyValueCache&&) noexcept;

  /// Room for `capacity` positions; more are made when needed. Forgets what was there.
  Status create(const CacheShape& shape, std::size_t capacity);

  /// Adds positions at the end: key [batch, kv_heads, rows, head_dim], value [batch, kv_heads,
  /// rows, value_dim], all finite. On failure the cache stays as it was.
  Status append(const Tensor<const float>& key, const Tensor<const float>& value);

  /// Keeps the first `length` positions, at most length().
  Status truncate(std::size_t length);

  std::size_t length() const;
  std::size_t capacity() const;

  /// Exact attention of query [batch, heads, query_len, head_dim] over all positions. By default
  /// the last query stands at the last position, which is what causal needs in decoding.
  Status attend(const Tensor<const float>& query, const AttentionOptions& options,
                const AttentionOutputs& outputs) const;

  /// Bytes held.
  std::size_t bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace heed
