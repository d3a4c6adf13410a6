// The packing kernels against their layouts, element by element.
#include <catch2/catch_test_macros.hpp>

#include "support/attention_case.hpp"
#include "support/kernel_sizes.hpp"

namespace heed::tests {
namespace {

constexpr std::size_t kExtra = 3;  // strides are longer than rows

/// Rows of x, through an index that repeats and skips, or null.
struct Rows {
  std::size_t count, dim, stride;
  std::vector<std::uint32_t> index;
  MisalignedFloats x;

  Rows(std::size_t count_, std::size_t dim_, bool indexed, reference::Random& random)
      : count(count_),
        dim(dim_),
        stride(dim_ + kExtra),
        x(random.normals((count_ + 5) * (dim_ + kExtra))) {
    if (indexed) {
      for (std::size_t r = 0; r < count; ++r) {
        index.push_back(static_cast<std::uint32_t>(random.size(0, count + 4)));
      }
      index.push_back(0);  // so that data() is not null when there are no rows
    }
  }
  const std::uint32_t* indices() const { return index.empty() ? nullptr : index.data(); }
  float at(std::size_t row, std::size_t column) {
    return x[(index.empty() ? row : index[row]) * stride + column];
  }
};

template <class Body>
void for_all_rows(Body body) {
  const char* const isa = any_instruction_set();
  CAPTURE(isa);
  const InstructionSetScope scope(isa);
  reference::Random random(11);
  for (const std::size_t count : kernel_sizes(40)) {
    for (const std::size_t dim : kernel_sizes(70)) {
      for (const bool indexed : {false, true}) {
        CAPTURE(count, dim, indexed);
        Rows rows(count, dim, indexed, random);
        body(rows);
      }
    }
  }
}

TEST_CASE("pack_keys transposes rows into zero-padded panels") {
  for_all_rows([](Rows& rows) {
    const std::size_t panel = kernels::table().panel_width;
    MisalignedFloats packed(rounded_up(rows.count, panel) * rows.dim);
    kernels::table().pack_keys(rows.x.data(), rows.stride, rows.indices(), rows.count, rows.dim,
                               packed.data());
    std::size_t wrong = 0;
    for (std::size_t r = 0; r < rounded_up(rows.count, panel); ++r) {
      for (std::size_t t = 0; t < rows.dim; ++t) {
        const float want = r < rows.count ? rows.at(r, t) : 0.0f;
        wrong += packed[r / panel * panel * rows.dim + t * panel + r % panel] != want;
      }
    }
    REQUIRE(wrong == 0);
    REQUIRE(packed.guards_intact());
  });
}

TEST_CASE("pack_values cuts columns into zero-padded panels") {
  for_all_rows([](Rows& rows) {
    const std::size_t panel = kernels::table().panel_width;
    MisalignedFloats packed(rounded_up(rows.dim, panel) * rows.count);
    kernels::table().pack_values(rows.x.data(), rows.stride, rows.indices(), rows.count, rows.dim,
                                 packed.data());
    std::size_t wrong = 0;
    for (std::size_t r = 0; r < rows.count; ++r) {
      for (std::size_t t = 0; t < rounded_up(rows.dim, panel); ++t) {
        const float want = t < rows.dim ? rows.at(r, t) : 0.0f;
        wrong += packed[t / panel * panel * rows.count + r * panel + t % panel] != want;
      }
    }
    REQUIRE(wrong == 0);
    REQUIRE(packed.guards_intact());
  });
}

TEST_CASE("pack_queries scales and transposes rows into zero-padded groups") {
  for_all_rows([](Rows& rows) {
    constexpr float kScale = -0.3f;
    const std::size_t group = kernels::table().group_rows;
    MisalignedFloats packed(rounded_up(rows.count, group) * rows.dim);
    kernels::table().pack_queries(rows.x.data(), rows.stride, rows.indices(), rows.count, rows.dim,
                                  kScale, packed.data());
    std::size_t wrong = 0;
    for (std::size_t r = 0; r < rounded_up(rows.count, group); ++r) {
      for (std::size_t t = 0; t < rows.dim; ++t) {
        const float want = r < rows.count ? kScale * rows.at(r, t) : 0.0f;
        wrong += packed[r / group * group * rows.dim + t * group + r % group] != want;
      }
    }
    REQUIRE(wrong == 0);
    REQUIRE(packed.guards_intact());
  });
}

}  // namespace
}  // namespace heed::tests
