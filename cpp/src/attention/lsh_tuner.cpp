// The course of tuning: which settings, in which order, in slices.
#include "heed/lsh_tuner.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "attention/lsh_tuner_state.hpp"
#include "core/failure.hpp"

namespace heed {
namespace {

/// One head of a tensor whose batch or heads may be 1 for all.
template <class T>
Tensor<T> head_of(Tensor<T> t, std::size_t b, std::size_t h) {
  if (t.data.empty()) return t;
  t.data = t.data.subspan((t.batch == 1 ? 0 : b) * t.batch_stride +
                          (t.heads == 1 ? 0 : h) * t.head_stride);
  t.batch = t.heads = 1;
  return t;
}

Status check_tune(const TuneOptions& tune) {
  const bool is_mass = tune.goal == TuneGoal::kCapturedMass;
  const bool fits = std::isfinite(tune.target) && tune.target > 0 && (!is_mass || tune.target <= 1);
  if (fits) return {};
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", tune.target);
  return invalid_value("target", text, is_mass ? "above 0, at most 1" : "a number above 0");
}

}  // namespace

std::vector<LshOptions> tuner_grid(std::size_t length, const LshOptions& fixed,
                                   std::optional<HashFamily> family) {
  if (!family) {
    std::vector<LshOptions> grid = tuner_grid(length, fixed, HashFamily::kCrossPolytope);
    const auto append = [&](HashFamily other) {
      const auto more = tuner_grid(length, fixed, other);
      grid.insert(grid.end(), more.begin(), more.end());
    };
    append(HashFamily::kSimHash);
    if (!fixed.true_buckets) append(HashFamily::kE2Lsh);
    return grid;
  }
  std::vector<LshOptions> grid;
  const auto add = [&](std::size_t buckets, std::size_t chunk) {
    LshOptions lsh = fixed;
    lsh.family = *family;
    if (lsh.family != HashFamily::kCrossPolytope) lsh.rotation = Rotation::kGaussian;
    lsh.rounds = kTunedRounds.back();
    lsh.buckets = lsh.family == HashFamily::kE2Lsh ? 0 : round_up_buckets(lsh.family, buckets);
    lsh.chunk = chunk;
    const bool known = std::any_of(grid.begin(), grid.end(), [&](const LshOptions& other) {
      return other.buckets == lsh.buckets && other.chunk == lsh.chunk;
    });
    if (!known) grid.push_back(lsh);
  };
  if (fixed.true_buckets) {
    for (std::size_t buckets = 2; buckets == 2 || buckets <= length / 4; buckets *= 2) {
      add(buckets, 0);
    }
    return grid;
  }
  // Chunks from a tile's worth of keys up; where two of them are the whole sequence nothing is
  // saved. Around the paper's 2 * length / chunk buckets, coarser and finer.
  constexpr std::size_t kLeastChunk = 16, kMostChunk = 512;
  for (std::size_t chunk = kLeastChunk; chunk <= kMostChunk && 2 * chunk <= length; chunk *= 2) {
    const std::size_t usual = 2 * length / chunk;
    for (const std::size_t buckets : {usual / 4, usual, 2 * usual}) add(buckets, chunk);
  }
  if (grid.empty()) add(2, std::max<std::size_t>(1, length / 2));
  return grid;
}

Status LshTuner::State::resolve(const AttentionInputs& inputs_, const AttentionOptions& options,
                                const LshOptions& fixed, const TuneOptions& tune_) {
  inputs = inputs_;
  tune = tune_;
  HEED_TRY(check_tune(tune));
  if (fixed.shared_query_key) inputs.key = inputs.query;
  const Tensor<const float>& q = inputs.query;
  std::size_t size = 0;
  if (!checked_product({q.rows, inputs.value.columns}, size)) {
    return {ErrorCode::kOverflow, "query", std::to_string(q.rows) + " rows", "fewer rows"};
  }
  HEED_TRY(context.allocate(size, "context"));
  // Every head has the same place: nothing is written.
  Tensor<float> nowhere = dense(context.span(), q.batch, q.heads, q.rows, inputs.value.columns);
  nowhere.batch_stride = nowhere.head_stride = 0;
  HEED_TRY(resolve_problem(inputs, options, {nowhere, {}}, problem));
  grid = tuner_grid(std::max(problem.query_len, problem.key_len), fixed, tune.family);
  const std::size_t count = grid.size() * kTunedRounds.size();
  sums.resize(count);
  multiply_adds.assign(count, 0);
  margin.assign(grid.size(), std::numeric_limits<double>::infinity());
  HEED_TRY(row.allocate(problem.key_len, "row of weights"));
  sum.resize(problem.value_dim);
  if (done()) {
    decide();
    return {};
  }
  // What LSH attention refuses is refused now.
  return hash_setting();
}

Status LshTuner::State::hash_setting() {
  const std::size_t b = head / problem.heads, h = head % problem.heads;
  const std::size_t kv_head = problem.kv_head(h);
  const AttentionInputs one = {head_of(inputs.query, b, h), head_of(inputs.key, b, kv_head),
                               head_of(inputs.value, b, kv_head)};
  // The caller's options, not those resolved: the scale of one head is that of all.
  AttentionOptions options = problem.options;
  options.scale = problem.scale;
  options.mask = head_of(options.mask, b, h);
  options.bias = head_of(options.bias, b, h);
  if (!options.key_mask.empty()) {
    options.key_mask = options.key_mask.subspan(b * problem.key_len, problem.key_len);
  }
  const AttentionOutputs nowhere = {
      dense(context.span(), 1, 1, problem.query_len, problem.value_dim), {}};
  hashed.emplace();
  HEED_TRY(hashed->resolve(one, options, grid[setting], nowhere));
  double squares = 0;
  if (grid[setting].family == HashFamily::kE2Lsh) {
    // Keys of a group are lifted for all of its queries, which the head alone does not know.
    const bool shared = grid[setting].shared_query_key;
    squares = shared ? largest_squares(hashed->problem, true, 0, 0)
                     : largest_squares(problem, false, b, h);
  }
  hashed->hash_head(0, 0, squares);
  margin[setting] = std::min<double>(margin[setting], hashed->smallest_margin);
  measured = 0;
  return {};
}

Status LshTuner::State::step(double& pairs) {
  const std::size_t b = head / problem.heads, h = head % problem.heads;
  if (setting == 0 && drawn.empty()) {
    const std::size_t all = problem.query_len;
    drawn = draw_queries(all, tune.sample == 0 ? all : std::min(tune.sample, all), tune.seed, head);
    value_norm = largest_value_norm(problem, b, problem.kv_head(h));
  }
  pairs = 1;
  if (looked_at < drawn.size()) {
    look_at_query();
    pairs += static_cast<double>(problem.key_len);
    return {};
  }
  if (measured == 0) count_multiply_adds();
  if (measured < exact.size()) {
    measure_query();
    pairs += static_cast<double>(candidates.keys.size());
  }
  if (measured < exact.size()) return {};
  if (++setting == grid.size()) {
    setting = looked_at = 0;
    drawn.clear();
    exact.clear();
    if (++head == problem.batch * problem.heads) {
      hashed.reset();
      decide();
      return {};
    }
  }
  pairs += static_cast<double>((problem.query_len + problem.key_len) * kTunedRounds.back());
  return hash_setting();
}

double LshTuner::State::progress() const {
  if (done()) return 1;
  const double queries = static_cast<double>(std::max<std::size_t>(1, drawn.size()));
  const double of_head = static_cast<double>(looked_at) / queries + static_cast<double>(setting) +
                         static_cast<double>(measured) / queries;
  return (static_cast<double>(head) + of_head / static_cast<double>(grid.size() + 1)) /
         static_cast<double>(problem.batch * problem.heads);
}

LshTuner::LshTuner() = default;
LshTuner::~LshTuner() = default;
LshTuner::LshTuner(LshTuner&&) noexcept = default;
LshTuner& LshTuner::operator=(LshTuner&&) noexcept = default;

Status LshTuner::prepare(const AttentionInputs& inputs, const AttentionOptions& options,
                         const LshOptions& fixed, const TuneOptions& tune) {
  auto state = std::make_unique<State>();
  HEED_TRY(state->resolve(inputs, options, fixed, tune));
  state_ = std::move(state);
  return {};
}

Status LshTuner::advance(double work) {
  if (state_ == nullptr) return invalid_value("tuner", "not prepared", "a call of prepare()");
  double pairs = 0;
  for (double spent = 0; !state_->done() && (spent == 0 || spent < work); spent += pairs) {
    HEED_TRY(state_->step(pairs));
  }
  return {};
}

bool LshTuner::done() const { return state_ != nullptr && state_->done(); }
double LshTuner::progress() const { return state_ == nullptr ? 0 : state_->progress(); }

std::span<const TunePoint> LshTuner::points() const {
  return done() ? std::span<const TunePoint>(state_->points) : std::span<const TunePoint>();
}

std::span<const std::uint32_t> LshTuner::front() const {
  return done() ? std::span<const std::uint32_t>(state_->front) : std::span<const std::uint32_t>();
}

std::optional<std::size_t> LshTuner::recommended() const {
  return done() ? state_->recommended : std::nullopt;
}

TuneVerdict LshTuner::verdict() const {
  if (recommended()) return TuneVerdict::kLsh;
  const bool budget = state_ != nullptr && state_->tune.goal == TuneGoal::kBudget;
  return budget && state_->tune.target < 1 ? TuneVerdict::kNone : TuneVerdict::kExact;
}

}  // namespace heed
