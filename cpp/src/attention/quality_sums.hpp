// What the quality of an approximation is summed up from, query by query, and which queries are
// looked at.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/problem.hpp"
#include "heed/lsh_attention.hpp"

namespace heed {

/// `count` of 0 .. size - 1 without replacement, ascending. Each head has its own stream.
std::vector<std::uint32_t> draw_queries(std::size_t size, std::size_t count, std::uint64_t seed,
                                        std::uint64_t stream);

template <class T>
double norm(std::span<const T> x) {
  double square = 0;
  for (const T value : x) square += static_cast<double>(value) * value;
  return std::sqrt(square);
}

/// max_j |v_j| of one head's values.
double largest_value_norm(const Problem& p, std::size_t batch, std::size_t kv_head);

struct QualitySums {
  std::size_t queries = 0;
  double mass = 0, mass_square = 0, mass_min = 1, kl = 0;
  double error_square = 0, exact_square = 0, bound_square = 0;
  double error_fourth = 0, exact_fourth = 0, error_exact = 0;  // products of the squares

  /// One query: its captured mass, |o^ - o|, |o|, and the head's largest value norm.
  void add(double mass, double error, double exact, double value_norm);
  /// population: how many queries there are; sampled: whether those added are a sample of them.
  LshQuality summarise(std::size_t population, bool sampled, double margin) const;
};

}  // namespace heed
