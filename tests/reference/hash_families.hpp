// Oracles of the hash families beside cross-polytope: SimHash (Charikar 2002) and SMYRF's
// asymmetric E2LSH (Daras et al. 2020), in float64 from their definitions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "reference/lsh.hpp"

namespace heed::reference {

/// The place of `word` in the reflected Gray code of `bits` bits, found in the list of all words
/// that the code's construction makes: the code of one bit less, then the same reversed with the
/// new bit set.
std::uint32_t gray_place(std::uint32_t word, std::size_t bits);

/// Bit c is set where x lies on the positive side of hyperplane c, whose normal is column c of
/// `normals` [dim, bits], of any length. The bucket is the word's Gray place; the margin is the
/// distance to the nearest hyperplane.
Hash sim_hash(std::span<const float> x, std::span<const float> normals, std::size_t bits);

/// SMYRF's transforms (section 3.2), dim + 2 elements: F(q) = [q; 0; sqrt(Mq^2 + Mk^2 - |q|^2)] and
/// G(k) = [k; sqrt(Mq^2 + Mk^2 - |k|^2); 0], given Mq^2 + Mk^2.
std::vector<double> lift_query(std::span<const float> q, double square_sum);
std::vector<double> lift_key(std::span<const float> k, double square_sum);

double dot(std::span<const double> a, std::span<const double> b);
double square_norm(std::span<const float> x);

/// The cluster of each value when they are cut in sorted order, `size` at a time, and the distance
/// to the nearest value of another cluster.
std::vector<Hash> clusters(const std::vector<double>& values, std::size_t size);

}  // namespace heed::reference
