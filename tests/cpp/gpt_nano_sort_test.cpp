// A trained model end to end: gpt-nano-sort, a minGPT of 3 layers and 3 heads, whose weights and
// reference activations are not in the repository. ctest converts them (tests/golden/README.md).
#include <catch2/catch_test_macros.hpp>
#include <numbers>

#include "heed/multi_head.hpp"
#include "support/golden_attention.hpp"

namespace heed::golden {
namespace {

constexpr std::size_t kModelDim = 48, kHeads = 3, kHeadDim = kModelDim / kHeads;
constexpr std::size_t kLetters = 3, kSorted = 6, kLength = 2 * kSorted - 1;
constexpr float kTolerance = 1e-5f;

void add(std::vector<float>& x, std::span<const float> y) {
  REQUIRE(x.size() == y.size());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += y[i];
}

/// minGPT's approximation of the Gaussian error linear unit (Hendrycks & Gimpel 2016, section 2).
float gelu(float x) {
  const double cubic = x + 0.044715 * x * x * x;
  return static_cast<float>(0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * cubic)));
}

struct TrainedModel {
  Case weights, activations;

  /// Rows [first, first + rows) of a linear layer, all by default.
  Linear layer(const std::string& name, std::size_t first = 0, std::size_t rows = 0) const {
    const Array& weight = weights[name + ".weight"];
    const std::size_t in = weight.dim(1), count = rows == 0 ? weight.dim(0) : rows;
    const std::span<const float> bias =
        weights.has(name + ".bias") ? weights[name + ".bias"].span() : std::span<const float>{};
    return {weight.span().subspan(first * in, count * in),
            bias.empty() ? bias : bias.subspan(first, count)};
  }

  std::vector<float> apply(const std::string& name, std::span<const float> x) const {
    const Array& weight = weights[name + ".weight"];
    const std::size_t in = weight.dim(1), out = weight.dim(0), rows = x.size() / in;
    std::vector<float> y(rows * out);
    require_ok(linear(layer(name), rows, in, out, x, y));
    return y;
  }

  std::vector<float> layer_norm(const std::string& name, std::span<const float> x) const {
    constexpr double kVarianceFloor = 1e-5;  // of PyTorch's nn.LayerNorm
    const Array &gain = weights[name + ".weight"], &bias = weights[name + ".bias"];
    std::vector<float> y;
    for (; !x.empty(); x = x.subspan(kModelDim)) {
      double mean = 0, variance = 0;
      for (const float value : x.first(kModelDim)) mean += value / double{kModelDim};
      for (const float value : x.first(kModelDim)) {
        variance += (value - mean) * (value - mean) / double{kModelDim};
      }
      for (std::size_t i = 0; i < kModelDim; ++i) {
        const double normal = (x[i] - mean) / std::sqrt(variance + kVarianceFloor);
        y.push_back(static_cast<float>(normal * gain.data[i] + bias.data[i]));
      }
    }
    return y;
  }

  /// Causal self-attention of one layer with its projections: x [sequences, kLength, kModelDim].
  std::vector<float> attend_layer(const std::string& name, std::span<const float> x) const {
    MultiHeadShape shape;
    shape.batch = x.size() / (kLength * kModelDim);
    shape.query_len = shape.key_len = kLength;
    shape.model_dim = kModelDim;
    shape.heads = kHeads;
    shape.head_dim = kHeadDim;
    std::vector<float> y(x.size());
    AttentionOptions options;
    options.causal = true;
    require_ok(multi_head_attention(
        shape,
        {layer(name + ".c_attn", 0, kModelDim), layer(name + ".c_attn", kModelDim, kModelDim),
         layer(name + ".c_attn", 2 * kModelDim, kModelDim), layer(name + ".c_proj")},
        {.query_source = x, .memory = {}}, options, {.output = y, .context = {}, .logsumexp = {}}));
    return y;
  }

  /// x becomes the output of layer 0, 1 or 2.
  void transform(const std::string& index, std::vector<float>& x) const {
    const std::string name = "transformer.h." + index;
    add(x, attend_layer(name + ".attn", layer_norm(name + ".ln_1", x)));
    std::vector<float> hidden = apply(name + ".mlp.c_fc", layer_norm(name + ".ln_2", x));
    std::ranges::transform(hidden, hidden.begin(), gelu);
    add(x, apply(name + ".mlp.c_proj", hidden));
  }

  std::vector<float> logits(std::span<const float> x) const {
    return apply("lm_head", layer_norm("transformer.ln_f", x));
  }

  /// Letter plus position, [kLength, kModelDim].
  std::vector<float> embed(std::span<const std::size_t> letters) const {
    const std::span<const float> table = weights["transformer.wte.weight"].span();
    std::vector<float> x = weights["transformer.wpe.weight"].data;
    REQUIRE(letters.size() == kLength);
    for (std::size_t i = 0; i < kLength; ++i) {
      for (std::size_t t = 0; t < kModelDim; ++t) {
        x[i * kModelDim + t] += table[letters[i] * kModelDim + t];
      }
    }
    return x;
  }
};

