#include "attention/lsh_hash.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/failure.hpp"
#include "core/philox.hpp"
#include "core/problem.hpp"
#include "heed/lsh_attention.hpp"
#include "kernels/kernel_table.hpp"

namespace heed {

BucketFactors factor_buckets(std::size_t buckets) {
  if (buckets <= kSingleRotationBuckets) return {buckets, 1};
  auto second = static_cast<std::size_t>(std::sqrt(static_cast<double>(buckets)));
  for (; second >= 2; --second) {
    if (second % 2 == 0 && buckets % second == 0 && (buckets / second) % 2 == 0) {
      return {buckets / second, second};
    }
  }
  return {0, 1};
}

std::size_t round_up_buckets(std::size_t wanted) {
  const std::size_t even = std::max<std::size_t>(2, round_up(wanted, 2));
  if (even <= kSingleRotationBuckets) return even;
  const std::size_t first =
      round_up(static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(wanted)))), 2);
  return first * round_up(ceil_div(wanted, first), 2);
}

Status check_buckets(std::size_t buckets) {
  // The bucket number must fit in 31 bits next to the bucket of hidden keys.
  constexpr std::size_t kMost = std::size_t{1} << 30;
  if (buckets >= 2 && buckets % 2 == 0 && buckets <= kMost && factor_buckets(buckets).first != 0) {
    return {};
  }
  return invalid_value("buckets", std::to_string(buckets),
                       "an even number from 2 to 64, or a multiple of 4 up to 2^30");
}

Status LshHasher::prepare(std::size_t dim, std::size_t buckets, std::size_t first_round,
                          std::size_t rounds, std::uint64_t seed) {
  factors_ = factor_buckets(buckets);
  dim_ = dim;
  first_round_ = first_round;
  const std::size_t panel = kernels::table().panel_width;
  std::size_t total = 0, dense_size = 0;
  for (std::size_t factor = 0; factor < 2; ++factor) {
    if (!checked_product({dim, round_up(width(factor), panel)}, factor_size_[factor])) {
      return {ErrorCode::kOverflow, "buckets", std::to_string(buckets), "fewer buckets"};
    }
    dense_size = std::max(dense_size, dim * width(factor));
  }
  if (!checked_product({factor_size_[0] + factor_size_[1], rounds}, total)) {
    return {ErrorCode::kOverflow, "rounds", std::to_string(rounds), "fewer rounds or buckets"};
  }
  HEED_TRY(rotations_.allocate(total, "rotations"));
  Buffer<float> dense;
  HEED_TRY(dense.allocate(dense_size, "a rotation"));
  float* out = rotations_.data();
  for (std::size_t round = first_round; round < first_round + rounds; ++round) {
    for (std::size_t factor = 0; factor < 2; ++factor) {
      const std::size_t count = dim * width(factor);
      for (std::size_t i = 0; i < count; ++i) dense[i] = normal_draw(seed, 2 * round + factor, i);
      kernels::table().pack_values(dense.data(), width(factor), nullptr, dim, width(factor), out);
      out += factor_size_[factor];
    }
  }
  return {};
}

const float* LshHasher::rotation(std::size_t round, std::size_t factor) const {
  const std::size_t before = (round - first_round_) * (factor_size_[0] + factor_size_[1]);
  return rotations_.data() + before + factor * factor_size_[0];
}

void LshHasher::hash(const float* x, std::size_t stride, std::size_t rows, std::size_t round,
                     std::uint32_t* bucket, float* margin) const {
  const auto& kernel = kernels::table();
  kernel.hash_rows(x, stride, rows, dim_, rotation(round, 0), width(0), bucket, margin);
  if (factors_.second == 1) return;
  constexpr std::size_t kBlock = 256;  // rows whose second hash waits on the stack
  std::uint32_t second[kBlock];
  float second_margin[kBlock];
  for (std::size_t r = 0; r < rows; r += kBlock) {
    const std::size_t count = std::min(kBlock, rows - r);
    kernel.hash_rows(x + r * stride, stride, count, dim_, rotation(round, 1), width(1), second,
                     second_margin);
    for (std::size_t i = 0; i < count; ++i) {
      bucket[r + i] += static_cast<std::uint32_t>(factors_.first) * second[i];
      margin[r + i] = std::min(margin[r + i], second_margin[i]);
    }
  }
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
                std::uint64_t seed, std::size_t round, std::span<std::uint32_t> out) {
  HEED_TRY(check_buckets(buckets));
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
  HEED_TRY(hasher.prepare(dim, buckets, round, 1, seed));
  Buffer<float> margin;
  HEED_TRY(margin.allocate(rows, "margins"));
  hasher.hash(x.data(), dim, rows, round, out.data(), margin.data());
  return {};
}

}  // namespace heed
