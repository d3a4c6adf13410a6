// The two matrix products of attention, logits and accumulate, against float64.
#include <catch2/catch_test_macros.hpp>

#include "support/attention_case.hpp"
#include "support/kernel_sizes.hpp"

namespace heed::tests {
namespace {

using kernels::kKeyBlock;

/// A sum of n float32 products, fused or not, in any order: gamma_(n + 1) times the sum of the
/// products' magnitudes (Higham 2002, section 3.1).
double product_bound(std::size_t n, double magnitude) {
  return static_cast<double>(n + 2) * 0x1p-24 * magnitude;
}

TEST_CASE("logits are the dot products of queries and keys") {
  const char* const isa = any_instruction_set();
  CAPTURE(isa);
  const InstructionSetScope scope(isa);
  const auto& kernel = kernels::table();
  reference::Random random(21);
  for (const std::size_t keys : kernel_sizes(kKeyBlock)) {
    for (const std::size_t dim : kernel_sizes(70)) {
      for (const std::size_t groups : {std::size_t{1}, std::size_t{3}}) {
        CAPTURE(keys, dim, groups);
        const std::size_t rows = groups * kernel.group_rows;
        const std::size_t padded = rounded_up(keys, kernel.panel_width);
        const auto q = random.normals(rows * dim), k = random.normals(keys * dim);
        MisalignedFloats packed_q(rows * dim), packed_k(padded * dim), s(rows * kKeyBlock);
        kernel.pack_queries(q.data(), dim, nullptr, rows, dim, 1.0f, packed_q.data());
        kernel.pack_keys(k.data(), dim, nullptr, keys, dim, packed_k.data());
        kernel.logits(packed_q.data(), groups, packed_k.data(), keys, dim, s.data());
        std::size_t wrong = 0;
        for (std::size_t r = 0; r < rows; ++r) {
          for (std::size_t c = 0; c < kKeyBlock; ++c) {
            double dot = 0, magnitude = 0;
            for (std::size_t t = 0; c < keys && t < dim; ++t) {
              const double product = static_cast<double>(q[r * dim + t]) * k[c * dim + t];
              dot += product;
              magnitude += std::abs(product);
            }
            const double got = s[r * kKeyBlock + c];
            // Beyond the padding nothing may be written.
            wrong += c < padded ? !(std::abs(got - dot) <= product_bound(dim, magnitude))
                                : got != MisalignedFloats::kGuard;
          }
        }
        REQUIRE(wrong == 0);
        REQUIRE(s.guards_intact());
      }
    }
  }
}

TEST_CASE("accumulate decays the context and adds weighted values") {
  const char* const isa = any_instruction_set();
  CAPTURE(isa);
  const InstructionSetScope scope(isa);
  const auto& kernel = kernels::table();
  reference::Random random(22);
  constexpr std::size_t kAllKeys = 150;  // the kernel is given a part of the packed values
  for (const std::size_t keys : kernel_sizes(kKeyBlock)) {
    for (const std::size_t dim : kernel_sizes(70)) {
      if (dim == 0) continue;  // value_dim is at least 1
      const std::size_t groups = 1 + keys % 2, first = keys % 7;
      CAPTURE(keys, dim, groups, first);
      const std::size_t rows = groups * kernel.group_rows;
      const std::size_t stride = rounded_up(dim, kernel.panel_width);
      const auto v = random.normals(kAllKeys * dim), p = random.normals(rows * kKeyBlock);
      const auto decay = random.normals(rows), before = random.normals(rows * stride);
      MisalignedFloats packed(stride * kAllKeys), o(before), weights(p);
      kernel.pack_values(v.data(), dim, nullptr, kAllKeys, dim, packed.data());
      kernel.accumulate(weights.data(), groups, decay.data(),
                        packed.data() + first * kernel.panel_width, kAllKeys, keys, dim, o.data());
      std::size_t wrong = 0;
      for (std::size_t r = 0; r < rows; ++r) {
        for (std::size_t t = 0; t < dim; ++t) {
          double sum = static_cast<double>(decay[r]) * before[r * stride + t];
          double magnitude = std::abs(sum);
          for (std::size_t c = 0; c < keys; ++c) {
            const double product =
                static_cast<double>(p[r * kKeyBlock + c]) * v[(first + c) * dim + t];
            sum += product;
            magnitude += std::abs(product);
          }
          wrong += !(std::abs(o[r * stride + t] - sum) <= product_bound(keys + 1, magnitude));
        }
      }
      REQUIRE(wrong == 0);
      REQUIRE(o.guards_intact());
    }
  }
}

}  // namespace
}  // namespace heed::tests
