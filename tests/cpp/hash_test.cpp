// The cross-polytope hash kernel against the oracle, and against itself on other instruction sets.
#include <bit>
#include <catch2/catch_test_macros.hpp>

#include "reference/lsh.hpp"
#include "support/attention_case.hpp"
#include "support/kernel_sizes.hpp"

namespace heed::tests {
namespace {

struct Hashed {
  std::vector<std::uint32_t> bucket;
  std::vector<float> margin;
  bool operator==(const Hashed&) const = default;
};

Hashed hash(const std::vector<float>& x, std::size_t rows, std::size_t dim,
            const std::vector<float>& rotation, std::size_t width) {
  Hashed out{std::vector<std::uint32_t>(rows, 0xdeadu), std::vector<float>(rows, NAN)};
  const auto& kernel = kernels::table();
  MisalignedFloats from(x), by(rounded_up(width, kernel.panel_width) * dim);
  kernel.pack_values(rotation.data(), width, nullptr, dim, width, by.data());
  kernel.hash_rows(from.data(), dim, rows, dim, by.data(), width, out.bucket.data(),
                   out.margin.data());
  return out;
}

TEST_CASE("hash_rows agrees with the oracle wherever the margin exceeds rounding") {
  const char* const isa = any_instruction_set();
  CAPTURE(isa);
  const InstructionSetScope scope(isa);
  reference::Random random(51);
  std::size_t compared = 0, total = 0;
  for (const std::size_t width : kernel_sizes()) {
    if (width == 0) continue;  // at least two buckets
    for (const std::size_t dim : kernel_sizes(70)) {
      CAPTURE(width, dim);
      constexpr std::size_t kRows = 9;
      const auto x = random.normals(kRows * dim), rotation = random.normals(dim * width);
      const Hashed got = hash(x, kRows, dim, rotation, width);
      for (std::size_t r = 0; r < kRows; ++r) {
        const std::span<const float> row = std::span(x).subspan(r * dim, dim);
        const auto want = reference::cross_polytope_hash(row, rotation, width);
        double size = 0;
        for (const float v : row) size += std::abs(static_cast<double>(v));
        // Each y is off by at most gamma_(dim + 1) sum |x_t| |R_tc|, and |R_tc| < 6.
        const double rounding = static_cast<double>(dim + 2) * 0x1p-24 * size * 6;
        CAPTURE(r, want.margin, got.margin[r]);
        REQUIRE(std::abs(got.margin[r] - want.margin) <= 2 * rounding + 1e-30);
        ++total;
        if (want.margin <= 2 * rounding) continue;
        ++compared;
        REQUIRE(got.bucket[r] == want.bucket);
      }
    }
  }
  // dim 0 makes every margin 0; else ties are rare.
  REQUIRE(static_cast<double>(compared) > 0.8 * static_cast<double>(total));
}

TEST_CASE("hash_rows gives the same bits on every instruction set") {
  reference::Random random(52);
  for (const std::size_t width : {1, 2, 3, 8, 15, 16, 31, 32, 33, 100, 128, 129, 200}) {
    for (const std::size_t dim : {1, 3, 16, 64, 67}) {
      CAPTURE(width, dim);
      const auto x = random.normals(20 * dim), rotation = random.normals(dim * width);
      std::vector<Hashed> results;
      for (const char* const isa : available_instruction_sets()) {
        const InstructionSetScope scope(isa);
        results.push_back(hash(x, 20, dim, rotation, width));
      }
      // The sum in order, multiply then add, is what all of them promise.
      for (std::size_t r = 0; r < 20; ++r) {
        float best = -1, second = -1;
        for (std::size_t c = 0; c < width; ++c) {
          float y = 0;
          for (std::size_t t = 0; t < dim; ++t) y = y + x[r * dim + t] * rotation[t * width + c];
          second = std::max(second, std::min(best, std::abs(y)));
          best = std::max(best, std::abs(y));
        }
        REQUIRE(results[0].margin[r] == (width == 1 ? 2 * best : best - second));
      }
      for (const Hashed& other : results) REQUIRE(other == results[0]);
    }
  }
}

/// H D3 H D2 H D1 / size of each transform as a dense matrix [dim][width] in float64: Sylvester's
/// definition, entry (i, j) of H being -1 to the number of bits i and j share.
std::vector<float> hadamard_matrix(const std::vector<float>& signs, std::size_t size,
                                   std::size_t dim, std::size_t width) {
  const auto entry = [](std::size_t i, std::size_t j) {
    return std::popcount(i & j) % 2 == 0 ? 1.0 : -1.0;
  };
  std::vector<float> matrix(dim * width);
  for (std::size_t t = 0; t < dim; ++t) {
    for (std::size_t first = 0, k = 0; first < width; first += size, ++k) {
      std::vector<double> y(size, 0.0);
      y[t] = 1;
      for (std::size_t layer = 0; layer < 3; ++layer) {
        std::vector<double> next(size, 0.0);
        for (std::size_t i = 0; i < size; ++i) {
          for (std::size_t j = 0; j < size; ++j) {
            next[i] += entry(i, j) * signs[(3 * k + layer) * size + j] * y[j];
          }
        }
        y = next;
      }
      for (std::size_t i = 0; i < std::min(size, width - first); ++i) {
        matrix[t * width + first + i] = static_cast<float>(y[i] / static_cast<double>(size));
      }
    }
  }
  return matrix;
}

Hashed hash_hadamard(const std::vector<float>& x, std::size_t rows, std::size_t dim,
                     const std::vector<float>& signs, std::size_t size, std::size_t width) {
  Hashed out{std::vector<std::uint32_t>(rows, 0xdeadu), std::vector<float>(rows, NAN)};
  MisalignedFloats from(x), by(signs), work(2 * size * kernels::table().panel_width);
  kernels::table().hash_rows_hadamard(from.data(), dim, rows, dim, by.data(), size, width,
                                      out.bucket.data(), out.margin.data(), work.data());
  REQUIRE(work.guards_intact());
  return out;
}

TEST_CASE("a Hadamard hash is the hash by the matrix that its signs and transforms make") {
  reference::Random random(53);
  for (const std::size_t dim : {1, 2, 3, 5, 8, 16, 20, 64, 100, 128}) {
    const std::size_t size = std::bit_ceil(dim);
    for (const std::size_t width : {std::size_t{1}, std::size_t{3}, size, 2 * size + 1}) {
      constexpr std::size_t kRows = 37;
      const std::size_t transforms = (width + size - 1) / size;
      std::vector<float> signs(transforms * 3 * size);
      for (float& sign : signs) sign = random.chance(0.5) ? 1.0f : -1.0f;
      const auto x = random.normals(kRows * dim);
      const auto matrix = hadamard_matrix(signs, size, dim, width);
      std::vector<Hashed> results;
      for (const char* const isa : available_instruction_sets()) {
        const InstructionSetScope scope(isa);
        results.push_back(hash_hadamard(x, kRows, dim, signs, size, width));
      }
      CAPTURE(dim, width);
      for (const Hashed& other : results) REQUIRE(other == results[0]);
      for (std::size_t r = 0; r < kRows; ++r) {
        const std::span<const float> row = std::span(x).subspan(r * dim, dim);
        const auto want = reference::cross_polytope_hash(row, matrix, width);
        double magnitude = 0;
        for (const float v : row) magnitude += std::abs(static_cast<double>(v));
        // Each of 3 log2(size) sums rounds; no value exceeds sqrt(size) times the vector's length.
        const double rounding = static_cast<double>(3 * std::bit_width(size)) * 0x1p-24 *
                                std::sqrt(static_cast<double>(size)) * magnitude;
        CAPTURE(r, want.margin, results[0].margin[r]);
        REQUIRE(std::abs(results[0].margin[r] - want.margin) <= 2 * rounding);
        if (want.margin > 2 * rounding) REQUIRE(results[0].bucket[r] == want.bucket);
      }
    }
  }
}

TEST_CASE("ties of a hash go to the smaller index and have margin 0") {
  const char* const isa = any_instruction_set();
  CAPTURE(isa);
  const InstructionSetScope scope(isa);
  for (const std::size_t width :
       {std::size_t{2}, std::size_t{5}, 8 * vector_width(), std::size_t{131}}) {
    CAPTURE(width);
    const auto bucket_of = [width](std::vector<float> y) {
      return hash({1.0f}, 1, 1, y, width);  // x = 1, so that y is the rotation's only row
    };
    std::vector<float> y(width, 0.0f);
    CHECK(bucket_of(y) == Hashed{{0}, {0.0f}});
    y.assign(width, -0.0f);
    CHECK(bucket_of(y) == Hashed{{0}, {0.0f}});
    y.assign(width, 0.5f);
    CHECK(bucket_of(y) == Hashed{{0}, {0.0f}});
    y.assign(width, -0.5f);
    CHECK(bucket_of(y) == Hashed{{static_cast<std::uint32_t>(width)}, {0.0f}});
    // [y; -y] = [-.5 ... .5; .5 ... -.5]: the positive end of the last column comes first.
    y.back() = 0.5f;
    CHECK(bucket_of(y) == Hashed{{static_cast<std::uint32_t>(width - 1)}, {0.0f}});
    y.front() = -0.75f;
    CHECK(bucket_of(y) == Hashed{{static_cast<std::uint32_t>(width)}, {0.25f}});
  }
}

}  // namespace
}  // namespace heed::tests
