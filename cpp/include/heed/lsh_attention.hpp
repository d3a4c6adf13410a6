// LSH attention as in the Reformer (Kitaev, Kaiser & Levskaya 2020), with its hash or another: the
// public API.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "heed/attention.hpp"

namespace heed {

/// The random rotation of a hash.
enum class Rotation {
  kGaussian,  // independent standard normal entries (Kitaev et al. 2020): dim * buckets / 2
              // products
  kHadamard,  // signs and Walsh-Hadamard transforms (Andoni et al. 2015, section 6): for the same
              // buckets a fraction of the work, on long sequences most of what hashing costs
};

/// What a hash looks at. The margin of a hash is how near the vector was to another bucket.
enum class HashFamily {
  /// argmax([xR; -xR]) with a random rotation R (Kitaev et al. 2020, section 2, "Locality sensitive
  /// hashing"): sees the direction alone. Margin: best minus second best value.
  kCrossPolytope,
  /// The sides of k random hyperplanes on which a vector lies (Charikar 2002): sees the direction
  /// alone. Buckets are 2^k words in the order of the reflected Gray code, so that neighbours
  /// differ in one side. Margin: distance to the nearest hyperplane.
  kSimHash,
  /// SMYRF's asymmetric hash (Daras et al. 2020, section 3): F(q) = [q; 0; sqrt(Mq^2 + Mk^2 -
  /// |q|^2)] and G(k) = [k; sqrt(Mq^2 + Mk^2 - |k|^2); 0], M the largest norms of a head, are
  /// projected on one random direction and cut into clusters of equal size along it. |F - G| falls
  /// as <q, k> grows, so lengths count. The buckets are the chunks. Margin: gap between a
  /// projection and the nearest one of another cluster, infinite when there is one cluster.
  kE2Lsh,
};

/// How hashing chooses candidates for the exact softmax.
///
/// In each round every vector is hashed to a bucket; vectors are sorted by (bucket, position) and
/// cut into chunks; a query's candidates of the round are the keys in its own chunk and the one
/// before, in sorted order, without wrapping. The result is the exact softmax over the union of the
/// candidates of all rounds. Masks use original positions.
struct LshOptions {
  std::size_t rounds = 4;
  /// Even; a power of two for SimHash. 0: chosen so that a bucket holds half a chunk on average, at
  /// least 2. Must be 0 for E2LSH, where the chunks are the buckets.
  std::size_t buckets = 0;
  /// Vectors per chunk. 0: 2 * length / buckets as in the paper; 64 when buckets is 0 too.
  std::size_t chunk = 0;
  std::uint64_t seed = 0;
  HashFamily family = HashFamily::kCrossPolytope;
  /// Of the cross-polytope hash; Gaussian for the others.
  Rotation rotation = Rotation::kGaussian;
  /// Keys are the queries divided by their norms and `key` is ignored (section 2, "shared-QK").
  /// A row of norm below 1e-12 is divided by 1e-12. Implies exclude_self.
  bool shared_query_key = false;
  /// A query's candidates are instead the keys of its own bucket, however many. With it the choice
  /// of candidates of a query does not depend on other tokens, so causality is exact. Not for
  /// E2LSH, whose clusters depend on all tokens.
  bool true_buckets = false;
};

/// How good an approximation is, over the queries looked at. Queries that see no key are left out.
struct LshQuality {
  std::size_t queries = 0;   // how many queries the figures are over
  bool sampled = false;      // false: over all queries
  double captured_mass = 0;  // mean over queries of the exact weight of their candidates
  double captured_mass_min = 0;
  double captured_mass_stderr = 0;   // standard error of the mean; 0 when not sampled
  double relative_error = 0;         // |o^ - o|_F / |o|_F over the queries looked at
  double relative_error_stderr = 0;  // its standard error (delta method); 0 when not sampled
  double error_bound = 0;            // the same from 2 (1 - mass_i) max_j |v_j|, never smaller
  double kl = 0;             // mean KL(p^ || p) = -log(mass), nats; +infinity if a mass is 0
  double argmax_margin = 0;  // smallest margin of any hash, see HashFamily
};

/// Work done against exact attention, in query-key pairs. Causal and mask savings are counted.
struct LshCost {
  double candidate_pairs = 0;  // distinct pairs, summed over heads
  double exact_pairs = 0;      // pairs exact attention computes under the same masks
};

/// LSH attention in slices, its quality and the structure needed to draw it.
///
/// query_len and key_len may differ unless shared_query_key. Inputs, options and outputs are views:
/// they must outlive the object.
class LshAttention {
 public:
  LshAttention();
  ~LshAttention();
  LshAttention(LshAttention&&) noexcept;
  LshAttention& operator=(LshAttention&&) noexcept;

