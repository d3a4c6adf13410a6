// heed against attention computed by other programs: onnxruntime-web and PyTorch. The data and
// where it comes from: tests/golden/README.md.
#include <catch2/catch_test_macros.hpp>

#include "heed/multi_head.hpp"
#include "support/golden_attention.hpp"

namespace heed::golden {
namespace {

/// Outputs of the layers in torch-multi-head.txt are of order 1, after three sums of 4 to 12
/// products.
constexpr float kOutputTolerance = 2e-6f;

/// y = x W^T + b by one of a case's projections.
std::vector<float> project(const Case& c, const std::string& role, const Array& x,
                           std::span<const float> data) {
  const Array& weight = c[role + "_weight"];
  const std::size_t in = weight.dim(1), out = weight.dim(0), rows = data.size() / in;
  REQUIRE(x.dims.back() == in);
  std::vector<float> y(rows * out);
  const Linear layer = {
      weight.span(), c.has(role + "_bias") ? c[role + "_bias"].span() : std::span<const float>{}};
  require_ok(linear(layer, rows, in, out, data, y));
  return y;
}

/// Loss = sum(upstream * context) in double, straight from the definition (Vaswani et al. 2017,
/// eq. 1): what the golden gradients are gradients of.
class Loss {
 public:
  explicit Loss(const Case& c) : case_(c) {
    for (const char* name : {"query", "key", "value"}) {
      inputs_[name].assign(c[name].data.begin(), c[name].data.end());
    }
  }

  /// d loss / d input by central differences, the error of which is about step^2.
  std::vector<float> gradient(const std::string& input) {
    constexpr double kStep = 1e-4;
    std::vector<float> result;
    for (double& x : inputs_[input]) {
      const double centre = x;
      x = centre + kStep;
      const double above = value();
      x = centre - kStep;
      const double below = value();
      x = centre;
      result.push_back(static_cast<float>((above - below) / (2 * kStep)));
    }
    return result;
  }

 private:
  double value() const {
    const Array &query = case_["query"], &key = case_["key"], &upstream = case_["upstream"];
    const std::size_t heads = query.dim(0) * query.dim(1), query_len = query.dim(2),
                      head_dim = query.dim(3), key_len = key.dim(2), value_dim = upstream.dim(3);
    const double scale =
        case_.has("scale") ? case_["scale"].scalar() : 1 / std::sqrt(static_cast<double>(head_dim));
    double loss = 0;
    for (std::size_t row = 0; row < heads * query_len; ++row) {
      const std::size_t first_key = row / query_len * key_len;
      const std::size_t mask_row = row % query_len * key_len;
      double normaliser = 0, weighted = 0;
      for (std::size_t j = 0; j < key_len; ++j) {
        if (case_.has("mask") && case_["mask"].data[mask_row + j] == 0) continue;
        double dot = 0, share = 0;
        for (std::size_t t = 0; t < head_dim; ++t) {
          dot += inputs_.at("query")[row * head_dim + t] *
                 inputs_.at("key")[(first_key + j) * head_dim + t];
        }
        for (std::size_t t = 0; t < value_dim; ++t) {
          share += inputs_.at("value")[(first_key + j) * value_dim + t] *
                   upstream.data[row * value_dim + t];
        }
        const double bias = case_.has("bias") ? case_["bias"].data[mask_row + j] : 0;
        const double weight = std::exp(scale * dot + bias);
        normaliser += weight;
        weighted += weight * share;
      }
      loss += weighted / normaliser;
    }
    return loss;
  }

