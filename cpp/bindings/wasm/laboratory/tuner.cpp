#include "laboratory/tuner.hpp"

#include <emscripten/bind.h>

namespace heed::wasm {

bool Tuner::prepare(const Problem& problem, const Options& options, const LshOptions& fixed,
                    const Tune& tune) {
  return keep(tuner_.prepare(inputs_of(problem), options_of(problem, options), fixed,
                             {.goal = static_cast<TuneGoal>(tune.goal),
                              .target = tune.target,
                              .sample = tune.sample,
                              .seed = tune.seed}));
}

bool Tuner::advance(double work) { return keep(tuner_.advance(work)); }

Slice Tuner::front() const {
  return {reinterpret_cast<std::size_t>(tuner_.front().data()), tuner_.front().size()};
}

int Tuner::recommended() const {
  return tuner_.recommended() ? static_cast<int>(*tuner_.recommended()) : -1;
}

EMSCRIPTEN_BINDINGS(heed_tuner) {
  using emscripten::class_;
  using emscripten::value_object;
  value_object<Tune>("Tune")
      .field("goal", &Tune::goal)
      .field("target", &Tune::target)
      .field("sample", &Tune::sample)
      .field("seed", &Tune::seed);
  class_<Tuner>("Tuner")
      .constructor()
      .function("prepare", &Tuner::prepare)
      .function("advance", &Tuner::advance)
      .function("done", &Tuner::done)
      .function("progress", &Tuner::progress)
      .function("count", &Tuner::count)
      .function("options", &Tuner::options)
      .function("quality", &Tuner::quality)
      .function("cost", &Tuner::cost)
      .function("meetsTarget", &Tuner::meets_target)
      .function("front", &Tuner::front)
      .function("recommended", &Tuner::recommended)
      .function("verdict", &Tuner::verdict);
}

}  // namespace heed::wasm
