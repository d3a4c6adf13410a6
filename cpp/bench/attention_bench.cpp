// Exact attention against the machine's ceiling, every instruction set, full and causal.
//
// GFLOP/s = 4 heads query_len key_len head_dim / time, causal counted as half. of_peak is the
// fraction of the multiply-add ceiling measured at the start of the same run; error is the largest
// difference from a float64 computation of a few rows, checked before anything is timed.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "bench/ceiling.hpp"
#include "heed/attention.hpp"
#include "heed/key_value_cache.hpp"

namespace heed::bench {
namespace {

struct Workload {
  std::size_t heads, query_len, key_len, head_dim;
  bool causal;
};

struct Data {
  std::vector<float> query, key, value, context, logsumexp;
  Workload w;

  explicit Data(const Workload& workload) : w(workload) {
    std::mt19937 generator(1);
    std::normal_distribution<float> normal;
    query.resize(w.heads * w.query_len * w.head_dim);
    key.resize(w.heads * w.key_len * w.head_dim);
    value.resize(key.size());
    context.resize(query.size());
    logsumexp.resize(w.heads * w.query_len);
    for (auto* x : {&query, &key, &value}) {
      for (float& element : *x) element = normal(generator);
    }
  }

  AttentionInputs inputs() const {
    const auto view = [this](const std::vector<float>& x, std::size_t rows) {
      return dense(std::span<const float>(x), 1, w.heads, rows, w.head_dim);
    };
    return {view(query, w.query_len), view(key, w.key_len), view(value, w.key_len)};
  }
  AttentionOptions options() const {
    AttentionOptions options;
    options.causal = w.causal;
    return options;
  }
  AttentionOutputs outputs() {
    return {dense(std::span<float>(context), 1, w.heads, w.query_len, w.head_dim), logsumexp};
  }

  /// Largest difference of head 0's first, middle and last row from float64.
  double error() const {
    double worst = 0;
    const std::size_t d = w.head_dim;
    for (const std::size_t i : {std::size_t{0}, w.query_len / 2, w.query_len - 1}) {
      const std::size_t visible = w.causal ? i + 1 + w.key_len - w.query_len : w.key_len;
      std::vector<double> weight(visible);
      double sum = 0;
      for (std::size_t j = 0; j < visible; ++j) {
        double dot = 0;
        for (std::size_t t = 0; t < d; ++t) dot += double{query[i * d + t]} * key[j * d + t];
        weight[j] = std::exp(dot / std::sqrt(static_cast<double>(d)));
        sum += weight[j];
      }
      for (std::size_t t = 0; t < d; ++t) {
        double expected = 0;
        for (std::size_t j = 0; j < visible; ++j) expected += weight[j] * value[j * d + t];
        worst = std::max(worst, std::fabs(expected / sum - context[i * d + t]));
      }
    }
    return worst;
  }
};

/// Runs the benchmark's loop; returns the mean seconds a call.
template <class Call>
double time_calls(benchmark::State& state, Call call) {
  const auto start = std::chrono::steady_clock::now();
  for (auto _ : state) {
    const Status s = call();
    benchmark::DoNotOptimize(s.ok());
  }
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  return spent.count() / static_cast<double>(state.iterations());
}

/// `peak` is that of one thread.
void run(benchmark::State& state, const char* instruction_set, const Workload& w,
         std::size_t threads, double peak) {
  if (const Status s = use_instruction_set(instruction_set); !s.ok()) {
    state.SkipWithError(s.message().c_str());
    return;
  }
  Data data(w);
  const auto call = [&] {
    return attention(data.inputs(), data.options(), data.outputs(), threads);
  };
  if (const Status s = call(); !s.ok()) {
    state.SkipWithError(s.message().c_str());
    return;
  }
  const double error = data.error();
  if (!(error < 1e-5)) {
    state.SkipWithError("wrong result");
    return;
  }
  const double seconds = time_calls(state, call);
  const double operations = 4.0 * static_cast<double>(w.heads * w.query_len) *
                            static_cast<double>(w.key_len * w.head_dim) * (w.causal ? 0.5 : 1.0);
  const double gflops = operations / seconds / 1e9;
  state.counters["GFLOP/s"] = gflops;
  state.counters["of_peak"] = gflops / (peak * static_cast<double>(threads));
  state.counters["error"] = error;
}

/// One query against a long cache reads every key and value once: bytes a second against the read
/// bandwidth of the same run.
void decode(benchmark::State& state, const Workload& w, double bandwidth) {
  Data data(w);
  KeyValueCache cache;
  const CacheShape shape = {
      .batch = 1, .kv_heads = w.heads, .head_dim = w.head_dim, .value_dim = w.head_dim};
  Status s = cache.create(shape, w.key_len);
  if (s.ok()) s = cache.append(data.inputs().key, data.inputs().value);
  const auto call = [&] {
    return cache.attend(data.inputs().query, data.options(), data.outputs());
  };
  if (s.ok()) s = call();
  if (!s.ok() || !(data.error() < 1e-5)) {
    state.SkipWithError(s.ok() ? "wrong result" : s.message().c_str());
    return;
  }
  const double seconds = time_calls(state, call);
  const double bytes = 2.0 * static_cast<double>(data.key.size() * sizeof(float)) / seconds;
  state.counters["GB/s"] = bytes / 1e9;
  state.counters["of_read"] = bytes / bandwidth;
}

std::string name_of(const Workload& w) {
  return std::to_string(w.heads) + "x" + std::to_string(w.query_len) + "x" +
         std::to_string(w.head_dim) + (w.causal ? "/causal" : "");
}

void register_all() {
  constexpr Workload kWorkloads[] = {
      {1, 16, 16, 64, false},      {1, 128, 128, 64, false},    {1, 256, 256, 64, false},
      {8, 512, 512, 64, false},    {8, 1024, 1024, 64, false},  {8, 2048, 2048, 64, false},
      {8, 2048, 2048, 64, true},   {1, 8192, 8192, 64, false},  {1, 16384, 16384, 64, false},
      {1, 16384, 16384, 64, true}, {8, 1024, 1024, 32, false},  {8, 1024, 1024, 80, false},
      {8, 1024, 1024, 96, false},  {8, 1024, 1024, 128, false},
  };
  for (const char* instruction_set : available_instruction_sets()) {
    const double peak = peak_gflops(instruction_set);
    benchmark::AddCustomContext(std::string("peak_gflops_") + instruction_set,
                                std::to_string(peak));
    for (const Workload& w : kWorkloads) {
      for (const std::size_t threads : {1, 2}) {
        const std::string name = std::string("attention/") + instruction_set + "/" + name_of(w) +
                                 "/threads:" + std::to_string(threads);
        benchmark::RegisterBenchmark(
            name.c_str(),
            [=](benchmark::State& state) { run(state, instruction_set, w, threads, peak); })
            ->Unit(benchmark::kMillisecond)
            ->UseRealTime();
      }
    }
  }
  const double bandwidth = read_bandwidth();
  benchmark::AddCustomContext("read_bandwidth", std::to_string(bandwidth));
  for (const std::size_t heads : {1, 8}) {
    const Workload w = {heads, 1, 16384, 64, false};
    benchmark::RegisterBenchmark(("decode/" + std::to_string(heads) + "x16384x64").c_str(),
                                 [=](benchmark::State& state) { decode(state, w, bandwidth); })
        ->Unit(benchmark::kMicrosecond);
  }
}

}  // namespace
}  // namespace heed::bench

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  heed::bench::register_all();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
