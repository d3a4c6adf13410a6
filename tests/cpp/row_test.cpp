// The kernels for one query at a time, and the hiding of candidates already seen.
#include <catch2/catch_test_macros.hpp>

#include "support/attention_case.hpp"
#include "support/kernel_sizes.hpp"

namespace heed::tests {
namespace {

template <class Body>
void for_all_sizes(Body body) {
  const char* const isa = any_instruction_set();
  CAPTURE(isa);
  const InstructionSetScope scope(isa);
  reference::Random random(41);
  for (const std::size_t keys : {0, 1, 5, 33}) {
    for (const std::size_t dim : kernel_sizes()) {
      for (const bool indexed : {false, true}) {
        CAPTURE(keys, dim, indexed);
        std::vector<std::uint32_t> index;
        for (std::size_t c = 0; c < keys; ++c) {
          index.push_back(static_cast<std::uint32_t>(indexed ? random.size(0, keys + 2) : c));
        }
        body(keys, dim, indexed ? index.data() : nullptr, index, random);
      }
    }
  }
}

TEST_CASE("row_logits are scaled dot products with gathered keys") {
  for_all_sizes([](std::size_t keys, std::size_t dim, const std::uint32_t* pointer,
                   const std::vector<std::uint32_t>& index, reference::Random& random) {
    constexpr float kScale = 0.37f;
    const std::size_t stride = dim + 3;
    MisalignedFloats q(random.normals(dim)), k(random.normals((keys + 3) * stride)), s(keys);
    kernels::table().row_logits(q.data(), k.data(), stride, pointer, keys, dim, kScale, s.data());
    std::size_t wrong = 0;
    for (std::size_t c = 0; c < keys; ++c) {
      double dot = 0, magnitude = 0;
      for (std::size_t t = 0; t < dim; ++t) {
        const double product = static_cast<double>(q[t]) * k[index[c] * stride + t];
        dot += product;
        magnitude += std::abs(product);
      }
      const double bound = static_cast<double>(dim + 3) * 0x1p-24 * kScale * magnitude;
      wrong += !(std::abs(s[c] - kScale * dot) <= bound);
    }
    REQUIRE(wrong == 0);
    REQUIRE(s.guards_intact());
  });
}

TEST_CASE("row_accumulate decays a context and adds gathered values") {
  for_all_sizes([](std::size_t keys, std::size_t dim, const std::uint32_t* pointer,
                   const std::vector<std::uint32_t>& index, reference::Random& random) {
    constexpr float kDecay = 0.6f;
    const std::size_t stride = dim + 1;
    const auto before = random.normals(dim);
    MisalignedFloats p(random.normals(keys)), v(random.normals((keys + 3) * stride)), o(before);
    kernels::table().row_accumulate(p.data(), v.data(), stride, pointer, keys, dim, kDecay,
                                    o.data());
    std::size_t wrong = 0;
    for (std::size_t t = 0; t < dim; ++t) {
      double sum = static_cast<double>(kDecay) * before[t], magnitude = std::abs(sum);
      for (std::size_t c = 0; c < keys; ++c) {
        const double product = static_cast<double>(p[c]) * v[index[c] * stride + t];
        sum += product;
        magnitude += std::abs(product);
      }
      wrong += !(std::abs(o[t] - sum) <= static_cast<double>(keys + 3) * 0x1p-24 * magnitude);
    }
    REQUIRE(wrong == 0);
    REQUIRE(o.guards_intact());
  });
}

TEST_CASE("hide_code_range hides codes from the query's own down to span below it") {
  const char* const isa = any_instruction_set();
  CAPTURE(isa);
  const InstructionSetScope scope(isa);
  for (const std::size_t keys : kernel_sizes()) {
    for (const std::uint32_t span : {0u, 1u}) {
      for (const std::uint32_t query : {0u, 1u, 7u, 0x7fffffffu, 0xffffffffu}) {
        CAPTURE(keys, span, query);
        std::vector<std::uint32_t> code;
        for (std::size_t c = 0; c < keys; ++c) {
          code.push_back(query + 2u - static_cast<std::uint32_t>(c % 5));  // wraps on purpose
        }
        MisalignedFloats s(keys);
        kernels::table().hide_code_range(s.data(), keys, query, code.data(), span);
        std::size_t wrong = 0;
        for (std::size_t c = 0; c < keys; ++c) {
          const bool own = c % 5 == 2, before = c % 5 == 3;
          const bool hidden = own || (span == 1 && before);
          wrong += s[c] != (hidden ? -kInfinity : MisalignedFloats::kGuard);
        }
        REQUIRE(wrong == 0);
        REQUIRE(s.guards_intact());
      }
    }
  }
}

}  // namespace
}  // namespace heed::tests
