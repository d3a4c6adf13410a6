// Multi-head attention and its projections against the oracle.
#include "reference/multi_head.hpp"

#include <catch2/catch_test_macros.hpp>

#include "support/attention_case.hpp"

namespace heed::tests {
namespace {

/// A layer with its weights, inputs and room for its results.
struct Layer {
  MultiHeadShape shape;  // complete
  std::vector<float> weight[4], bias[4], source, memory;
  std::vector<float> output, context, logsumexp;

  Layer(const MultiHeadShape& s, bool biased, reference::Random& random)
      : shape(s),
        source(random.normals(s.batch * s.query_len * s.model_dim)),
        memory(random.normals(s.batch * s.key_len * s.memory_dim)),
        output(s.batch * s.query_len * s.output_dim, NAN),
        context(s.batch * s.heads * s.query_len * s.value_dim, NAN),
        logsumexp(s.batch * s.heads * s.query_len, NAN) {
    const std::size_t out[4] = {s.heads * s.head_dim, s.kv_heads * s.head_dim,
                                s.kv_heads * s.value_dim, s.output_dim};
    const std::size_t in[4] = {s.model_dim, s.memory_dim, s.memory_dim, s.heads * s.value_dim};
    for (std::size_t n = 0; n < 4; ++n) {
      weight[n] = random.normals(out[n] * in[n], 1 / std::sqrt(static_cast<double>(in[n])));
      if (biased) bias[n] = random.normals(out[n], 0.5);
    }
  }
  MultiHeadWeights weights() const {
    return {{weight[0], bias[0]}, {weight[1], bias[1]}, {weight[2], bias[2]}, {weight[3], bias[3]}};
  }
  MultiHeadOutputs outputs() { return {output, context, logsumexp}; }
};

/// Inputs are of order 1 and weights 1 / sqrt(in), so that every sum below is of order 1 with terms
/// of order 1 in all; each has at most `terms` roundings of 2^-24, and the errors of the
/// projections pass through the softmax with a factor of the logits' size, below 10 here.
double bound(const MultiHeadShape& s) {
  const std::size_t terms =
      s.model_dim + s.memory_dim + s.head_dim + 2 * s.key_len + s.heads * s.value_dim + 32;
  return 10 * 0x1p-24 * static_cast<double>(terms);
}

void require_near(const std::vector<float>& got, const std::vector<double>& want, double allowed) {
  REQUIRE(got.size() == want.size());
  double worst = 0;
  for (std::size_t n = 0; n < got.size(); ++n) {
    const double error = std::abs(got[n] - want[n]);
    if (!(error <= worst)) worst = error;
  }
  CAPTURE(allowed);
  REQUIRE(worst <= allowed);
}

TEST_CASE("linear is x times the transposed weight plus the bias") {
  const char* const isa = any_instruction_set();
  const InstructionSetScope scope(isa);
  reference::Random random(171);
  for (const std::size_t rows : {0, 1, 6, 48, 49, 100}) {
    for (const std::size_t out : {1, 7, 16, 128, 129, 300}) {
      for (const std::size_t in : {1, 13, 64}) {
        const auto x = random.normals(rows * in), w = random.normals(out * in);
        const auto b = random.chance(0.5) ? random.normals(out) : std::vector<float>{};
        std::vector<float> y(rows * out, NAN);
        require_ok(linear({w, b}, rows, in, out, x, y));
        const auto want = reference::linear({w, b}, rows, in, out, {x.begin(), x.end()});
        CAPTURE(isa, rows, out, in);
        // in + 1 terms of magnitudes below 4 * 4.
        require_near(y, want,
                     static_cast<double>(in + 2) * 0x1p-24 * 16 * static_cast<double>(in + 1) / 4);
      }
    }
  }
}

TEST_CASE("multi-head attention equals the oracle for random shapes") {
  const char* const isa = any_instruction_set();
  const InstructionSetScope scope(isa);
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    reference::Random random(seed);
    MultiHeadShape s;
    s.batch = random.size(1, 2);
    s.query_len = random.size(1, 60);
    s.key_len = random.size(1, 60);
    s.model_dim = random.size(1, 40);
    s.memory_dim = random.size(1, 40);
    s.kv_heads = random.size(1, 3);
    s.heads = s.kv_heads * random.size(1, 2);
    s.head_dim = random.size(1, 20);
    s.value_dim = random.size(1, 20);
    s.output_dim = random.size(1, 40);
    Layer layer(s, random.chance(0.5), random);
    AttentionOptions options;
    options.causal = random.chance(0.5);
    if (random.chance(0.3)) options.scale = 0.2f;
    CAPTURE(isa, seed);
    require_ok(multi_head_attention(s, layer.weights(), {layer.source, layer.memory}, options,
                                    layer.outputs()));
    const auto want =
        reference::multi_head_attention(s, layer.weights(), layer.source, layer.memory, options);
    require_near(layer.context, want.context, bound(s));
    require_near(layer.output, want.output, bound(s));
    for (std::size_t n = 0; n < want.logsumexp.size(); ++n) {
      if (want.logsumexp[n] == -INFINITY) {
        REQUIRE(layer.logsumexp[n] == -kInfinity);
      } else {
        REQUIRE(std::abs(layer.logsumexp[n] - want.logsumexp[n]) <= bound(s));
      }
    }
  }
}

TEST_CASE("sizes left at 0 take their defaults and empty memory means self-attention") {
  reference::Random random(172);
  const MultiHeadShape full{2, 11, 11, 12, 12, 3, 3, 4, 4, 12};
  Layer layer(full, true, random);
  require_ok(multi_head_attention(full, layer.weights(), {layer.source, layer.source}, {},
                                  layer.outputs()));
  const auto expected = layer.output;
  MultiHeadShape brief;
  brief.batch = 2;
  brief.query_len = brief.key_len = 11;
  brief.model_dim = 12;
  brief.heads = 3;
  brief.head_dim = 4;
  std::vector<float> output(expected.size(), NAN);
  require_ok(
      multi_head_attention(brief, layer.weights(), {layer.source, {}}, {}, {output, {}, {}}));
  CHECK(output == expected);
}

TEST_CASE("multi-head attention refuses by name what does not fit") {
  reference::Random random(173);
  const MultiHeadShape full{1, 5, 7, 6, 8, 2, 1, 3, 4, 10};
  Layer layer(full, true, random);
  struct Call {
    MultiHeadShape shape;
    MultiHeadWeights weights;
    MultiHeadInputs inputs;
    AttentionOptions options;
    MultiHeadOutputs outputs;
  };
  const auto refused = [&](auto breaks) {
    Call call{full, layer.weights(), {layer.source, layer.memory}, {}, layer.outputs()};
    breaks(call);
    const Status status =
        multi_head_attention(call.shape, call.weights, call.inputs, call.options, call.outputs);
    return status.message();
  };
  const std::vector<float> few(3);
  std::vector<float> few_out(3);
  CHECK(refused([](Call&) {}) == "ok");
  CHECK(refused([](Call& k) { k.shape.model_dim = 0; }) ==
        "model_dim: received 0, expected at least 1");
  CHECK(refused([](Call& k) { k.shape.heads = 0; }) == "heads: received 0, expected at least 1");
  CHECK(refused([](Call& k) { k.shape.head_dim = 0; }) ==
        "head_dim: received 0, expected at least 1");
  CHECK(refused([&](Call& k) { k.inputs.query_source = few; }) ==
        "query_source: received 3 elements, expected 30 (batch * query_len * model_dim)");
  CHECK(refused([&](Call& k) { k.inputs.memory = few; }) ==
        "memory: received 3 elements, expected 56 (batch * key_len * memory_dim)");
  CHECK(refused([](Call& k) { k.inputs.memory = {}; }) ==
        "memory: received 0 elements, expected 56 (batch * key_len * memory_dim)");
  CHECK(refused([&](Call& k) { k.outputs.output = few_out; }) ==
        "output: received 3 elements, expected 50 (batch * query_len * output_dim)");
  CHECK(refused([&](Call& k) { k.outputs.context = few_out; }) ==
        "context: received 3 elements, expected 40 (batch * heads * query_len * value_dim)");
  CHECK(refused([&](Call& k) { k.outputs.logsumexp = few_out; }) ==
        "logsumexp: received 3, expected 10 (batch * heads * query_len)");
  CHECK(refused([&](Call& k) { k.weights.query.weight = few; }) ==
        "weights.query.weight: received 3 elements, expected 36 (out_features * in_features)");
  CHECK(refused([&](Call& k) { k.weights.key.bias = std::span(few).first(2); }) ==
        "weights.key.bias: received 2 elements, expected 3 (out_features)");
  CHECK(refused([&](Call& k) { k.weights.value.weight = {}; }) ==
        "weights.value.weight: received 0 elements, expected 32 (out_features * in_features)");
  CHECK(refused([&](Call& k) { k.weights.output.weight = few; }) ==
        "weights.output.weight: received 3 elements, expected 80 (out_features * in_features)");
  CHECK(refused([](Call& k) { k.shape.kv_heads = 3; }).find("expected") != std::string::npos);
  CHECK(refused([](Call& k) { k.options.soft_cap = -1; }) ==
        "soft_cap: received -1, expected 0 (off) or a positive number");
  CHECK(refused([](Call& k) { k.shape.batch = SIZE_MAX / 4; }).find("overflow") ==
        std::string::npos);
  std::vector<float> broken = layer.source;
  broken[2 * 6 + 4] = NAN;
  const std::string message = refused([&](Call& k) { k.inputs.query_source = broken; });
  CHECK(message.starts_with("query_source: received "));
  CHECK(message.ends_with("nan at [0, 0, 2, 4], expected finite numbers"));
}

TEST_CASE("numbers that are not finite in any weight are refused or never reach an output") {
  reference::Random random(174);
  const MultiHeadShape full{1, 5, 7, 6, 8, 2, 1, 3, 4, 10};
  for (std::size_t n = 0; n < 4; ++n) {
    for (const bool in_bias : {false, true}) {
      Layer layer(full, true, random);
      (in_bias ? layer.bias : layer.weight)[n][1] = NAN;
      const Status status = multi_head_attention(full, layer.weights(),
                                                 {layer.source, layer.memory}, {}, layer.outputs());
      CAPTURE(n, in_bias, status.message());
      CHECK(status.code == ErrorCode::kInvalidValue);
    }
  }
}

TEST_CASE("multi-head attention with no queries or no keys succeeds") {
  reference::Random random(175);
  Layer no_queries({2, 0, 7, 6, 8, 2, 1, 3, 4, 10}, true, random);
  require_ok(multi_head_attention(no_queries.shape, no_queries.weights(),
                                  {no_queries.source, no_queries.memory}, {},
                                  no_queries.outputs()));
  Layer no_keys({2, 5, 0, 6, 8, 2, 1, 3, 4, 10}, true, random);
  require_ok(multi_head_attention(no_keys.shape, no_keys.weights(), {no_keys.source, {}}, {},
                                  no_keys.outputs()));
  // Context 0 leaves the output bias.
  for (std::size_t n = 0; n < no_keys.output.size(); ++n) {
    REQUIRE(no_keys.output[n] == no_keys.bias[3][n % 10]);
  }
}

}  // namespace
}  // namespace heed::tests
