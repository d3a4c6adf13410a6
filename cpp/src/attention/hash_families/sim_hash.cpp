#include "attention/hash_families/sim_hash.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/failure.hpp"
#include "kernels/kernel_table.hpp"

namespace heed {
namespace {

constexpr std::size_t kBlock = 64;  // rows projected at a time

}  // namespace

Status SimHash::prepare(const HashSetup& setup) {
  dim_ = setup.dim;
  bits_ = static_cast<std::size_t>(std::countr_zero(setup.buckets));
  first_round_ = setup.first_round;
  const std::size_t padded = round_up(bits_, kernels::table().panel_width);
  std::size_t total = 0;
  if (!checked_product({dim_, padded}, round_size_) ||
      !checked_product({round_size_, setup.rounds}, total)) {
    return {ErrorCode::kOverflow, "rounds", std::to_string(setup.rounds), "fewer rounds"};
  }
  HEED_TRY(normals_.allocate(total, "hyperplanes"));
  HEED_TRY(work_.allocate(std::max(dim_ * bits_, kBlock * padded), "work of hashing"));
  for (std::size_t r = 0; r < setup.rounds; ++r) {
    draw_normals_of(setup.seed, first_round_ + r, normals_.data() + r * round_size_);
  }
  return {};
}

void SimHash::draw_normals_of(std::uint64_t seed, std::size_t round, float* out) {
  // Even streams, as the first factors of cross-polytope rounds.
  draw_normals(seed, 2 * round, dim_ * bits_, work_.data());
  for (std::size_t c = 0; c < bits_; ++c) {
    double square = 0;
    for (std::size_t t = 0; t < dim_; ++t) {
      square += static_cast<double>(work_[t * bits_ + c]) * work_[t * bits_ + c];
    }
    const double norm = std::sqrt(square);
    for (std::size_t t = 0; t < dim_; ++t) {
      work_[t * bits_ + c] = static_cast<float>(work_[t * bits_ + c] / norm);
    }
  }
  kernels::table().pack_values(work_.data(), bits_, nullptr, dim_, bits_, out);
}

void SimHash::hash(const HashRows& rows, std::size_t round, std::uint32_t* bucket, float* margin) {
  const auto& kernel = kernels::table();
  const float* const normals = normals_.data() + (round - first_round_) * round_size_;
  const std::size_t padded = round_up(bits_, kernel.panel_width);
  for (std::size_t first = 0; first < rows.rows; first += kBlock) {
    const std::size_t count = std::min(kBlock, rows.rows - first);
    kernel.project_rows(rows.x + first * rows.stride, rows.stride, count, dim_, normals, bits_,
                        work_.data());
    for (std::size_t r = 0; r < count; ++r) {
      const float* const y = work_.data() + r * padded;
      std::uint32_t word = 0;
      float nearest = std::numeric_limits<float>::infinity();
      for (std::size_t c = 0; c < bits_; ++c) {
        word |= static_cast<std::uint32_t>(y[c] > 0) << c;
        nearest = std::min(nearest, std::abs(y[c]));
      }
      bucket[first + r] = gray_rank(word);
      margin[first + r] = nearest;
    }
  }
}

}  // namespace heed
