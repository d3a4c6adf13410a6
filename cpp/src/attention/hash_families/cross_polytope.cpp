#include "attention/hash_families/cross_polytope.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/failure.hpp"
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

std::size_t round_up_cross_polytope_buckets(std::size_t wanted) {
  const std::size_t even = std::max<std::size_t>(2, round_up(wanted, 2));
  if (even <= kSingleRotationBuckets) return even;
  const std::size_t first =
      round_up(static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(wanted)))), 2);
  return first * round_up(ceil_div(wanted, first), 2);
}

Status CrossPolytopeHash::prepare(const HashSetup& setup) {
  const auto& [dim, buckets, first_round, rounds, seed, family, rotation] = setup;
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

double CrossPolytopeHash::multiply_adds() const {
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

void CrossPolytopeHash::draw_matrix(std::uint64_t seed, std::uint64_t stream, std::size_t columns,
                                    float* out) {
  draw_normals(seed, stream, dim_ * columns, work_.data());
  kernels::table().pack_values(work_.data(), columns, nullptr, dim_, columns, out);
}

void CrossPolytopeHash::draw_signs(std::uint64_t seed, std::uint64_t stream, std::span<float> out) {
  constexpr std::uint64_t kSigns = std::uint64_t{1} << 32;  // apart from the matrices' streams
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = uniform_below(seed, kSigns + stream, i, 2) == 0 ? 1.0f : -1.0f;
  }
}

void CrossPolytopeHash::hash_factor(const float* x, std::size_t stride, std::size_t rows,
                                    std::size_t round, std::size_t factor, std::uint32_t* bucket,
                                    float* margin) {
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

void CrossPolytopeHash::hash(const HashRows& rows, std::size_t round, std::uint32_t* bucket,
                             float* margin) {
  hash_factor(rows.x, rows.stride, rows.rows, round, 0, bucket, margin);
  if (factors_.second == 1) return;
  constexpr std::size_t kBlock = 256;  // rows whose second hash waits on the stack
  std::uint32_t second[kBlock];
  float second_margin[kBlock];
  for (std::size_t r = 0; r < rows.rows; r += kBlock) {
    const std::size_t count = std::min(kBlock, rows.rows - r);
    hash_factor(rows.x + r * rows.stride, rows.stride, count, round, 1, second, second_margin);
    for (std::size_t i = 0; i < count; ++i) {
      bucket[r + i] += static_cast<std::uint32_t>(factors_.first) * second[i];
      margin[r + i] = std::min(margin[r + i], second_margin[i]);
    }
  }
}

}  // namespace heed
