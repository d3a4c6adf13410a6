// LSH attention against exact attention, over the length of the sequence.
//
// speedup is against heed's own exact attention on the same data and thread in the same run (up to
// 65,536; beyond, exact attention takes minutes). The exponent n^p of both is fitted at the end by
// Google Benchmark's complexity. us/token grows with log n at the most.
#include <benchmark/benchmark.h>

#include <chrono>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "heed/lsh_attention.hpp"

namespace heed::bench {
namespace {

constexpr std::size_t kDim = 64;
constexpr std::size_t kSlowestExact = 65536;

/// Keys and queries around shared centres, 32 to each: near neighbours exist, as in trained models.
struct Clustered {
  std::size_t length;
  std::vector<float> query, key, value, context, logsumexp;

  explicit Clustered(std::size_t n) : length(n), context(n * kDim), logsumexp(n) {
    std::mt19937 generator(1);
    std::normal_distribution<float> normal;
    const std::size_t clusters = std::max<std::size_t>(1, n / 32);
    std::vector<float> centre(clusters * kDim);
    for (float& x : centre) x = 2.5f * normal(generator);
    std::uniform_int_distribution<std::size_t> pick(0, clusters - 1);
    for (auto* x : {&query, &key}) {
      x->resize(n * kDim);
      for (std::size_t i = 0; i < n; ++i) {
        const std::size_t c = pick(generator);
        for (std::size_t t = 0; t < kDim; ++t) {
          (*x)[i * kDim + t] = centre[c * kDim + t] + 0.5f * normal(generator);
        }
      }
    }
    value.resize(n * kDim);
    for (float& x : value) x = normal(generator);
  }

  AttentionInputs inputs() const {
    const auto view = [this](const std::vector<float>& x) {
      return dense(std::span<const float>(x), 1, 1, length, kDim);
    };
    return {view(query), view(key), view(value)};
  }
  AttentionOutputs outputs() {
    return {dense(std::span<float>(context), 1, 1, length, kDim), logsumexp};
  }
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double exact_seconds(Clustered& data, const AttentionOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const Status s = attention(data.inputs(), options, data.outputs());
  benchmark::DoNotOptimize(s.ok());
  return seconds_since(start);
}

void run(benchmark::State& state, bool causal, Rotation rotation) {
  const auto length = static_cast<std::size_t>(state.range(0));
  Clustered data(length);
  AttentionOptions options;
  options.causal = causal;
  const LshOptions lsh = {.rounds = 4, .chunk = 64, .rotation = rotation};
  double spent = 0;
  for (auto _ : state) {
    const auto start = std::chrono::steady_clock::now();
    const Status s = lsh_attention(data.inputs(), options, lsh, data.outputs());
    if (!s.ok()) {
      state.SkipWithError(s.message().c_str());
      return;
    }
    spent += seconds_since(start);
  }
  const double seconds = spent / static_cast<double>(state.iterations());
  state.SetComplexityN(state.range(0));
  state.counters["us/token"] = 1e6 * seconds / static_cast<double>(length);
  if (length <= kSlowestExact) state.counters["speedup"] = exact_seconds(data, options) / seconds;
}

void register_all() {
  for (const auto& [name, rotation] :
       {std::pair{"gaussian", Rotation::kGaussian}, {"hadamard", Rotation::kHadamard}}) {
    for (const bool causal : {false, true}) {
      benchmark::RegisterBenchmark(
          (std::string("lsh/") + name + (causal ? "/causal" : "/full")).c_str(),
          [=, rotation = rotation](benchmark::State& state) { run(state, causal, rotation); })
          ->RangeMultiplier(4)
          ->Range(1024, 1 << 20)
          ->Arg(2048)
          ->Complexity()
          ->Unit(benchmark::kMillisecond)
          ->UseRealTime();
    }
  }
}

const bool registered = (register_all(), true);

}  // namespace
}  // namespace heed::bench
