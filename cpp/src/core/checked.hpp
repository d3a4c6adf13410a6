// Products and sums of sizes that report overflow instead of wrapping.
#pragma once

#include <cstddef>
#include <initializer_list>

namespace heed {

/// Writes the product of the factors; false when it does not fit in size_t.
inline bool checked_product(std::initializer_list<std::size_t> factors, std::size_t& product) {
  product = 1;
  for (const std::size_t factor : factors) {
    if (__builtin_mul_overflow(product, factor, &product)) return false;
  }
  return true;
}

inline bool checked_sum(std::initializer_list<std::size_t> terms, std::size_t& sum) {
  sum = 0;
  for (const std::size_t term : terms) {
    if (__builtin_add_overflow(sum, term, &sum)) return false;
  }
  return true;
}

inline std::size_t ceil_div(std::size_t a, std::size_t b) { return a / b + (a % b != 0); }
inline std::size_t round_up(std::size_t a, std::size_t b) { return ceil_div(a, b) * b; }

}  // namespace heed
