// What the hash families share: how a hash is set up, the rows it takes, and random matrices.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/philox.hpp"
#include "heed/lsh_attention.hpp"

namespace heed {

/// `rounds` rounds from `first_round` on, for vectors of `dim` floats.
struct HashSetup {
  std::size_t dim = 0;
  std::size_t buckets = 0;
  std::size_t first_round = 0;
  std::size_t rounds = 1;
  std::uint64_t seed = 0;
  HashFamily family = HashFamily::kCrossPolytope;
  Rotation rotation = Rotation::kGaussian;
};

/// The vectors of one sequence, row r at x + r * stride. What follows is for families that place a
/// row among the others.
struct HashRows {
  const float* x = nullptr;
  std::size_t stride = 0;
  std::size_t rows = 0;
  const std::uint8_t* visible = nullptr;  // 0: the row takes no part; null: all do
  bool keys = false;                      // keys and queries are transformed each in their way
  double square_sum = 0;                  // the largest |q|^2 plus the largest |k|^2
  std::size_t cluster = 1;                // rows of a cluster
};

/// The first `count` standard normal numbers of a stream.
inline void draw_normals(std::uint64_t seed, std::uint64_t stream, std::size_t count, float* out) {
  for (std::size_t i = 0; i < count; ++i) out[i] = normal_draw(seed, stream, i);
}

/// |x|^2, summed in order in double: the same bits everywhere.
inline double square_norm(const float* x, std::size_t dim) {
  double square = 0;
  for (std::size_t t = 0; t < dim; ++t) square += static_cast<double>(x[t]) * x[t];
  return square;
}

}  // namespace heed
