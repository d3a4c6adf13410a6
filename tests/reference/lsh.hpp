// Oracles of LSH attention (Kitaev, Kaiser & Levskaya 2020): hash, order, candidates, and the two
// ways to combine rounds. Independent of the library's sources.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace heed::reference {

/// argmax([xR; -xR]) in float64 for a rotation R, dense [dim, width]; ties to the smaller index.
struct Hash {
  std::uint32_t bucket = 0;
  double margin = 0;  // best minus second best of the 2 width values
};
Hash cross_polytope_hash(std::span<const float> x, std::span<const float> rotation,
                         std::size_t width);

/// Positions by (bucket, position).
std::vector<std::uint32_t> bucket_order(std::span<const std::uint32_t> buckets);

/// The buckets of one round of one head.
struct Round {
  std::vector<std::uint32_t> query_buckets, key_buckets;
};

/// How sorted sequences are cut; key_chunk differs from query_chunk only when lengths do. Keys in
/// bucket `hidden_bucket` or above belong to no chunk.
struct Chunking {
  std::size_t query_chunk = 0, key_chunk = 0;
  std::uint32_t hidden_bucket = 0;
};

/// met[i][j]: rounds in which key j is a candidate of query i, ascending.
using Meetings = std::vector<std::vector<std::vector<std::uint32_t>>>;

/// Chunk mode: a query's own chunk of the sorted keys and the one before, without wrapping.
Meetings chunk_meetings(const std::vector<Round>& rounds, const Chunking& chunking);
/// True-bucket mode: the keys of the query's own bucket.
Meetings bucket_meetings(const std::vector<Round>& rounds, std::uint32_t hidden_bucket);

/// The Reformer's own combination for one query: softmax within each round over the keys that met
/// in it, with -log N_ij added to the logits, N_ij the number of rounds in which i and j met, and
/// rounds weighted by their logsumexp (appendix A, eq. 9 to 12). value is [keys, value_dim].
struct RoundwiseRow {
  std::vector<double> context;
  double logsumexp = 0;
};
RoundwiseRow combine_rounds(const std::vector<double>& logits,
                            const std::vector<std::vector<std::uint32_t>>& met, std::size_t rounds,
                            const std::vector<double>& value, std::size_t value_dim);

}  // namespace heed::reference
