// What LshTuner holds between calls. Heads are looked at one after another: first what exact
// attention gives to the sampled queries, then every setting of the grid against it.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "attention/lsh_state.hpp"
#include "attention/quality_sums.hpp"
#include "heed/lsh_tuner.hpp"

namespace heed {

/// Numbers of rounds that are tried, ascending: one hashing of the most serves all.
inline constexpr std::array<std::size_t, 8> kTunedRounds = {1, 2, 3, 4, 6, 8, 12, 16};

/// Families, buckets and chunks to try for sequences of `length`, each with the most rounds; never
/// empty.
std::vector<LshOptions> tuner_grid(std::size_t length, const LshOptions& fixed,
                                   std::optional<HashFamily> family);

/// One sampled query under exact attention.
struct ExactQuery {
  std::uint32_t query = 0;
  double logsumexp = 0;
  bool only_self = false;  // exclude_self left nothing else
  std::vector<double> context;
};

struct LshTuner::State {
  AttentionInputs inputs;
  TuneOptions tune;
  Problem problem;  // of all heads, outputs aside
  std::vector<LshOptions> grid;
  // Of every point, [grid, rounds]:
  std::vector<QualitySums> sums;
  std::vector<double> multiply_adds;
  std::vector<double> margin;  // [grid]

  std::size_t head = 0;                       // batch * heads + head at work
  std::size_t setting = 0;                    // of the grid
  std::vector<std::uint32_t> drawn;           // queries of the head
  std::size_t looked_at = 0;                  // of those drawn, by exact attention
  std::vector<ExactQuery> exact;              // those that see a key
  std::size_t measured = 0;                   // of those, in the setting
  double value_norm = 0;                      // largest of the head
  std::optional<LshAttention::State> hashed;  // the head's queries and keys in the setting
  Buffer<float> context;  // an output that LSH attention asks for; never written
  Buffer<double> row;     // exact weights of a query
  Candidates candidates;
  std::vector<double> weights, sum;  // of the candidates; weighted sum of values

  std::vector<TunePoint> points;
  std::vector<std::uint32_t> front;
  std::optional<std::size_t> recommended;

  // lsh_tuner.cpp
  Status resolve(const AttentionInputs& inputs_, const AttentionOptions& options,
                 const LshOptions& fixed, const TuneOptions& tune_);
  bool done() const { return head == problem.batch * problem.heads || problem.query_len == 0; }
  /// Does the next piece of work and says how many pairs it took.
  Status step(double& pairs);
  double progress() const;
  Status hash_setting();
  // lsh_tuner_measure.cpp
  void count_multiply_adds();
  void look_at_query();
  void measure_query();
  // lsh_tuner_decide.cpp
  double exact_multiply_adds() const;
  bool meets_target(const LshQuality& quality, double cost) const;
  void decide();
};

}  // namespace heed