  Status prepare(const AttentionInputs& inputs, const AttentionOptions& options,
                 const LshOptions& lsh, const AttentionOutputs& outputs);
  /// Does about `work` query-key pairs of hashing, sorting or attending and returns.
  Status advance(double work);
  bool done() const;
  double progress() const;

  /// The parameters in use, with the defaults filled in.
  std::size_t rounds() const;
  std::size_t buckets() const;
  std::size_t chunk() const;

  /// Keys per chunk: chunk() under shared_query_key, else the keys of a batch entry that are not
  /// hidden are cut into as many chunks as the queries.
  std::size_t key_chunk(std::size_t batch) const;

  // Everything below needs done().

  LshCost cost() const;
  /// Bucket of each query (key) in a round, [query_len] ([key_len]). Hidden keys have bucket
  /// buckets(). Empty when there are no queries: nothing is hashed then.
  std::span<const std::uint32_t> query_buckets(std::size_t batch, std::size_t head,
                                               std::size_t round) const;
  std::span<const std::uint32_t> key_buckets(std::size_t batch, std::size_t head,
                                             std::size_t round) const;
  /// Original positions in sorted order, queries and keys; chunk c of queries is entries
  /// [c * chunk, (c + 1) * chunk).
  std::span<const std::uint32_t> query_order(std::size_t batch, std::size_t head,
                                             std::size_t round) const;
  std::span<const std::uint32_t> key_order(std::size_t batch, std::size_t head,
                                           std::size_t round) const;
  /// Keys that a query attends to, ascending, each with the first round that found it.
  Status candidates(std::size_t batch, std::size_t head, std::size_t query,
                    std::vector<std::uint32_t>& keys, std::vector<std::uint32_t>& rounds) const;

  /// LSH weights of a tile (0 outside the candidates), reduced.
  Status weights(const WeightTile& tile, const TileOutputs& out) const;
  /// LSH weight minus exact weight of a tile, reduced. `exact` is the attention over the same
  /// inputs and options; see exact_options().
  Status weight_difference(Attention& exact, const WeightTile& tile, const TileOutputs& out) const;
  Status weight_row(std::size_t batch, std::size_t head, std::size_t query,
                    std::span<float> out) const;

  /// Quality against `exact` (done, same inputs). sample = 0: all queries; else so many queries a
  /// head, drawn from `seed` without replacement.
  Status quality(Attention& exact, std::size_t sample, std::uint64_t seed, LshQuality& out) const;

  /// Inputs and options under which exact attention is the limit of this one for many rounds: with
  /// shared_query_key the normalised keys and exclude_self, else what prepare() was given.
  AttentionInputs exact_inputs() const;
  AttentionOptions exact_options() const;

  std::size_t workspace_bytes() const;

  struct State;  // the library's own

 private:
  friend Status explain_cell(Attention&, const LshAttention&, std::size_t, std::size_t, std::size_t,
                             std::size_t, CellArithmetic&);
  std::unique_ptr<State> state_;
};

/// One-shot form.
Status lsh_attention(const AttentionInputs& inputs, const AttentionOptions& options,
                     const LshOptions& lsh, const AttentionOutputs& outputs);

/// Bucket of each row of x [rows, dim] for one seed and round, by the cross-polytope hash (more
/// than 64 buckets are factorised into two independent argmaxes) or by SimHash.
Status lsh_hash(std::span<const float> x, std::size_t rows, std::size_t dim, std::size_t buckets,
                std::uint64_t seed, std::size_t round, std::span<std::uint32_t> out,
                Rotation rotation = Rotation::kGaussian,
                HashFamily family = HashFamily::kCrossPolytope);

}  // namespace heed
