// SimHash: on which side of each of k random hyperplanes a vector lies (Charikar 2002). Vectors at
// angle theta share a bucket with probability (1 - theta / pi)^k.
#pragma once

#include <bit>

#include "attention/hash_families/hash_rows.hpp"
#include "core/buffer.hpp"

namespace heed {

/// The rank of a word in the reflected Gray code, whose neighbours differ in one bit: bit i is the
/// parity of the word's bits from i up.
inline std::uint32_t gray_rank(std::uint32_t word) {
  for (int shift = 1; shift < 32; shift *= 2) word ^= word >> shift;
  return word;
}

class SimHash {
 public:
  /// buckets is a power of two, 2^k.
  Status prepare(const HashSetup& setup);
  /// Bit c of the word is set where <w_c, x> > 0; the bucket is the word's Gray rank, so that
  /// neighbours in sorted order lie across one hyperplane. margin[r] is the distance to the nearest
  /// hyperplane.
  void hash(const HashRows& rows, std::size_t round, std::uint32_t* bucket, float* margin);
  std::size_t bytes() const { return normals_.bytes() + work_.bytes(); }
  /// Of hashing one vector.
  double multiply_adds() const { return static_cast<double>(dim_ * bits_); }

 private:
  /// The unit normals of a round, packed for project_rows.
  void draw_normals_of(std::uint64_t seed, std::size_t round, float* out);

  Buffer<float> normals_;  // [rounds], each packed
  Buffer<float> work_;     // a matrix to pack, then the projections of a block of rows
  std::size_t dim_ = 0, bits_ = 0, round_size_ = 0, first_round_ = 0;
};

}  // namespace heed