  const Case& case_;
  std::map<std::string, std::vector<double>> inputs_;
};

TEST_CASE("attention agrees with the ONNX operator Attention of onnxruntime-web") {
  const InstructionSetScope isa(any_instruction_set());
  for (const Case& c : read("onnx-attention.txt")) {
    INFO("case " << c.name << " on " << instruction_set());
    const AttentionInputs inputs = {view(c["query"]), view(c["key"]), view(c["value"])};
    const StatedOptions stated(c);
    const Attended result = attend(inputs, stated.options);
    // Twice: the golden values are float32 arithmetic too.
    const float tolerance = 2 * weight_tolerance(inputs, stated.options);
    CHECK(largest_difference(result.weights, c["weights"].span()) <= tolerance);
    CHECK(largest_difference(result.context, c["context"].span()) <=
          tolerance * largest_magnitude(inputs.value.data));
  }
}

TEST_CASE("projections and attention agree with PyTorch's nn.MultiheadAttention") {
  const InstructionSetScope isa(any_instruction_set());
  for (const Case& c : read("torch-multi-head.txt")) {
    INFO("case " << c.name << " on " << instruction_set());
    const auto heads = static_cast<std::size_t>(c["heads"].scalar());
    const Array& query_source = c["query_source"];
    const Array& key_source = c.has("key_source") ? c["key_source"] : query_source;
    const Array& value_source = c.has("value_source") ? c["value_source"] : key_source;
    const std::size_t batch = query_source.dim(0), query_len = query_source.dim(1),
                      key_len = key_source.dim(1), model_dim = query_source.dim(2),
                      head_dim = model_dim / heads;
    const std::vector<float> q = project(c, "query", query_source, query_source.span()),
                             k = project(c, "key", key_source, key_source.span()),
                             v = project(c, "value", value_source, value_source.span());
    const AttentionInputs inputs = {
        dense_rows_first<const float>(q, batch, heads, query_len, head_dim),
        dense_rows_first<const float>(k, batch, heads, key_len, head_dim),
        dense_rows_first<const float>(v, batch, heads, key_len, head_dim)};
    const StatedOptions stated(c);
    const Attended result = attend(inputs, stated.options, /*rows_first=*/true);
    const std::vector<float> output = project(c, "output", query_source, result.context);

    // q and k carry the rounding of their projection, of model_dim terms each: thrice.
    const float tolerance = 3 * weight_tolerance(inputs, stated.options);
    CHECK(largest_difference(result.weights, c["weights"].span()) <= tolerance);
    CHECK(largest_difference(output, c["output"].span()) <= kOutputTolerance);
  }
}

TEST_CASE("multi-head attention agrees with PyTorch's nn.MultiheadAttention") {
  const InstructionSetScope isa(any_instruction_set());
  for (const Case& c : read("torch-multi-head.txt")) {
    // heed's layer, as in the paper, has one source of keys and values.
    if (c.has("value_source")) continue;
    INFO("case " << c.name << " on " << instruction_set());
    const Array& query_source = c["query_source"];
    const bool self = !c.has("key_source");
    const Array& memory = self ? query_source : c["key_source"];
    MultiHeadShape shape;
    shape.batch = query_source.dim(0);
    shape.query_len = query_source.dim(1);
    shape.key_len = memory.dim(1);
    shape.model_dim = query_source.dim(2);
    shape.memory_dim = memory.dim(2);
    shape.heads = static_cast<std::size_t>(c["heads"].scalar());
    shape.head_dim = shape.model_dim / shape.heads;
    const auto layer = [&](const std::string& role) -> Linear {
      if (!c.has(role + "_bias")) return {c[role + "_weight"].span(), {}};
      return {c[role + "_weight"].span(), c[role + "_bias"].span()};
    };
    const StatedOptions stated(c);
    std::vector<float> output(c["output"].data.size());
    require_ok(
        multi_head_attention(shape, {layer("query"), layer("key"), layer("value"), layer("output")},
                             {query_source.span(), self ? std::span<const float>{} : memory.span()},
                             stated.options, {.output = output, .context = {}, .logsumexp = {}}));
    CHECK(largest_difference(output, c["output"].span()) <= kOutputTolerance);
  }
}

TEST_CASE("contexts and gradients of PyTorch's autograd are those of the definition") {
  for (const Case& c : read("torch-gradients.txt")) {
    INFO("case " << c.name);
    const AttentionInputs inputs = {view(c["query"]), view(c["key"]), view(c["value"])};
    const StatedOptions stated(c);
    const Attended result = attend(inputs, stated.options);
    CHECK(largest_difference(result.context, c["context"].span()) <=
          weight_tolerance(inputs, stated.options) * largest_magnitude(inputs.value.data));
    Loss loss(c);
    for (const std::string name : {"query", "key", "value"}) {
      INFO("gradient of " << name);
      const Array& golden = c[name + "_gradient"];
      const std::vector<float> measured = loss.gradient(name);
      // Half a unit in the last place of the golden value, and the error of the differences.
      CHECK(largest_difference(measured, golden.span()) <=
            1e-7f * (1 + largest_magnitude(golden.span())));
    }
  }
}

}  // namespace
}  // namespace heed::golden
