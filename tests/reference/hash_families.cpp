#include "reference/hash_families.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace heed::reference {
namespace {

std::vector<std::uint32_t> gray_code(std::size_t bits) {
  std::vector<std::uint32_t> code{0};
  for (std::size_t b = 0; b < bits; ++b) {
    for (std::size_t n = code.size(); n-- > 0;) code.push_back(code[n] | std::uint32_t{1} << b);
  }
  return code;
}

std::vector<double> lift(std::span<const float> x, double square_sum, std::size_t at) {
  std::vector<double> lifted(x.begin(), x.end());
  lifted.resize(x.size() + 2, 0.0);
  lifted[at] = std::sqrt(std::max(0.0, square_sum - square_norm(x)));
  return lifted;
}

}  // namespace

std::uint32_t gray_place(std::uint32_t word, std::size_t bits) {
  const auto code = gray_code(bits);
  return static_cast<std::uint32_t>(std::find(code.begin(), code.end(), word) - code.begin());
}

Hash sim_hash(std::span<const float> x, std::span<const float> normals, std::size_t bits) {
  std::uint32_t word = 0;
  double nearest = std::numeric_limits<double>::infinity();
  for (std::size_t c = 0; c < bits; ++c) {
    double side = 0, square = 0;
    for (std::size_t t = 0; t < x.size(); ++t) {
      const double w = normals[t * bits + c];
      side += w * x[t];
      square += w * w;
    }
    if (side > 0) word |= std::uint32_t{1} << c;
    nearest = std::min(nearest, std::abs(side) / std::sqrt(square));
  }
  return {gray_place(word, bits), nearest};
}

std::vector<double> lift_query(std::span<const float> q, double square_sum) {
  return lift(q, square_sum, q.size() + 1);
}
std::vector<double> lift_key(std::span<const float> k, double square_sum) {
  return lift(k, square_sum, k.size());
}

double dot(std::span<const double> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

double square_norm(std::span<const float> x) {
  double square = 0;
  for (const float v : x) square += static_cast<double>(v) * v;
  return square;
}

std::vector<Hash> clusters(const std::vector<double>& values, std::size_t size) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<Hash> out(values.size());
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    out[order[rank]].bucket = static_cast<std::uint32_t>(rank / size);
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    out[i].margin = std::numeric_limits<double>::infinity();
    for (std::size_t j = 0; j < values.size(); ++j) {
      if (out[j].bucket == out[i].bucket) continue;
      out[i].margin = std::min(out[i].margin, std::abs(values[i] - values[j]));
    }
  }
  return out;
}

}  // namespace heed::reference
