// Principal component analysis: the directions in which a cloud of vectors spreads most, for
// pictures of queries and keys.
#pragma once

#include <cstddef>
#include <span>

#include "heed/status.hpp"

namespace heed {

/// Where results go: mean [dim], components [count, dim] (orthonormal rows, strongest first, the
/// largest entry of each positive), explained [count] (shares of the total variance; 0 when all
/// rows are equal).
struct PrincipalComponents {
  std::span<float> mean, components, explained;
};

/// Of the rows of x [rows, dim], finite (Pearson 1901; Jacobi's eigenvalue method on the covariance
/// in double). dim at most 1024, 1 <= count <= dim.
Status principal_components(std::span<const float> x, std::size_t rows, std::size_t dim,
                            std::size_t count, const PrincipalComponents& out);

}  // namespace heed
