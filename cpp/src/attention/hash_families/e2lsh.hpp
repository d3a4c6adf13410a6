// The asymmetric hash of SMYRF (Daras et al. 2020, section 3): queries and keys are lifted to where
// their Euclidean distance falls as their product grows, projected on one random direction
// (p-stable LSH: Datar et al. 2004) and cut into clusters of equal size along it.
#pragma once

#include "attention/hash_families/hash_rows.hpp"
#include "core/buffer.hpp"

namespace heed {

class E2LshHash {
 public:
  /// `longest` is the most rows of a call to hash().
  Status prepare(const HashSetup& setup, std::size_t longest);
  /// bucket[r] is the cluster of a visible row: its rank by (projection, position) over the cluster
  /// size. margin[r] is the gap between its projection and the nearest one of another cluster,
  /// infinite when there is no other. Rows that take no part are not written.
  void hash(const HashRows& rows, std::size_t round, std::uint32_t* bucket, float* margin);
  std::size_t bytes() const {
    return directions_.bytes() + lifts_.bytes() + work_.bytes() + values_.bytes() +
           entries_.bytes();
  }
  /// Of hashing one vector: its norm, its projection and the lift.
  double multiply_adds() const { return static_cast<double>(2 * dim_ + 1); }

 private:
  void project(const HashRows& rows, std::size_t round);

  Buffer<float> directions_;       // [rounds], each packed for project_rows
  Buffer<float> lifts_;            // [rounds][2]: the direction's entries for queries and for keys
  Buffer<float> work_;             // a direction to pack, then the projections of a block of rows
  Buffer<float> values_;           // of each row
  Buffer<std::uint64_t> entries_;  // of visible rows: value in order, then position
  std::size_t dim_ = 0, round_size_ = 0, first_round_ = 0;
};

}  // namespace heed
