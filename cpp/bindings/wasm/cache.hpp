// A key/value cache whose tensors come from the WebAssembly heap.
#pragma once

#include "heed/key_value_cache.hpp"
#include "problem.hpp"

namespace heed::wasm {

class Cache {
 public:
  bool create(const CacheShape& shape, std::size_t capacity);
  /// Addresses of `rows` positions of keys and values.
  bool append(std::size_t key, std::size_t value, std::size_t rows);
  bool truncate(std::size_t length);
  std::size_t length() const { return cache_.length(); }
  double bytes() const { return static_cast<double>(cache_.bytes()); }
  bool attend(std::size_t query, std::size_t heads, std::size_t query_len, const Options& options,
              std::size_t context, std::size_t logsumexp);

 private:
  CacheShape shape_;
  KeyValueCache cache_;
};

}  // namespace heed::wasm
