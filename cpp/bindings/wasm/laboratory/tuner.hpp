// The tuner of LSH attention over a problem in the WebAssembly heap.
#pragma once

#include <cstddef>
#include <cstdint>

#include "heed/lsh_tuner.hpp"
#include "problem.hpp"
#include "session.hpp"

namespace heed::wasm {

/// TuneOptions with the goal as its number.
struct Tune {
  int goal;
  double target;
  std::size_t sample;
  std::uint64_t seed;
};

/// The caller keeps the problem's and the options' memory alive as long as the tuner; outputs are
/// not used.
class Tuner {
 public:
  bool prepare(const Problem& problem, const Options& options, const LshOptions& fixed,
               const Tune& tune);
  bool advance(double work);
  bool done() const { return tuner_.done(); }
  double progress() const { return tuner_.progress(); }
  std::size_t count() const { return tuner_.points().size(); }
  LshOptions options(std::size_t point) const { return tuner_.points()[point].lsh; }
  LshQuality quality(std::size_t point) const { return tuner_.points()[point].quality; }
  double cost(std::size_t point) const { return tuner_.points()[point].cost; }
  bool meets_target(std::size_t point) const { return tuner_.points()[point].meets_target; }
  Slice front() const;
  /// -1: none.
  int recommended() const;
  int verdict() const { return static_cast<int>(tuner_.verdict()); }

 private:
  LshTuner tuner_;
};

}  // namespace heed::wasm
