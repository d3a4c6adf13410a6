#include "heed/principal_components.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/buffer.hpp"
#include "core/problem.hpp"
#include "heed/tensor.hpp"

namespace heed {
namespace {

/// Jacobi takes some 10 sweeps of 4 dim^3 operations: seconds at this width.
constexpr std::size_t kMostDimensions = 1024;
constexpr int kMostSweeps = 60;

/// A symmetric matrix [n, n] and the rows that become its eigenvectors.
struct Eigen {
  std::size_t n;
  std::span<double> matrix, vectors;

  double& at(std::size_t i, std::size_t j) { return matrix[i * n + j]; }

  double off_diagonal() {
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = i + 1; j < n; ++j) sum += at(i, j) * at(i, j);
    }
    return sum;
  }

  /// The rotation in the plane (p, q) that makes at(p, q) zero (Golub & Van Loan, section 8.5.2).
  void rotate(std::size_t p, std::size_t q) {
    if (at(p, q) == 0) return;
    const double theta = (at(q, q) - at(p, p)) / (2 * at(p, q));
    const double t = std::copysign(1.0, theta) / (std::fabs(theta) + std::hypot(theta, 1.0));
    const double c = 1 / std::hypot(t, 1.0), s = t * c;
    for (std::size_t k = 0; k < n; ++k) {
      const double kp = at(k, p), kq = at(k, q);
      at(k, p) = c * kp - s * kq;
      at(k, q) = s * kp + c * kq;
    }
    for (std::size_t k = 0; k < n; ++k) {
      const double pk = at(p, k), qk = at(q, k);
      at(p, k) = c * pk - s * qk;
      at(q, k) = s * pk + c * qk;
      double& vp = vectors[p * n + k];
      double& vq = vectors[q * n + k];
      const double old = vp;
      vp = c * old - s * vq;
      vq = s * old + c * vq;
    }
  }

  void solve() {
    std::fill(vectors.begin(), vectors.end(), 0.0);
    for (std::size_t i = 0; i < n; ++i) vectors[i * n + i] = 1;
    const double negligible =
        1e-24 * std::inner_product(matrix.begin(), matrix.end(), matrix.begin(), 0.0);
    for (int sweep = 0; sweep < kMostSweeps && off_diagonal() > negligible; ++sweep) {
      for (std::size_t p = 0; p < n; ++p) {
        for (std::size_t q = p + 1; q < n; ++q) rotate(p, q);
      }
    }
  }
};

Status check(std::span<const float> x, std::size_t rows, std::size_t dim, std::size_t count,
             const PrincipalComponents& out) {
  if (dim == 0 || dim > kMostDimensions) {
    return invalid_shape("dim", std::to_string(dim), "1 to " + std::to_string(kMostDimensions));
  }
  if (count == 0 || count > dim) {
    return invalid_shape("components", std::to_string(count), "1 to dim " + std::to_string(dim));
  }
  std::size_t size = 0;
  if (!checked_product({rows, dim}, size) || x.size() != size) {
    return invalid_shape("x", std::to_string(x.size()), "rows * dim elements");
  }
  if (out.mean.size() != dim || out.components.size() != count * dim ||
      out.explained.size() != count) {
    return invalid_shape("out", "other sizes",
                         "mean [dim], components [count, dim], explained "
                         "[count]");
  }
  float largest = 0;
  return check_finite(dense(x, 1, 1, rows, dim), "x", largest);
}

}  // namespace

Status principal_components(std::span<const float> x, std::size_t rows, std::size_t dim,
                            std::size_t count, const PrincipalComponents& out) {
  HEED_TRY(check(x, rows, dim, count, out));
  Buffer<double> matrix, vectors, mean;
  HEED_TRY(matrix.allocate(dim * dim, "covariance"));
  HEED_TRY(vectors.allocate(dim * dim, "components"));
  HEED_TRY(mean.allocate(2 * dim, "mean"));
  const std::span<double> centre = mean.span().first(dim), row = mean.span().subspan(dim);
  std::fill(centre.begin(), centre.end(), 0.0);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t t = 0; t < dim; ++t) centre[t] += x[r * dim + t];
  }
  for (double& value : centre) value /= static_cast<double>(std::max<std::size_t>(1, rows));
  std::fill(matrix.span().begin(), matrix.span().end(), 0.0);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t t = 0; t < dim; ++t) row[t] = x[r * dim + t] - centre[t];
    for (std::size_t i = 0; i < dim; ++i) {
      for (std::size_t j = i; j < dim; ++j) matrix[i * dim + j] += row[i] * row[j];
    }
  }
  double total = 0;
  for (std::size_t i = 0; i < dim; ++i) {
    total += matrix[i * dim + i];
    for (std::size_t j = 0; j < i; ++j) matrix[i * dim + j] = matrix[j * dim + i];
  }
  Eigen eigen{dim, matrix.span(), vectors.span()};
  eigen.solve();

  std::vector<std::size_t> order(dim);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return eigen.at(a, a) > eigen.at(b, b); });
  std::copy(centre.begin(), centre.end(), out.mean.begin());
  for (std::size_t c = 0; c < count; ++c) {
    const auto vector = vectors.span().subspan(order[c] * dim, dim);
    const double peak = *std::max_element(vector.begin(), vector.end(), [](double a, double b) {
      return std::fabs(a) < std::fabs(b);
    });
    for (std::size_t t = 0; t < dim; ++t) {
      out.components[c * dim + t] = static_cast<float>(std::copysign(1.0, peak) * vector[t]);
    }
    const double variance = std::max(0.0, eigen.at(order[c], order[c]));
    out.explained[c] = total > 0 ? static_cast<float>(variance / total) : 0;
  }
  return {};
}

}  // namespace heed
