// Exact attention by several threads: each takes a run of rows of about equal cost and packs the
// keys it needs for itself, so that threads share nothing but inputs and outputs.
#include <algorithm>
#include <cmath>
#include <system_error>
#include <thread>
#include <vector>

#include "attention/dot_product_state.hpp"
#include "core/failure.hpp"

namespace heed {
namespace {

constexpr std::size_t kMostThreads = 1024;
/// Multiply-adds below which a thread costs more to start than it saves: about 0.1 ms of one.
constexpr double kLeastOfThread = 8e6;

/// Cuts batch * heads * query_len rows into at most `most_parts` runs of about the same number of
/// visible pairs, at multiples of `unit` rows of a head.
std::vector<Range> split_rows(const Problem& p, std::size_t most_parts, std::size_t unit) {
  const std::size_t sequences = p.batch * p.heads;
  std::vector<double> pairs;  // of each unit of one head; all heads are alike
  double of_head = 0;
  for (std::size_t first = 0; first < p.query_len; first += unit) {
    double sum = 0;
    for (std::size_t i = first; i < std::min(first + unit, p.query_len); ++i) {
      sum += 1 + static_cast<double>(p.visible(i).size());
    }
    pairs.push_back(sum);
    of_head += sum;
  }
  std::vector<Range> runs;
  const double total = of_head * static_cast<double>(sequences);
  const double worthwhile = total * static_cast<double>(p.head_dim + p.value_dim) / kLeastOfThread;
  const double parts = std::floor(std::clamp(worthwhile, 1.0, static_cast<double>(most_parts)));
  double taken = 0;
  std::size_t begin = 0;
  for (std::size_t sequence = 0; sequence < sequences; ++sequence) {
    for (std::size_t u = 0; u < pairs.size(); ++u) {
      const std::size_t end = sequence * p.query_len + std::min((u + 1) * unit, p.query_len);
      taken += pairs[u];
      const bool last = end == sequences * p.query_len;
      const double due = total * static_cast<double>(runs.size() + 1) / parts;
      // Half a unit early is as near as half a unit late.
      if (last || (taken + pairs[u] / 2 > due && static_cast<double>(runs.size() + 1) < parts)) {
        runs.push_back({begin, end});
        begin = end;
      }
    }
  }
  return runs;
}

}  // namespace

Status attention(const AttentionInputs& inputs, const AttentionOptions& options,
                 const AttentionOutputs& outputs, std::size_t threads) {
  if (threads == 0 || threads > kMostThreads) {
    return invalid_value("threads", std::to_string(threads),
                         "1 to " + std::to_string(kMostThreads));
  }
  Problem problem;
  Buffer<std::uint8_t> flags;
  HEED_TRY(resolve_problem(inputs, options, outputs, problem));
  HEED_TRY(allocate_flags(problem, flags));
  const auto runs = split_rows(problem, threads, kernels::table().tile_rows);
  std::vector<Attention::State> states(runs.size());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    states[i].problem = problem;
    HEED_TRY(states[i].allocate(runs[i]));
  }
  const auto work = [](Attention::State& state) {
    while (!state.done()) state.step();
  };
  std::vector<std::jthread> others;
  try {
    for (std::size_t i = 1; i < states.size(); ++i) {
      others.emplace_back([&work, &state = states[i]] { work(state); });
    }
  } catch (const std::system_error& refused) {
    // Those that did start finish their rows before their states go.
    others.clear();
    return {ErrorCode::kOutOfMemory, "threads", refused.what(), "fewer threads"};
  }
  if (!states.empty()) work(states[0]);
  return {};
}

}  // namespace heed
