#include "attention/lsh_hash.hpp"

#include <algorithm>
#include <bit>

#include "core/failure.hpp"
#include "core/problem.hpp"
#include "heed/lsh_attention.hpp"

namespace heed {

std::size_t round_up_buckets(HashFamily family, std::size_t wanted) {
  if (family == HashFamily::kSimHash) return std::bit_ceil(std::max<std::size_t>(2, wanted));
  return round_up_cross_polytope_buckets(wanted);
}

Status check_buckets(HashFamily family, std::size_t buckets) {
  // The bucket number must fit in 31 bits next to the bucket of hidden keys.
  constexpr std::size_t kMost = std::size_t{1} << 30;
  const bool in_range = buckets >= 2 && buckets % 2 == 0 && buckets <= kMost;
  if (family == HashFamily::kSimHash) {
    if (in_range && std::has_single_bit(buckets)) return {};
    return invalid_value("buckets", std::to_string(buckets),
                         "a power of two from 2 to 2^30 (SimHash)");
  }
  if (in_range && factor_buckets(buckets).first != 0) return {};
  return invalid_value("buckets", std::to_string(buckets),
                       "an even number from 2 to 64, or a multiple of 4 up to 2^30");
}

Status check_rotation(HashFamily family, Rotation rotation) {
  if (family == HashFamily::kCrossPolytope || rotation == Rotation::kGaussian) return {};
  return invalid_value("rotation", "Hadamard", "Gaussian (only cross-polytope has another)");
}

Status LshHasher::prepare(const HashSetup& setup, std::size_t longest) {
  switch (setup.family) {
    case HashFamily::kSimHash:
      return family_.emplace<SimHash>().prepare(setup);
    case HashFamily::kE2Lsh:
      return family_.emplace<E2LshHash>().prepare(setup, longest);
    case HashFamily::kCrossPolytope:
      break;
  }
  return family_.emplace<CrossPolytopeHash>().prepare(setup);
}

void LshHasher::hash(const HashRows& rows, std::size_t round, std::uint32_t* bucket,
                     float* margin) {
  std::visit([&](auto& family) { family.hash(rows, round, bucket, margin); }, family_);
}

std::size_t LshHasher::bytes() const {
  return std::visit([](const auto& family) { return family.bytes(); }, family_);
}

double LshHasher::multiply_adds() const {
  return std::visit([](const auto& family) { return family.multiply_adds(); }, family_);
}

void sort_by_bucket(std::span<const std::uint32_t> bucket, std::size_t buckets,
                    std::span<std::uint32_t> counts, std::span<std::uint32_t> order) {
  std::fill(counts.begin(), counts.end(), 0u);
  for (const std::uint32_t b : bucket) ++counts[b + 1];
  for (std::size_t b = 1; b <= buckets; ++b) counts[b] += counts[b - 1];
  for (std::size_t i = 0; i < bucket.size(); ++i) {
    order[counts[bucket[i]]++] = static_cast<std::uint32_t>(i);
  }
  // Placing moved every start to its bucket's end, which is the next bucket's start.
  for (std::size_t b = buckets; b > 0; --b) counts[b] = counts[b - 1];
  counts[0] = 0;
}

Status lsh_hash(std::span<const float> x, std::size_t rows, std::size_t dim, std::size_t buckets,
                std::uint64_t seed, std::size_t round, std::span<std::uint32_t> out,
                Rotation rotation, HashFamily family) {
  if (family == HashFamily::kE2Lsh) {
    return invalid_value("family", "E2LSH", "one that hashes vectors without queries and keys");
  }
  HEED_TRY(check_rotation(family, rotation));
  HEED_TRY(check_buckets(family, buckets));
  if (dim == 0) return invalid_shape("dim", "0", "at least 1");
  std::size_t size = 0;
  if (!checked_product({rows, dim}, size) || x.size() != size) {
    return invalid_shape("x", std::to_string(x.size()), "rows * dim elements");
  }
  if (out.size() != rows) {
    return invalid_shape("out", std::to_string(out.size()), std::to_string(rows) + " (rows)");
  }
  float largest = 0;
  HEED_TRY(check_finite(dense(x, 1, 1, rows, dim), "x", largest));
  LshHasher hasher;
  HEED_TRY(hasher.prepare({.dim = dim,
                           .buckets = buckets,
                           .first_round = round,
                           .seed = seed,
                           .family = family,
                           .rotation = rotation},
                          rows));
  Buffer<float> margin;
  HEED_TRY(margin.allocate(rows, "margins"));
  hasher.hash({.x = x.data(), .stride = dim, .rows = rows}, round, out.data(), margin.data());
  return {};
}

}  // namespace heed
