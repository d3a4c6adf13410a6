// Which parameters of LSH attention suit given queries, keys and values: the public API.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "heed/attention.hpp"
#include "heed/lsh_attention.hpp"

namespace heed {

/// What to look for.
enum class TuneGoal {
  kCapturedMass,   // at least this mean captured mass, 0 to 1
  kRelativeError,  // at most this relative error of the output
  kBudget,         // the greatest captured mass for at most this share of exact's multiply-adds
};

struct TuneOptions {
  TuneGoal goal = TuneGoal::kCapturedMass;
  double target = 0.95;
  /// Queries measured a head, drawn from `seed` without replacement; 0: all.
  std::size_t sample = 128;
  std::uint64_t seed = 0;
  /// Empty: every family that suits the fixed options, a rotation being cross-polytope's alone.
  std::optional<HashFamily> family = {};
};

/// One setting that was tried.
struct TunePoint {
  LshOptions lsh;
  /// Multiply-adds of hashing and attending over those of exact attention, which skips what the
  /// causal rule and the window hide. Sorting and exponentials are left out on both sides.
  double cost = 0;
  LshQuality quality;  // over the sampled queries of all heads
  /// A captured mass or an error meets its target only with the far end of its 95 % confidence
  /// interval, so that a lucky sample does not decide.
  bool meets_target = false;
};

enum class TuneVerdict {
  kLsh,    // the recommended point meets the target and costs less than exact attention
  kExact,  // no point does: exact attention is the better choice
  kNone,   // a budget that neither exact attention nor any point keeps to
};

/// Tries a grid of families, buckets, chunks and rounds, in slices. A setting is hashed in full,
/// and measured against exact attention on sampled queries in double precision; nothing is attended
/// to beside them. Decisions count multiply-adds, not time: the same inputs and seeds give the same
/// answer on every machine whose hashes have the same bits.
///
/// Inputs and options are views: they must outlive the object.
class LshTuner {
 public:
  LshTuner();
  ~LshTuner();
  LshTuner(LshTuner&&) noexcept;
  LshTuner& operator=(LshTuner&&) noexcept;

  /// `fixed` gives what is not searched: seed, rotation, shared_query_key, true_buckets. Its
  /// family, rounds, buckets and chunk do not count. Fails as LshAttention::prepare() does, and on
  /// a target outside its range.
  Status prepare(const AttentionInputs& inputs, const AttentionOptions& options,
                 const LshOptions& fixed, const TuneOptions& tune);
  /// Does about `work` query-key pairs and returns; hashing one setting is not cut. Call until
  /// done().
  Status advance(double work);
  bool done() const;
  double progress() const;

  // Everything below needs done().

  std::span<const TunePoint> points() const;
  /// Indices of the points that no other beats in both cost and captured mass, cheapest first.
  std::span<const std::uint32_t> front() const;
  /// The cheapest point that meets the target below the cost of exact attention; for a budget the
  /// one of greatest captured mass within it.
  std::optional<std::size_t> recommended() const;
  TuneVerdict verdict() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace heed
