// Principal components against clouds whose directions are known, and by what defines them.
#include "heed/principal_components.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <vector>

#include "reference/random.hpp"

namespace heed::tests {
namespace {

using Catch::Approx;

struct Found {
  std::vector<float> mean, components, explained;
};

Found find(const std::vector<float>& x, std::size_t rows, std::size_t dim, std::size_t count) {
  Found f{std::vector<float>(dim), std::vector<float>(count * dim), std::vector<float>(count)};
  REQUIRE(principal_components(x, rows, dim, count, {f.mean, f.components, f.explained}).ok());
  return f;
}

double dot(const float* a, const float* b, std::size_t n) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += static_cast<double>(a[i]) * b[i];
  return sum;
}

}  // namespace

TEST_CASE("principal components of a flat cloud are its plane, and explain all of it") {
  constexpr std::size_t kRows = 300, kDim = 7;
  const double s = std::sqrt(0.5);
  std::vector<float> x(kRows * kDim);
  for (std::size_t r = 0; r < kRows; ++r) {
    const double a = 3 * std::cos(0.7 * static_cast<double>(r)),
                 b = std::sin(0.7 * static_cast<double>(r));
    x[r * kDim + 1] = static_cast<float>(5 + a * s);
    x[r * kDim + 4] = static_cast<float>(a * s);
    x[r * kDim + 6] = static_cast<float>(b);
  }
  const Found f = find(x, kRows, kDim, 3);
  CHECK(std::fabs(f.mean[1] - 5) < 0.05f);
  CHECK(f.components[1] == Approx(s).margin(1e-3));
  CHECK(f.components[4] == Approx(s).margin(1e-3));
  CHECK(f.components[kDim + 6] == Approx(1).margin(1e-3));
  CHECK(f.explained[0] == Approx(0.9).margin(5e-3));
  CHECK(f.explained[0] + f.explained[1] == Approx(1).margin(1e-6));
  CHECK(f.explained[2] == Approx(0).margin(1e-9));
}

TEST_CASE("principal components are orthonormal, ordered, and no direction spreads more") {
  constexpr std::size_t kRows = 400, kDim = 24;
  reference::Random random(11);
  std::vector<float> x(kRows * kDim);
  for (std::size_t n = 0; n < x.size(); ++n) {
    x[n] = static_cast<float>(random.normal() * (1 + 3.0 / static_cast<double>(1 + n % kDim)));
  }
  const Found f = find(x, kRows, kDim, kDim);
  double shares = 0;
  for (std::size_t a = 0; a < kDim; ++a) {
    shares += f.explained[a];
    if (a > 0) CHECK(f.explained[a] <= f.explained[a - 1]);
    for (std::size_t b = 0; b < kDim; ++b) {
      CHECK(dot(&f.components[a * kDim], &f.components[b * kDim], kDim) ==
            Approx(a == b ? 1 : 0).margin(1e-5));
    }
  }
  CHECK(shares == Approx(1).margin(1e-5));
  const auto spread = [&](const std::vector<float>& direction) {
    double sum = 0, total = 0;
    for (std::size_t r = 0; r < kRows; ++r) {
      std::vector<float> row(kDim);
      for (std::size_t t = 0; t < kDim; ++t) row[t] = x[r * kDim + t] - f.mean[t];
      const double along = dot(row.data(), direction.data(), kDim);
      sum += along * along;
      total += dot(row.data(), row.data(), kDim);
    }
    return sum / total / dot(direction.data(), direction.data(), kDim);
  };
  CHECK(spread({f.components.begin(), f.components.begin() + kDim}) ==
        Approx(f.explained[0]).margin(1e-5));
  for (int trial = 0; trial < 20; ++trial) {
    std::vector<float> direction(kDim);
    for (float& v : direction) v = static_cast<float>(random.normal());
    CHECK(spread(direction) <= f.explained[0] + 1e-6);
  }
}

TEST_CASE("principal components of no rows, of equal rows and of huge rows are finite") {
  for (const auto& [rows, value] : {std::pair{0, 0.f}, {5, 2.f}, {4, 3e38f}}) {
    std::vector<float> x(static_cast<std::size_t>(rows) * 3, value);
    if (value > 1e30f) x[0] = -value;
    const Found f = find(x, static_cast<std::size_t>(rows), 3, 2);
    for (const auto* part : {&f.mean, &f.components, &f.explained}) {
      for (const float v : *part) CHECK(std::isfinite(v));
    }
    if (value < 1e30f) CHECK(f.explained[0] == 0);
  }
}

TEST_CASE("principal components refuse wrong sizes and numbers by name") {
  std::vector<float> x(6), mean(3), components(3), explained(1);
  const PrincipalComponents out{mean, components, explained};
  CHECK(principal_components(x, 2, 0, 1, out).field == "dim");
  CHECK(principal_components(x, 2, 2000, 1, out).field == "dim");
  CHECK(principal_components(x, 3, 3, 1, out).field == "x");
  CHECK(principal_components(x, static_cast<std::size_t>(-1), 3, 1, out).field == "x");
  CHECK(principal_components(x, 2, 3, 4, out).field == "components");
  CHECK(principal_components(x, 2, 3, 2, out).field == "out");
  x[2] = NAN;
  CHECK(principal_components(x, 2, 3, 1, out).field == "x");
}

}  // namespace heed::tests
