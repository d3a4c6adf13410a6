#include "attention/lsh_hash.hpp"

#include <algorithm>
#include <bit>
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

Status LshHasher::prepare(std::size_t dim, std::size_t buckets, Rotation rotation,
                          std::size_t first_round, std::size_t rounds, std::uint64_t seed) {
  factors_ = factor_buckets(buckets);
  dim_ = dim;
  rotation_ = rotation;
  first_round_ = first_round;
  transform_size_ = std::bit_ceil(dim);
  const std::size_t panel = kernels::table().panel_width;
  const bool gaussian = rotation == Rotation::kGaussian;
  for (std::size_t factor = 0; factor < 2; ++factor) {
    const bool fits =
        gaussian ? checked_product({dim, round_up(width(factor), panel)}, factor_size_[factor])
                 : checked_product({ceil_div(width(factor), transform_size_), 3, transform_size_},
                                   factor_size_[factor]);
    if (!fits) {
      return {ErrorCode::kOverflow, "buckets", std::to_string(buckets), "fewer buckets"};
    }
  }
  std::size_t total = 0;
  if (!checked_product({factor_size_[0] + factor_size_[1], rounds}, total)) {
    return {ErrorCode::kOverflow, "rounds", std::to_string(rounds), "fewer rounds or buckets"};
  }
  HEED_TRY(rotations_.allocate(total, "rotations"));
  HEED_TRY(
      work_.allocate(gaussian ? dim * std::max(width(0), width(1)) : 2 * transform_size_ * panel,
                     "work of hashing"));
  float* out = rotations_.data();
  for (std::size_t round = first_round; round < first_round + rounds; ++round) {
    for (std::size_t factor = 0; factor < 2; ++factor, out += factor_size_[factor - 1]) {
      if (gaussian) {
        draw_matrix(seed, 2 * round + factor, width(factor), out);
      } else {
        draw_signs(seed, 2 * round + factor, {out, factor_size_[factor]});
      }
    }
  }
  return {};
}

void LshHasher::draw_matrix(std::uint64_t seed, std::uint64_t stream, std::size_t columns,
                            float* out) {
  for (std::size_t i = 0; i < dim_ * columns; ++i) work_[i] = normal_draw(seed, stream, i);
  kernels::table().pack_values(work_.data(), columns, nullptr, dim_, columns, out);
}

void LshHasher::draw_signs(std::uint64_t seed, std::uint64_t stream, std::span<float> out) {
  constexpr std::uint64_t kSigns = std::uint64_t{1} << 32;  // apart from the matrices' streams
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = uniform_below(seed, kSigns + stream, i, 2) == 0 ? 1.0f : -1.0f;
  }
}

void LshHasher::hash_factor(const float* x, std::size_t stride, std::size_t rows, std::size_t round,
                            std::size_t factor, std::uint32_t* bucket, float* margin) {
  const auto& kernel = kernels::table();
  const float* const drawn = rotations_.data() +
                             (round - first_round_) * (factor_size_[0] + factor_size_[1]) +
                             factor * factor_size_[0];
  if (rotation_ == Rotation::kGaussian) {
    kernel.hash_rows(x, stride, rows, dim_, drawn, width(factor), bucket, margin);
  } else {
    kernel.hash_rows_hadamard(x, stride, rows, dim_, drawn, transform_size_, width(factor), bucket,
                              margin, work_.data());
  }
}

void LshHasher::hash(const float* x, std::size_t stride, std::size_t rows, std::size_t round,
                     std::uint32_t* bucket, float* margin) {
  hash_factor(x, stride, rows, round, 0, bucket, margin);
  if (factors_.second == 1) return;
  constexpr std::size_t kBlock = 256;  // rows whose second hash waits on the stack
  std::uint32_t second[kBlock];
  float second_margin[kBlock];
  for (std::size_t r = 0; r < rows; r += kBlock) {
    const std::size_t count = std::min(kBlock, rows - r);
    hash_factor(x + r * stride, stride, count, round, 1, second, second_margin);
    for (std::size_t i = 0; i < count; ++i) {
      bucket[r + i] += static_cast<std::uint32_t>(factors_.first) * second[i];
      margin[r + i] = std::min(margin[r + i], second_margin[i]);
    }
  }
}

double LshHasher::multiply_adds() const {
  double total = 0;
  for (std::size_t factor = 0; factor < 2; ++factor) {
    if (rotation_ == Rotation::kGaussian) {
      total += static_cast<double>(dim_ * width(factor));
    } else {
      // Three rounds of signs and a transform of n log2 n additions (Andoni et al. 2015, section
      // 6).
      const auto n = static_cast<double>(transform_size_);
      const auto transforms = static_cast<double>(ceil_div(width(factor), transform_size_));
      total += transforms * 3 * n * (1 + std::log2(n));
    }
  }
  return total;
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
                Rotation rotation) {
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
  HEED_TRY(hasher.prepare(dim, buckets, rotation, round, 1, seed));
  Buffer<float> margin;
  HEED_TRY(margin.allocate(rows, "margins"));
  hasher.hash(x.data(), dim, rows, round, out.data(), margin.data());
  return {};
}

}  // namespace heed
