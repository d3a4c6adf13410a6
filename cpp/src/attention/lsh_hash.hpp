// Hashing of vectors into buckets by one of the families in hash_families/, and sorting by bucket.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>

#include "attention/hash_families/cross_polytope.hpp"
#include "attention/hash_families/e2lsh.hpp"
#include "attention/hash_families/sim_hash.hpp"

namespace heed {

/// The smallest number of buckets >= wanted that suits the family; not for E2LSH, where chunks are
/// the buckets.
std::size_t round_up_buckets(HashFamily family, std::size_t wanted);

Status check_buckets(HashFamily family, std::size_t buckets);

Status check_rotation(HashFamily family, Rotation rotation);

/// Hashes rows for one round after another with the same seed, by a family chosen once.
class LshHasher {
 public:
  /// Draws what all rounds need. The options must have passed the checks above; `longest` is the
  /// most rows of a call to hash().
  Status prepare(const HashSetup& setup, std::size_t longest);
  /// bucket[r] and margin[r] of the rows in a round; what a margin is, the family says.
  void hash(const HashRows& rows, std::size_t round, std::uint32_t* bucket, float* margin);
  std::size_t bytes() const;
  /// Multiply-adds of hashing one vector in one round; a sign or a butterfly's addition counts one.
  double multiply_adds() const;

 private:
  std::variant<CrossPolytopeHash, SimHash, E2LshHash> family_;
};

/// Stable counting sort: order[0 .. size) are the indices of `bucket` by (bucket, index). Every
/// bucket is < buckets; counts has buckets + 1 elements and returns where each bucket starts.
void sort_by_bucket(std::span<const std::uint32_t> bucket, std::size_t buckets,
                    std::span<std::uint32_t> counts, std::span<std::uint32_t> order);

}  // namespace heed
