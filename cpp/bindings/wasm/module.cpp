// The embind module: conversions only. Addresses and sizes are numbers of bytes and elements in the
// WebAssembly heap; calls return whether they succeeded, and failure() tells why not.
#include <emscripten/bind.h>

#include <string>

#include "cache.hpp"
#include "heed/multi_head.hpp"
#include "session.hpp"

namespace heed::wasm {
namespace {

struct Failure {
  std::string code, field, received, expected;
};

Status last_failure;

Failure failure() {
  return {to_string(last_failure.code), last_failure.field, last_failure.received,
          last_failure.expected};
}

bool attend(const Problem& problem, const Options& options) {
  return keep(attention(inputs_of(problem), options_of(problem, options),
                        outputs_of(problem, problem.context, problem.logsumexp)));
}

/// A layer's addresses: weight and bias, 0 for no bias.
struct Layer {
  std::size_t weight, bias;
};

struct MultiHead {
  MultiHeadShape shape;
  Layer query, key, value, output;
  std::size_t query_source, memory;  // memory 0: query_source
  std::size_t result, context, logsumexp;
};

bool attend_multi_head(const MultiHead& m, const Options& options) {
  const MultiHeadShape& s = m.shape;
  const auto layer = [](const Layer& l, std::size_t in, std::size_t out) {
    return Linear{span_at<const float>(l.weight, in * out), span_at<const float>(l.bias, out)};
  };
  const std::size_t query_rows = s.batch * s.query_len;
  const Problem masks = {.batch = s.batch,
                         .heads = s.heads,
                         .kv_heads = s.kv_heads,
                         .query_len = s.query_len,
                         .key_len = s.key_len,
                         .head_dim = s.head_dim,
                         .value_dim = s.value_dim,
                         .query = 0,
                         .key = 0,
                         .value = 0,
                         .context = 0,
                         .logsumexp = 0};
  return keep(
      multi_head_attention(s,
                           {layer(m.query, s.model_dim, s.heads * s.head_dim),
                            layer(m.key, s.memory_dim, s.kv_heads * s.head_dim),
                            layer(m.value, s.memory_dim, s.kv_heads * s.value_dim),
                            layer(m.output, s.heads * s.value_dim, s.output_dim)},
                           {span_at<const float>(m.query_source, query_rows * s.model_dim),
                            span_at<const float>(m.memory, s.batch * s.key_len * s.memory_dim)},
                           options_of(masks, options),
                           {span_at<float>(m.result, query_rows * s.output_dim),
                            span_at<float>(m.context, query_rows * s.heads * s.value_dim),
                            span_at<float>(m.logsumexp, query_rows * s.heads)}));
}

bool is_hadamard(const LshOptions& o) { return o.rotation == Rotation::kHadamard; }
void set_hadamard(LshOptions& o, bool hadamard) {
  o.rotation = hadamard ? Rotation::kHadamard : Rotation::kGaussian;
}

bool hash(std::size_t x, std::size_t rows, std::size_t dim, std::size_t buckets, std::uint64_t seed,
          std::size_t round, bool hadamard, std::size_t out) {
  return keep(lsh_hash(span_at<const float>(x, rows * dim), rows, dim, buckets, seed, round,
                       span_at<std::uint32_t>(out, rows),
                       hadamard ? Rotation::kHadamard : Rotation::kGaussian));
}

bool project(const Layer& l, std::size_t rows, std::size_t in, std::size_t out, std::size_t x,
             std::size_t y) {
  return keep(linear({span_at<const float>(l.weight, in * out), span_at<const float>(l.bias, out)},
                     rows, in, out, span_at<const float>(x, rows * in),
                     span_at<float>(y, rows * out)));
}

std::string instruction_set_name() { return instruction_set(); }

}  // namespace

bool keep(Status status) {
  const bool ok = status.ok();
  if (!ok) last_failure = std::move(status);
  return ok;
}

EMSCRIPTEN_BINDINGS(heed) {
  using namespace emscripten;
  register_optional<double>();

  value_object<Failure>("Failure")
      .field("code", &Failure::code)
      .field("field", &Failure::field)
      .field("received", &Failure::received)
      .field("expected", &Failure::expected);
  value_object<Problem>("Problem")
      .field("batch", &Problem::batch)
      .field("heads", &Problem::heads)
      .field("kvHeads", &Problem::kv_heads)
      .field("queryLen", &Problem::query_len)
      .field("keyLen", &Problem::key_len)
      .field("headDim", &Problem::head_dim)
      .field("valueDim", &Problem::value_dim)
      .field("query", &Problem::query)
      .field("key", &Problem::key)
      .field("value", &Problem::value)
      .field("context", &Problem::context)
      .field("logsumexp", &Problem::logsumexp);
  value_object<Options>("Options")
      .field("scale", &Options::scale)
      .field("causalOffset", &Options::causal_offset)
      .field("windowLeft", &Options::window_left)
      .field("windowRight", &Options::window_right)
      .field("causal", &Options::causal)
      .field("softCap", &Options::soft_cap)
      .field("excludeSelf", &Options::exclude_self)
      .field("keyMask", &Options::key_mask)
      .field("mask", &Options::mask)
      .field("maskBatch", &Options::mask_batch)
      .field("maskHeads", &Options::mask_heads)
      .field("maskRows", &Options::mask_rows)
      .field("bias", &Options::bias)
      .field("biasBatch", &Options::bias_batch)
      .field("biasHeads", &Options::bias_heads)
      .field("biasRows", &Options::bias_rows);
  value_object<LshOptions>("LshOptions")
      .field("rounds", &LshOptions::rounds)
      .field("buckets", &LshOptions::buckets)
      .field("chunk", &LshOptions::chunk)
      .field("seed", &LshOptions::seed)
      .field("hadamard", &is_hadamard, &set_hadamard)
      .field("sharedQueryKey", &LshOptions::shared_query_key)
      .field("trueBuckets", &LshOptions::true_buckets);
  value_object<LshCost>("LshCost")
      .field("candidatePairs", &LshCost::candidate_pairs)
      .field("exactPairs", &LshCost::exact_pairs);
  value_object<LshQuality>("LshQuality")
      .field("queries", &LshQuality::queries)
      .field("sampled", &LshQuality::sampled)
      .field("capturedMass", &LshQuality::captured_mass)
      .field("capturedMassMin", &LshQuality::captured_mass_min)
      .field("capturedMassStderr", &LshQuality::captured_mass_stderr)
      .field("relativeErrorStderr", &LshQuality::relative_error_stderr)
      .field("relativeError", &LshQuality::relative_error)
      .field("errorBound", &LshQuality::error_bound)
      .field("kl", &LshQuality::kl)
      .field("argmaxMargin", &LshQuality::argmax_margin);
  value_object<Tile>("Tile")
      .field("batch", &Tile::batch)
      .field("head", &Tile::head)
      .field("rowBegin", &Tile::row_begin)
      .field("rowEnd", &Tile::row_end)
      .field("columnBegin", &Tile::column_begin)
      .field("columnEnd", &Tile::column_end)
      .field("rowsPerCell", &Tile::rows_per_cell)
      .field("columnsPerCell", &Tile::columns_per_cell);
  value_object<Slice>("Slice").field("address", &Slice::address).field("size", &Slice::size);
  value_object<Share>("Share")
      .field("logsumexp", &Share::logsumexp)
      .field("weight", &Share::weight)
      .field("rank", &Share::rank)
      .field("contribution", &Share::contribution)
      .field("context", &Share::context);
  value_object<Cell>("Cell")
      .field("products", &Cell::products)
      .field("dot", &Cell::dot)
      .field("scaled", &Cell::scaled)
      .field("capped", &Cell::capped)
      .field("logit", &Cell::logit)
      .field("hiddenBy", &Cell::hidden_by)
      .field("exact", &Cell::exact)
      .field("lsh", &Cell::lsh)
      .field("candidate", &Cell::candidate)
      .field("round", &Cell::round);
  value_object<Layer>("Layer").field("weight", &Layer::weight).field("bias", &Layer::bias);
  value_object<MultiHeadShape>("MultiHeadShape")
      .field("batch", &MultiHeadShape::batch)
      .field("queryLen", &MultiHeadShape::query_len)
      .field("keyLen", &MultiHeadShape::key_len)
      .field("modelDim", &MultiHeadShape::model_dim)
      .field("memoryDim", &MultiHeadShape::memory_dim)
      .field("heads", &MultiHeadShape::heads)
      .field("kvHeads", &MultiHeadShape::kv_heads)
      .field("headDim", &MultiHeadShape::head_dim)
      .field("valueDim", &MultiHeadShape::value_dim)
      .field("outputDim", &MultiHeadShape::output_dim);
  value_object<MultiHead>("MultiHead")
      .field("shape", &MultiHead::shape)
      .field("query", &MultiHead::query)
      .field("key", &MultiHead::key)
      .field("value", &MultiHead::value)
      .field("output", &MultiHead::output)
      .field("querySource", &MultiHead::query_source)
      .field("memory", &MultiHead::memory)
      .field("result", &MultiHead::result)
      .field("context", &MultiHead::context)
      .field("logsumexp", &MultiHead::logsumexp);

  value_object<CacheShape>("CacheShape")
      .field("batch", &CacheShape::batch)
      .field("kvHeads", &CacheShape::kv_heads)
      .field("headDim", &CacheShape::head_dim)
      .field("valueDim", &CacheShape::value_dim);

  function("instructionSet", &instruction_set_name);
  function("failure", &failure);
  function("attend", &attend);
  function("attendMultiHead", &attend_multi_head);
  function("hash", &hash);
  function("project", &project);

  class_<Cache>("Cache")
      .constructor()
      .function("create", &Cache::create)
      .function("append", &Cache::append)
      .function("truncate", &Cache::truncate)
      .function("length", &Cache::length)
      .function("bytes", &Cache::bytes)
      .function("attend", &Cache::attend);

  class_<Session>("Session")
      .constructor<const Problem&, std::size_t, std::size_t>()
      .function("prepareLsh", &Session::prepare_lsh)
      .function("prepareExact", &Session::prepare_exact)
      .function("prepareExactAlone", &Session::prepare_exact_alone)
      .function("advance", &Session::advance)
      .function("done", &Session::done)
      .function("progress", &Session::progress)
      .function("tile", &Session::tile)
      .function("findCandidates", &Session::find_candidates)
      .function("candidateKeys", &Session::candidate_keys)
      .function("candidateRounds", &Session::candidate_rounds)
      .function("queryBuckets", &Session::query_buckets)
      .function("keyBuckets", &Session::key_buckets)
      .function("queryOrder", &Session::query_order)
      .function("keyOrder", &Session::key_order)
      .function("rounds", &Session::rounds)
      .function("buckets", &Session::buckets)
      .function("chunk", &Session::chunk)
      .function("keyChunk", &Session::key_chunk)
      .function("cost", &Session::cost)
      .function("measureQuality", &Session::measure_quality)
      .function("quality", &Session::quality)
      .function("explain", &Session::explain)
      .function("cell", &Session::cell)
      .function("workspaceBytes", &Session::workspace_bytes);
}

}  // namespace heed::wasm
