#include "session.hpp"

namespace heed::wasm {
namespace {

Slice slice_of(std::span<const std::uint32_t> data) {
  return {reinterpret_cast<std::size_t>(data.data()), data.size()};
}

std::size_t address_of(const std::vector<float>& data) {
  return reinterpret_cast<std::size_t>(data.data());
}

Share share_of(const CellShare& s) {
  return {s.logsumexp, s.weight, s.rank, address_of(s.contribution), address_of(s.context)};
}

}  // namespace

Session::Session(const Problem& problem, std::size_t lsh_context, std::size_t lsh_logsumexp)
    : problem_(problem), lsh_context_(lsh_context), lsh_logsumexp_(lsh_logsumexp) {}

bool Session::prepare_lsh(const Options& options, const LshOptions& lsh) {
  auto prepared = std::make_shared<LshAttention>();
  const bool ok = keep(prepared->prepare(inputs_of(problem_), options_of(problem_, options), lsh,
                                         outputs_of(problem_, lsh_context_, lsh_logsumexp_)));
  if (ok) lsh_ = std::move(prepared);
  return ok;
}

bool Session::prepare_exact() {
  const bool ok = keep(exact_.prepare(lsh_->exact_inputs(), lsh_->exact_options(),
                                      outputs_of(problem_, problem_.context, problem_.logsumexp)));
  if (ok) exact_source_ = lsh_;
  return ok;
}

bool Session::prepare_exact_alone(const Options& options) {
  const bool ok = keep(exact_.prepare(inputs_of(problem_), options_of(problem_, options),
                                      outputs_of(problem_, problem_.context, problem_.logsumexp)));
  if (ok) exact_source_.reset();
  return ok;
}

bool Session::advance(int kind, double work) {
  return keep(kind == kExact ? exact_.advance(work) : lsh_->advance(work));
}

bool Session::done(int kind) const { return kind == kExact ? exact_.done() : lsh_->done(); }

double Session::progress(int kind) const {
  return kind == kExact ? exact_.progress() : lsh_->progress();
}

bool Session::tile(int kind, const Tile& t, std::size_t peak, std::size_t mean) {
  const WeightTile tile = {.batch = t.batch,
                           .head = t.head,
                           .rows = {t.row_begin, t.row_end},
                           .columns = {t.column_begin, t.column_end},
                           .rows_per_cell = t.rows_per_cell,
                           .columns_per_cell = t.columns_per_cell};
  const std::size_t cells = tile.cell_rows() * tile.cell_columns();
  const TileOutputs out = {span_at<float>(peak, cells), span_at<float>(mean, cells)};
  switch (kind) {
    case kExact:
      return keep(exact_.weights(tile, out));
    case kLsh:
      return keep(lsh_->weights(tile, out));
    default:
      return keep(lsh_->weight_difference(exact_, tile, out));
  }
}

bool Session::find_candidates(std::size_t batch, std::size_t head, std::size_t query) {
  return keep(lsh_->candidates(batch, head, query, candidate_keys_, candidate_rounds_));
}

Slice Session::candidate_keys() const { return slice_of(candidate_keys_); }
Slice Session::candidate_rounds() const { return slice_of(candidate_rounds_); }

Slice Session::query_buckets(std::size_t batch, std::size_t head, std::size_t round) const {
  return slice_of(lsh_->query_buckets(batch, head, round));
}
Slice Session::key_buckets(std::size_t batch, std::size_t head, std::size_t round) const {
  return slice_of(lsh_->key_buckets(batch, head, round));
}
Slice Session::query_order(std::size_t batch, std::size_t head, std::size_t round) const {
  return slice_of(lsh_->query_order(batch, head, round));
}
Slice Session::key_order(std::size_t batch, std::size_t head, std::size_t round) const {
  return slice_of(lsh_->key_order(batch, head, round));
}

bool Session::measure_quality(std::size_t sample, std::uint64_t seed) {
  return keep(lsh_->quality(exact_, sample, seed, quality_));
}

bool Session::explain(std::size_t batch, std::size_t head, std::size_t query, std::size_t key) {
  return keep(explain_cell(exact_, *lsh_, batch, head, query, key, cell_));
}

Cell Session::cell() const {
  return {address_of(cell_.products),
          cell_.dot,
          cell_.scaled,
          cell_.capped,
          cell_.logit,
          to_string(cell_.hidden_by),
          share_of(cell_.exact),
          share_of(cell_.lsh),
          cell_.lsh_candidate,
          cell_.lsh_round};
}

double Session::workspace_bytes(int kind) const {
  return static_cast<double>(kind == kExact ? exact_.workspace_bytes() : lsh_->workspace_bytes());
}

}  // namespace heed::wasm
