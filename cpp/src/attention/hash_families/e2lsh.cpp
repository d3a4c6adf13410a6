#include "attention/hash_families/e2lsh.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "core/failure.hpp"
#include "kernels/kernel_table.hpp"

namespace heed {
namespace {

constexpr std::size_t kBlock = 64;  // rows projected at a time

/// Unsigned numbers in the order of the floats they stand for.
std::uint32_t ordered_bits(float value) {
  constexpr std::uint32_t kSign = 0x80000000u;
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}

}  // namespace

Status E2LshHash::prepare(const HashSetup& setup, std::size_t longest) {
  const auto& kernel = kernels::table();
  dim_ = setup.dim;
  first_round_ = setup.first_round;
  std::size_t total = 0;
  if (!checked_product({dim_, kernel.panel_width}, round_size_) ||
      !checked_product({round_size_, setup.rounds}, total)) {
    return {ErrorCode::kOverflow, "rounds", std::to_string(setup.rounds), "fewer rounds"};
  }
  HEED_TRY(directions_.allocate(total, "directions"));
  HEED_TRY(lifts_.allocate(2 * setup.rounds, "directions"));
  HEED_TRY(work_.allocate(std::max(dim_ + 2, kBlock * kernel.panel_width), "work of hashing"));
  HEED_TRY(values_.allocate(longest, "projections"));
  HEED_TRY(entries_.allocate(longest, "sorted projections"));
  for (std::size_t r = 0; r < setup.rounds; ++r) {
    // Even streams, as the first factors of cross-polytope rounds.
    draw_normals(setup.seed, 2 * (first_round_ + r), dim_ + 2, work_.data());
    kernel.pack_values(work_.data(), 1, nullptr, dim_, 1, directions_.data() + r * round_size_);
    std::copy_n(work_.data() + dim_, 2, lifts_.data() + 2 * r);
  }
  return {};
}

void E2LshHash::project(const HashRows& rows, std::size_t round) {
  const auto& kernel = kernels::table();
  const std::size_t r = round - first_round_;
  // G(k) = [k; rest; 0] and F(q) = [q; 0; rest] with rest^2 = Mq^2 + Mk^2 - |x|^2 (Daras et al.
  // 2020, section 3.2): |F - G|^2 = 2 (Mq^2 + Mk^2 - <q, k>).
  const double lift = lifts_[2 * r + (rows.keys ? 0 : 1)];
  for (std::size_t first = 0; first < rows.rows; first += kBlock) {
    const std::size_t count = std::min(kBlock, rows.rows - first);
    kernel.project_rows(rows.x + first * rows.stride, rows.stride, count, dim_,
                        directions_.data() + r * round_size_, 1, work_.data());
    for (std::size_t i = 0; i < count; ++i) {
      const double rest = rows.square_sum - square_norm(rows.x + (first + i) * rows.stride, dim_);
      values_[first + i] =
          static_cast<float>(work_[i * kernel.panel_width] + lift * std::sqrt(std::max(0.0, rest)));
    }
  }
}

void E2LshHash::hash(const HashRows& rows, std::size_t round, std::uint32_t* bucket,
                     float* margin) {
  project(rows, round);
  std::size_t count = 0;
  for (std::size_t i = 0; i < rows.rows; ++i) {
    if (rows.visible != nullptr && rows.visible[i] == 0) continue;
    entries_[count++] = std::uint64_t{ordered_bits(values_[i])} << 32 | i;
  }
  const auto entries = entries_.span().first(count);
  std::sort(entries.begin(), entries.end());
  const auto row_at = [&](std::size_t rank) { return static_cast<std::uint32_t>(entries[rank]); };
  for (std::size_t begin = 0; begin < count; begin += rows.cluster) {
    const std::size_t end = std::min(begin + rows.cluster, count);
    constexpr float kNone = std::numeric_limits<float>::infinity();
    const float before = begin > 0 ? values_[row_at(begin - 1)] : -kNone;
    const float after = end < count ? values_[row_at(end)] : kNone;
    for (std::size_t rank = begin; rank < end; ++rank) {
      const std::uint32_t i = row_at(rank);
      bucket[i] = static_cast<std::uint32_t>(begin / rows.cluster);
      margin[i] = std::min(values_[i] - before, after - values_[i]);
    }
  }
}

}  // namespace heed
