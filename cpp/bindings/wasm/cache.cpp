#include "cache.hpp"

namespace heed::wasm {

bool Cache::create(const CacheShape& shape, std::size_t capacity) {
  shape_ = shape;
  return keep(cache_.create(shape, capacity));
}

bool Cache::append(std::size_t key, std::size_t value, std::size_t rows) {
  const auto view = [&](std::size_t address, std::size_t columns) {
    const std::size_t size = shape_.batch * shape_.kv_heads * rows * columns;
    return dense(span_at<const float>(address, size), shape_.batch, shape_.kv_heads, rows, columns);
  };
  return keep(cache_.append(view(key, shape_.head_dim), view(value, shape_.value_dim)));
}

bool Cache::truncate(std::size_t length) { return keep(cache_.truncate(length)); }

bool Cache::attend(std::size_t query, std::size_t heads, std::size_t query_len,
                   const Options& options, std::size_t context, std::size_t logsumexp) {
  const Problem p = {.batch = shape_.batch,
                     .heads = heads,
                     .kv_heads = shape_.kv_heads,
                     .query_len = query_len,
                     .key_len = cache_.length(),
                     .head_dim = shape_.head_dim,
                     .value_dim = shape_.value_dim,
                     .query = query,
                     .key = 0,
                     .value = 0,
                     .context = context,
                     .logsumexp = logsumexp};
  return keep(
      cache_.attend(inputs_of(p).query, options_of(p, options), outputs_of(p, context, logsumexp)));
}

}  // namespace heed::wasm
