#include "bench/ceiling.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <vector>

namespace heed::bench {

#if defined(__aarch64__)
extern const Ceiling kCeilingNeon;
#else
extern const Ceiling kCeilingSse2, kCeilingAvx2, kCeilingAvx512;
#endif

namespace {

#if defined(__aarch64__)
const Ceiling* const kCeilings[] = {&kCeilingNeon};
#else
const Ceiling* const kCeilings[] = {&kCeilingSse2, &kCeilingAvx2, &kCeilingAvx512};
#endif

template <class Work>
double best_seconds(int runs, Work work) {
  double best = 1e300;
  for (int run = 0; run < runs; ++run) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    best = std::min(best, spent.count());
  }
  return best;
}

}  // namespace

const Ceiling& ceiling(const char* instruction_set) {
  for (const Ceiling* candidate : kCeilings) {
    if (std::strcmp(candidate->instruction_set, instruction_set) == 0) return *candidate;
  }
  std::fprintf(stderr, "no ceiling for the instruction set %s\n", instruction_set);
  std::abort();
}

double peak_gflops(const char* instruction_set) {
  constexpr std::size_t kSteps = 2'000'000;
  constexpr int kRuns = 7;
  const Ceiling& wanted = ceiling(instruction_set);
  float sink = 1e-3f;
  double operations = 0;
  const double seconds =
      best_seconds(kRuns, [&] { operations = wanted.multiply_adds(kSteps, sink); });
  return operations / seconds / 1e9;
}

double read_bandwidth() {
  constexpr std::size_t kBytes = std::size_t{256} << 20;  // larger than the caches of one socket
  std::vector<std::uint64_t> data(kBytes / sizeof(std::uint64_t), 1);
  volatile std::uint64_t sink = 0;
  const double seconds =
      best_seconds(3, [&] { sink = std::accumulate(data.begin(), data.end(), std::uint64_t{0}); });
  return static_cast<double>(kBytes) / seconds;
}

}  // namespace heed::bench
