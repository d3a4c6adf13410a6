// One problem held in the WebAssembly heap, attended to exactly and through LSH.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "heed/cell.hpp"
#include "problem.hpp"

namespace heed::wasm {

/// A rectangle of one head's weights; see WeightTile.
struct Tile {
  std::size_t batch, head, row_begin, row_end, column_begin, column_end, rows_per_cell,
      columns_per_cell;
};

/// Address and size of an array of 32-bit elements that lives until the next call of its object.
struct Slice {
  std::size_t address, size;
};

/// CellShare with addresses instead of vectors.
struct Share {
  double logsumexp, weight;
  std::size_t rank, contribution, context;
};

/// CellArithmetic with addresses instead of vectors.
struct Cell {
  std::size_t products;
  double dot, scaled, capped, logit;
  std::string hidden_by;
  Share exact, lsh;
  bool candidate;
  int round;
};

/// kind: 0 exact, 1 LSH, 2 LSH minus exact.
enum Kind { kExact, kLsh, kDifference };

class Session {
 public:
  /// `lsh_context` and `lsh_logsumexp` are the addresses of LSH's outputs; those in `problem` are
  /// exact attention's. The caller keeps all memory alive as long as the session.
  Session(const Problem& problem, std::size_t lsh_context, std::size_t lsh_logsumexp);

  bool prepare_lsh(const Options& options, const LshOptions& lsh);
  /// Prepares exact attention over LSH's inputs and options; prepare_lsh() comes first. Until it is
  /// called, exact attention stays as it was.
  bool prepare_exact();
  /// Prepares exact attention over the session's own inputs.
  bool prepare_exact_alone(const Options& options);
  bool advance(int kind, double work);
  bool done(int kind) const;
  double progress(int kind) const;
  bool tile(int kind, const Tile& tile, std::size_t peak, std::size_t mean);
  bool find_candidates(std::size_t batch, std::size_t head, std::size_t query);
  Slice candidate_keys() const;
  Slice candidate_rounds() const;
  Slice query_buckets(std::size_t batch, std::size_t head, std::size_t round) const;
  Slice key_buckets(std::size_t batch, std::size_t head, std::size_t round) const;
  Slice query_order(std::size_t batch, std::size_t head, std::size_t round) const;
  Slice key_order(std::size_t batch, std::size_t head, std::size_t round) const;
  std::size_t rounds() const { return lsh_->rounds(); }
  std::size_t buckets() const { return lsh_->buckets(); }
  std::size_t chunk() const { return lsh_->chunk(); }
  std::size_t key_chunk(std::size_t batch) const { return lsh_->key_chunk(batch); }
  LshCost cost() const { return lsh_->cost(); }
  bool measure_quality(std::size_t sample, std::uint64_t seed);
  LshQuality quality() const { return quality_; }
  bool explain(std::size_t batch, std::size_t head, std::size_t query, std::size_t key);
  Cell cell() const;
  double workspace_bytes(int kind) const;

 private:
  Problem problem_;
  std::size_t lsh_context_, lsh_logsumexp_;
  Attention exact_;
  // Under shared_query_key exact attention reads the normalised keys of the LSH attention it was
  // prepared from, which therefore lives on when LSH is prepared anew.
  std::shared_ptr<LshAttention> lsh_ = std::make_shared<LshAttention>();
  std::shared_ptr<LshAttention> exact_source_;
  std::vector<std::uint32_t> candidate_keys_, candidate_rounds_;
  LshQuality quality_;
  CellArithmetic cell_;
};

}  // namespace heed::wasm
