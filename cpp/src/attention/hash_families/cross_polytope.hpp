// Cross-polytope hashing: the end of a randomly rotated axis that is nearest to the vector (Andoni
// et al. 2015; Kitaev et al. 2020, section 2).
#pragma once

#include <array>
#include <span>

#include "attention/hash_families/hash_rows.hpp"
#include "core/buffer.hpp"

namespace heed {

/// Up to so many buckets one rotation decides; beyond, the bucket is a pair of two independent
/// hashes, h = h1 + first * h2, which keeps the rotation's width near sqrt(buckets).
inline constexpr std::size_t kSingleRotationBuckets = 64;

struct BucketFactors {
  std::size_t first = 0;
  std::size_t second = 1;  // 1: a single rotation
};

/// Both even, as near to each other as they get; first 0 when `buckets` has no such factors.
BucketFactors factor_buckets(std::size_t buckets);

/// The smallest number of buckets >= wanted that factor_buckets() accepts with balanced factors.
std::size_t round_up_cross_polytope_buckets(std::size_t wanted);

class CrossPolytopeHash {
 public:
  Status prepare(const HashSetup& setup);
  /// margin[r] is the smaller gap of the factors' argmaxes.
  void hash(const HashRows& rows, std::size_t round, std::uint32_t* bucket, float* margin);
  std::size_t bytes() const { return rotations_.bytes() + work_.bytes(); }
  /// Of hashing one vector; a sign or a butterfly's addition counts one.
  double multiply_adds() const;

 private:
  /// Columns of a factor's rotation; 0 for a second factor of 1.
  std::size_t width(std::size_t factor) const {
    return (factor == 0 ? factors_.first : factors_.second) / 2;
  }
  void draw_matrix(std::uint64_t seed, std::uint64_t stream, std::size_t columns, float* out);
  void draw_signs(std::uint64_t seed, std::uint64_t stream, std::span<float> out);
  void hash_factor(const float* x, std::size_t stride, std::size_t rows, std::size_t round,
                   std::size_t factor, std::uint32_t* bucket, float* margin);

  Buffer<float> rotations_;  // of a round: its first factor's, then its second's
  Buffer<float> work_;
  BucketFactors factors_;
  Rotation rotation_ = Rotation::kGaussian;
  std::array<std::size_t, 2> factor_size_ = {};
  std::size_t dim_ = 0, transform_size_ = 0, first_round_ = 0;
};

}  // namespace heed
