// Validation, defaults and memory of LSH attention.
#include <algorithm>
#include <cmath>
#include <limits>

#include "attention/lsh_state.hpp"
#include "core/failure.hpp"

namespace heed {

Status HashedSequence::allocate(std::size_t sequences, std::size_t rounds_, std::size_t length_,
                                const char* name) {
  rounds = rounds_;
  length = length_;
  std::size_t size = 0;
  if (!checked_product({sequences, rounds, length}, size)) {
    return {ErrorCode::kOverflow, name, std::to_string(rounds) + " rounds", "fewer rounds"};
  }
  HEED_TRY(bucket.allocate(size, name));
  HEED_TRY(order.allocate(size, name));
  return code.allocate(size, name);
}

/// Keys are the queries divided by their norms (Kitaev et al. 2020, section 2, shared-QK).
Status LshAttention::State::normalise_queries(const Tensor<const float>& q) {
  constexpr double kSmallestNorm = 1e-12;
  std::size_t size = 0;
  if (!checked_product({q.batch, q.heads, q.rows, q.columns}, size)) {
    return {ErrorCode::kOverflow, "query", "the product of its sizes", "smaller sizes"};
  }
  HEED_TRY(shared_keys.allocate(size, "shared keys"));
  float* out = shared_keys.data();
  for (std::size_t b = 0; b < q.batch; ++b) {
    for (std::size_t h = 0; h < q.heads; ++h) {
      for (std::size_t i = 0; i < q.rows; ++i) {
        const float* const row = q.row(b, h, i);
        const double norm = std::max(std::sqrt(square_norm(row, q.columns)), kSmallestNorm);
        for (std::size_t t = 0; t < q.columns; ++t) *out++ = static_cast<float>(row[t] / norm);
      }
    }
  }
  return {};
}

Status LshAttention::State::resolve_parameters(const LshOptions& wanted) {
  constexpr std::size_t kDefaultChunk = 64;
  constexpr std::size_t kMostRounds = 1024;
  lsh = wanted;
  if (lsh.rounds == 0 || lsh.rounds > kMostRounds) {
    return invalid_value("rounds", std::to_string(lsh.rounds),
                         "1 to " + std::to_string(kMostRounds));
  }
  HEED_TRY(check_rotation(lsh.family, lsh.rotation));
  const std::size_t length = std::max<std::size_t>({1, problem.query_len, problem.key_len});
  if (lsh.buckets == 0 && lsh.chunk == 0) lsh.chunk = kDefaultChunk;
  if (lsh.family == HashFamily::kE2Lsh) return resolve_clusters(length);
  if (lsh.buckets == 0) {
    lsh.buckets = round_up_buckets(lsh.family, ceil_div(2 * length, lsh.chunk));
  }
  HEED_TRY(check_buckets(lsh.family, lsh.buckets));
  if (lsh.chunk == 0) lsh.chunk = ceil_div(2 * length, lsh.buckets);
  lsh.chunk = std::min(lsh.chunk, length);
  return {};
}

/// Clusters are the chunks, so that one parameter sets both.
Status LshAttention::State::resolve_clusters(std::size_t length) {
  if (lsh.buckets != 0) {
    return invalid_value("buckets", std::to_string(lsh.buckets),
                         "0 (E2LSH: the buckets are the chunks)");
  }
  if (lsh.true_buckets) {
    return invalid_value("true_buckets", "true",
                         "false (E2LSH: which cluster a vector is in depends on all others)");
  }
  lsh.chunk = std::min(lsh.chunk, length);
  lsh.buckets = std::max<std::size_t>(1, chunks());
  return {};
}

Status LshAttention::State::resolve(const AttentionInputs& inputs, const AttentionOptions& options,
                                    const LshOptions& lsh_, const AttentionOutputs& outputs) {
  if (!lsh_.shared_query_key) {
    HEED_TRY(resolve_problem(inputs, options, outputs, problem));
  } else {
    // Everything is checked first with the query in the place of the key.
    const Tensor<const float>& q = inputs.query;
    AttentionInputs shared = inputs;
    shared.key = q;
    HEED_TRY(resolve_problem(shared, options, outputs, problem));
    HEED_TRY(normalise_queries(q));
    shared.key =
        dense(std::span<const float>(shared_keys.span()), q.batch, q.heads, q.rows, q.columns);
    AttentionOptions excluding = options;
    excluding.exclude_self = true;
    HEED_TRY(resolve_problem(shared, excluding, outputs, problem));
  }
  HEED_TRY(resolve_parameters(lsh_));
  return allocate();
}

Status LshAttention::State::allocate() {
  const Problem& p = problem;
  const std::size_t panel = kernels::table().panel_width;
  const std::size_t longest = std::max(p.query_len, p.key_len);
  HEED_TRY(hasher.prepare({.dim = p.head_dim,
                           .buckets = lsh.buckets,
                           .rounds = lsh.rounds,
                           .seed = lsh.seed,
                           .family = lsh.family,
                           .rotation = lsh.rotation},
                          longest));
  HEED_TRY(queries.allocate(p.batch * p.heads, lsh.rounds, p.query_len, "query buckets"));
  if (!lsh.shared_query_key) {
    // Without queries no key is hashed.
    const std::size_t length = p.query_len == 0 ? 0 : p.key_len;
    HEED_TRY(keys.allocate(p.batch * p.kv_heads, lsh.rounds, length, "key buckets"));
  }
  HEED_TRY(counts.allocate(lsh.buckets + 2, "bucket counts"));
  HEED_TRY(query_starts.allocate(lsh.true_buckets ? lsh.buckets + 2 : 0, "bucket starts"));
  HEED_TRY(key_starts.allocate(lsh.true_buckets ? lsh.buckets + 2 : 0, "bucket starts"));
  HEED_TRY(margins.allocate(longest, "margins"));
  smallest_margin = std::numeric_limits<float>::infinity();
  visible_keys.assign(p.batch, p.key_len);
  if (!p.options.key_mask.empty()) {
    for (std::size_t b = 0; b < p.batch; ++b) {
      const auto mask = p.options.key_mask.subspan(b * p.key_len, p.key_len);
      visible_keys[b] = p.key_len - static_cast<std::size_t>(
                                        std::count(mask.begin(), mask.end(), std::uint8_t{0}));
    }
  }
  HEED_TRY(self_only.allocate(p.options.exclude_self ? p.batch * p.heads * p.query_len : 0,
                              "self-only flags"));
  std::fill(self_only.span().begin(), self_only.span().end(), std::uint8_t{0});
  problem.self_only = self_only.span();
  HEED_TRY(maximum.allocate(p.query_len, "running maximum"));
  HEED_TRY(sum.allocate(p.query_len, "running sum"));
  HEED_TRY(scratch.allocate(p.careful ? p.key_len : 0, "row of weights"));
  const std::size_t tile_rows = std::min(kLshTileRows, p.query_len);
  HEED_TRY(logits.allocate(OnlineTile::logits_size(tile_rows), "logits of a tile"));
  HEED_TRY(tile.allocate(p, tile_rows, logits.span()));
  // True buckets are packed a block at a time; a chunk is packed whole and reused by the next one.
  segment_capacity = kernels::kKeyBlock;
  if (!lsh.true_buckets) {
    for (std::size_t b = 0; b < p.batch; ++b) {
      segment_capacity = std::max(segment_capacity, key_chunk(b));
    }
  }
  const std::size_t padded = round_up(segment_capacity, panel);
  for (PackedSegment& segment : segments) {
    HEED_TRY(segment.keys.allocate(padded * p.head_dim, "packed keys"));
    HEED_TRY(segment.values.allocate(padded * round_up(p.value_dim, panel), "packed values"));
    HEED_TRY(segment.codes.allocate(padded * lsh.rounds, "packed codes"));
  }
  return {};
}

LshAttention::LshAttention() = default;
LshAttention::~LshAttention() = default;
LshAttention::LshAttention(LshAttention&&) noexcept = default;
LshAttention& LshAttention::operator=(LshAttention&&) noexcept = default;

Status LshAttention::prepare(const AttentionInputs& inputs, const AttentionOptions& options,
                             const LshOptions& lsh, const AttentionOutputs& outputs) {
  auto state = std::make_unique<State>();
  HEED_TRY(state->resolve(inputs, options, lsh, outputs));
  state_ = std::move(state);
  return {};
}

}  // namespace heed