/// Skips the running test where the model is absent.
TrainedModel load() {
  const char* const path = std::getenv("HEED_GPT_NANO_SORT");
  if (path == nullptr) SKIP("HEED_GPT_NANO_SORT does not name the converted model; ctest does");
  if (!std::ifstream(path).is_open()) {
    SKIP("gpt-nano-sort is absent: there is no " << path << "; see convert_gpt_nano_sort in ctest");
  }
  std::vector<Case> cases = read_file(path);
  REQUIRE(cases.size() == 2);
  REQUIRE(cases[0].name == "model");
  REQUIRE(cases[1].name == "activations");
  return {std::move(cases[0]), std::move(cases[1])};
}

TEST_CASE("the first layer of gpt-nano-sort has the reference's queries, keys and values") {
  const TrainedModel model = load();
  const InstructionSetScope isa(any_instruction_set());
  const Array& x = model.activations["ln1"];
  const std::size_t batch = x.dim(0), length = x.dim(1);
  std::vector<float> y(x.data.size());
  for (std::size_t role = 0; const std::string name : {"q", "k", "v"}) {
    INFO("projection " << name);
    const Linear layer = model.layer("transformer.h.0.attn.c_attn", kModelDim * role++, kModelDim);
    require_ok(linear(layer, batch * length, kModelDim, kModelDim, x.span(), y));
    const Tensor<const float> computed =
        dense_rows_first<const float>(y, batch, kHeads, length, kHeadDim);
    const Tensor<const float> reference = view(model.activations[name]);
    for (std::size_t b = 0; b < batch; ++b) {
      for (std::size_t h = 0; h < kHeads; ++h) {
        for (std::size_t i = 0; i < length; ++i) {
          CHECK(largest_difference({computed.row(b, h, i), kHeadDim},
                                   {reference.row(b, h, i), kHeadDim}) <= kTolerance);
        }
      }
    }
  }
}

TEST_CASE("the first layer of gpt-nano-sort has the reference's scores, weights and contexts") {
  const TrainedModel model = load();
  const InstructionSetScope isa(any_instruction_set());
  const Case& reference = model.activations;
  AttentionOptions options;
  options.causal = true;
  const Attended result =
      attend({view(reference["q"]), view(reference["k"]), view(reference["v"])}, options,
             /*rows_first=*/true);
  CHECK(largest_difference(result.weights, reference["attSm"].span()) <= kTolerance);
  CHECK(largest_difference(result.context, reference["y"].span()) <= kTolerance);
  const std::vector<float> output =
      model.apply("transformer.h.0.attn.c_proj", reference["y"].span());
  CHECK(largest_difference(output, reference["yProj"].span()) <= kTolerance);

  const std::span<const float> scores = reference["att"].span();
  const std::size_t key_len = reference["att"].dim(3);
  REQUIRE(scores.size() == result.weights.size());
  for (std::size_t i = 0; i < scores.size(); ++i) {
    INFO("score " << i);
    if (std::isinf(scores[i])) {
      CHECK(result.weights[i] == 0);
    } else {
      const float score = std::log(result.weights[i]) + result.logsumexp[i / key_len];
      CHECK(std::abs(score - scores[i]) <= kTolerance);
    }
  }
}

TEST_CASE("each layer of gpt-nano-sort gives the reference's output") {
  const TrainedModel model = load();
  const InstructionSetScope isa(any_instruction_set());
  const Case& reference = model.activations;
  std::vector<float> x = reference["x"].data;
  for (const std::string layer : {"0", "1", "2"}) {
    INFO("layer " << layer << " on " << instruction_set());
    model.transform(layer, x);
    CHECK(largest_difference(x, reference["block" + layer].span()) <= kTolerance);
  }
  CHECK(largest_difference(model.logits(x), reference["lm_head"].span()) <= kTolerance);
}

TEST_CASE("gpt-nano-sort sorts letters") {
  const TrainedModel model = load();
  const InstructionSetScope isa(any_instruction_set());
  for (const std::vector<std::size_t>& unsorted : std::vector<std::vector<std::size_t>>{
           {0, 0, 2, 1, 0, 1}, {0, 1, 2, 2, 2, 0}, {2, 1, 2, 1, 2, 1}, {2, 2, 1, 1, 0, 0}}) {
    // The model reads the letters and what it has written so far, and writes the next one.
    std::vector<std::size_t> letters = unsorted;
    while (letters.size() < 2 * kSorted) {
      const std::size_t last = letters.size() - 1;
      std::vector<std::size_t> padded = letters;
      padded.resize(kLength);
      std::vector<float> x = model.embed(padded);
      for (const std::string layer : {"0", "1", "2"}) model.transform(layer, x);
      const std::vector<float> logits = model.logits(x);
      const auto next = logits.begin() + static_cast<std::ptrdiff_t>(last * kLetters);
      letters.push_back(static_cast<std::size_t>(std::max_element(next, next + kLetters) - next));
    }
    std::vector<std::size_t> sorted = unsorted;
    std::ranges::sort(sorted);
    CHECK(std::vector(letters.begin() + kSorted, letters.end()) == sorted);
  }
}

}  // namespace
}  // namespace heed::golden
