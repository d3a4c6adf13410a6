// What LshAttention holds between calls: the hashing of every head and the cursor of the work.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "attention/lsh_hash.hpp"
#include "attention/online_tile.hpp"
#include "core/buffer.hpp"
#include "core/problem.hpp"
#include "heed/lsh_attention.hpp"

namespace heed {

/// Buckets, sorted order and candidate codes of a sequence for every (sequence, round), where a
/// sequence is one head of the queries or of the keys.
///
/// Codes make "is key j a candidate of query i in this round" one subtraction: yes if and only if
/// query_code - key_code, in uint32 arithmetic, is at most the span of the mode. Chunk mode: codes
/// are chunk numbers and the span is 1 (own chunk and the one before). True buckets: codes are
/// buckets and the span is 0.
struct HashedSequence {
  Buffer<std::uint32_t> bucket, order, code;  // [sequences, rounds, length]
  std::size_t length = 0, rounds = 0;

  Status allocate(std::size_t sequences, std::size_t rounds_, std::size_t length_,
                  const char* name);
  std::size_t bytes() const { return bucket.bytes() + order.bytes() + code.bytes(); }
  std::span<std::uint32_t> slice(Buffer<std::uint32_t>& b, std::size_t sequence,
                                 std::size_t round) const {
    return b.span().subspan((sequence * rounds + round) * length, length);
  }
  std::span<const std::uint32_t> slice(const Buffer<std::uint32_t>& b, std::size_t sequence,
                                       std::size_t round) const {
    return b.span().subspan((sequence * rounds + round) * length, length);
  }
};

/// Queries of one tile of LSH attention; a chunk of the usual 64 fits whole.
inline constexpr std::size_t kLshTileRows = 64;

/// Keys gathered and packed for a run of the sorted order.
struct PackedSegment {
  Buffer<float> keys, values;
  Buffer<std::uint32_t> codes;  // [earlier rounds][capacity], gathered key codes
  Range range;                  // of the sorted order; empty when nothing is packed
};

/// Keys that a query may attend to, the first round that found each, and their weights.
struct Candidates {
  std::vector<std::uint32_t> keys, rounds;
  std::vector<float> weights;
};

/// The largest |q|^2 of the heads that share h's keys plus the largest |k|^2 of those keys, of
/// which those hidden by the key mask do not count. With shared-QK the keys stand for the queries
/// too.
double largest_squares(const Problem& p, bool shared_query_key, std::size_t b, std::size_t h);

struct LshAttention::State {
  Problem problem;
  LshOptions lsh;                  // with defaults filled in
  Buffer<float> shared_keys;       // normalised queries, dense; only with shared_query_key
  Buffer<std::uint8_t> self_only;  // see Problem::self_only
  LshHasher hasher;
  HashedSequence queries, keys;                    // keys stays empty with shared_query_key
  Buffer<std::uint32_t> counts;                    // of the sort
  Buffer<std::uint32_t> query_starts, key_starts;  // true buckets: [buckets + 2], current round
  Buffer<float> margins;
  float smallest_margin = 0;
  std::vector<std::size_t> visible_keys;  // a batch

  Buffer<float> logits;  // of the tile
  OnlineTile tile;
  std::array<PackedSegment, 2> segments;
  std::size_t segment_capacity = 0;
  Buffer<float> maximum, sum;  // running softmax of the head at work, [query_len]
  Buffer<double> scratch;      // weights of a candidate list, for careful problems
  Candidates candidates;       // of the query at work

  std::size_t head = 0;  // batch * heads + head at work
  std::size_t round = 0;
  std::size_t group = 0;  // of the round
  bool hashed = false;    // the head at work has its buckets
  double candidate_pairs = 0;

  // lsh_prepare.cpp
  Status resolve(const AttentionInputs& inputs, const AttentionOptions& options,
                 const LshOptions& lsh_, const AttentionOutputs& outputs);
  Status resolve_parameters(const LshOptions& wanted);
  Status resolve_clusters(std::size_t length);
  Status normalise_queries(const Tensor<const float>& q);
  Status allocate();
  // lsh_structure.cpp
  const HashedSequence& hashed_keys() const { return lsh.shared_query_key ? queries : keys; }
  std::size_t query_sequence(std::size_t b, std::size_t h) const { return b * problem.heads + h; }
  std::size_t key_sequence(std::size_t b, std::size_t h) const {
    return b * problem.kv_heads + problem.kv_head(h);
  }
  std::uint32_t span() const { return lsh.true_buckets ? 0 : 1; }
  std::size_t chunks() const { return ceil_div(problem.query_len, lsh.chunk); }
  /// Keys of a chunk: the sorted keys are cut into as many chunks as the queries.
  std::size_t key_chunk(std::size_t b) const;
  std::size_t groups() const;
  /// `squares` is largest_squares() of the head for E2LSH; the others do not look at it.
  void hash_head(std::size_t b, std::size_t h, double squares);
  /// Hashes, sorts and cuts one sequence into chunks of rows.cluster.
  void hash_round(HashedSequence& sequence, std::size_t index, std::size_t r, const HashRows& rows);
  void start_round(std::size_t b, std::size_t h);
  Range group_queries(std::size_t g) const;
  /// Runs of the sorted keys that a group's queries see: one or two.
  std::array<Range, 2> group_keys(std::size_t b, std::size_t g) const;
  /// Union of the query's candidates over all rounds, each key once, before any rule.
  void collect_candidates(std::size_t b, std::size_t h, std::size_t query, Candidates& out) const;
  // lsh_weights.cpp
  /// The query's candidates that the rules leave, with their weights: logits exponentiated against
  /// the given natural logsumexp, or against the candidates' own in double. Empty when the query
  /// sees nothing.
  void weigh(std::size_t b, std::size_t h, std::size_t query, std::optional<double> logsumexp,
             Candidates& out) const;
  void fill_row(const WeightTile& tile_, std::size_t query, Candidates& candidates_,
                std::span<float> row) const;
  // lsh_attend.cpp
  bool done() const { return head == problem.batch * problem.heads || problem.query_len == 0; }
  double step();
  double attend_group(std::size_t b, std::size_t h);
  double attend_tile(std::size_t b, std::size_t h, std::span<const std::uint32_t> query,
                     std::span<const Range> ranges);
  void attend_careful(std::size_t b, std::size_t h, std::span<const std::uint32_t> query);
  PackedSegment& pack(std::size_t slot, std::size_t b, std::size_t h, Range range);
  void hide_earlier(const PackedSegment& segment, std::size_t b, std::size_t h, std::size_t first,
                    std::size_t count);
};

}  // namespace heed
