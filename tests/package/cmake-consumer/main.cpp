// Attends with two queries to two keys through the installed headers and library, and checks one
// value that is known in closed form.
#include <array>
#include <cmath>
#include <cstdio>
#include <heed/attention.hpp>
#include <vector>

// The C++ of the README as it stands there, with the names it takes for granted.
static bool readme_works() {
  const std::vector<float> query(8 * 1024 * 64, 0.1f), key = query, value = query;
  std::vector<float> context(query.size()), logsumexp(8 * 1024);
#include HEED_README_SNIPPET
  return status.ok() && std::fabs(context.back() - 0.1f) < 1e-6f;
}

int main() {
  // q = (1, 0), (0, 0) and k = (1, 0), (0, 0): with scale ln 3 the first query weighs its keys 3
  // : 1.
  const std::array<float, 4> query = {1, 0, 0, 0};
  const std::array<float, 2> value = {1, 0};
  std::array<float, 2> context{};
  heed::AttentionInputs inputs{
      .query = heed::dense<const float>(query, 1, 1, 2, 2),
      .key = heed::dense<const float>(query, 1, 1, 2, 2),
      .value = heed::dense<const float>(value, 1, 1, 2, 1),
  };
  heed::AttentionOptions options;
  options.scale = std::log(3.0f);
  const heed::Status status = heed::attention(
      inputs, options, {.context = heed::dense<float>(context, 1, 1, 2, 1), .logsumexp = {}});
  const bool right = readme_works() && status.ok() && std::fabs(context[0] - 0.75f) < 1e-6f &&
                     std::fabs(context[1] - 0.5f) < 1e-6f;
  std::printf("%s: context %.7f and %.7f, expected 0.75 and 0.5\n", heed::instruction_set(),
              static_cast<double>(context[0]), static_cast<double>(context[1]));
  return right ? 0 : 1;
}
