// Exact attention against the oracle: random shapes and options, extreme inputs, empty problems.
#include <catch2/catch_test_macros.hpp>

#include "support/attention_case.hpp"

namespace heed::tests {
namespace {

Sizes random_sizes(reference::Random& random) {
  Sizes s;
  s.batch = random.size(1, 2);
  s.kv_heads = random.size(1, 3);
  s.heads = s.kv_heads * random.size(1, 3);  // multi-head, grouped-query, multi-query
  s.query_len = random.chance(0.25) ? random.size(1, 4) : random.size(1, 110);
  s.key_len = random.chance(0.2) ? random.size(1, 8) : random.size(1, 300);
  s.head_dim = random.chance(0.3) ? random.size(1, 130) : random.size(1, 40);
  s.value_dim = random.chance(0.3) ? random.size(1, 130) : random.size(1, 40);
  return s;
}

void random_options(AttentionCase& c, reference::Random& random) {
  AttentionOptions& o = c.options;
  const auto length = static_cast<std::int64_t>(c.sizes.key_len);
  if (random.chance(0.4)) {
    const float scales[] = {0.0f, -0.4f, 1.0f, 0.01f};
    o.scale = scales[random.size(0, 3)];
  }
  o.causal = random.chance(0.4);
  if (random.chance(0.3)) o.causal_offset = random.integer(-length - 5, length + 5);
  if (random.chance(0.3)) o.window_left = random.chance(0.1) ? SIZE_MAX : random.size(0, 60);
  if (random.chance(0.2)) o.window_right = random.chance(0.1) ? SIZE_MAX : random.size(0, 60);
  if (random.chance(0.25)) o.soft_cap = static_cast<float>(random.uniform(0.5, 50));
  o.exclude_self = random.chance(0.25);
  if (random.chance(0.3)) c.hide_keys(random, random.chance(0.1) ? 1.0 : 0.3);
  if (random.chance(0.3)) {
    c.hide_pairs(random, random.chance(0.1) ? 1.0 : 0.4, random.chance(0.5), random.chance(0.5),
                 random.chance(0.5));
  }
  if (random.chance(0.3)) {
    c.add_bias(random, 0.2, random.chance(0.5), random.chance(0.5), random.chance(0.5));
  }
}

TEST_CASE("exact attention equals the oracle for random shapes and options") {
  const char* const isa = any_instruction_set();
  const InstructionSetScope scope(isa);
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    reference::Random random(seed);
    AttentionCase c(random_sizes(random), random);
    random_options(c, random);
    INFO("instruction set " << isa << ", seed " << seed << ", " << describe(c.sizes));
    require_oracle(c);
  }
}

TEST_CASE("the path for few queries equals the oracle at every number of queries around it") {
  const char* const isa = any_instruction_set();
  const InstructionSetScope scope(isa);
  for (std::size_t query_len = 1; query_len <= 6; ++query_len) {
    for (const std::size_t key_len : {1, 127, 128, 129, 400}) {
      reference::Random random(query_len * 1000 + key_len);
      AttentionCase c({2, 4, 2, query_len, key_len, 33, 17}, random);
      c.options.causal = true;
      CAPTURE(isa, query_len, key_len);
      require_oracle(c);
      c.hide_pairs(random, 0.5, true, true, true);
      c.options.exclude_self = true;
      require_oracle(c);
    }
  }
}

/// Copies dense rows into memory of other strides, with NaN between them.
std::vector<float> spread(const Tensor<const float>& from, Tensor<const float>& to) {
  const std::size_t last = (to.batch - 1) * to.batch_stride + (to.heads - 1) * to.head_stride +
                           (to.rows - 1) * to.row_stride + to.columns;
  std::vector<float> storage(last, NAN);
  for (std::size_t b = 0; b < to.batch; ++b) {
    for (std::size_t h = 0; h < to.heads; ++h) {
      for (std::size_t r = 0; r < to.rows; ++r) {
        std::copy_n(from.row(b, h, r), to.columns,
                    storage.data() + b * to.batch_stride + h * to.head_stride + r * to.row_stride);
      }
    }
  }
  return storage;
}

TEST_CASE("strides do not change a bit of the result") {
  const char* const isa = any_instruction_set();
  const InstructionSetScope scope(isa);
  reference::Random random(71);
  AttentionCase c({2, 4, 2, 37, 53, 19, 21}, random);
  c.options.causal = true;
  const Outcome expected = run(c.inputs(), c.options);
  AttentionInputs inputs = c.inputs();
  const AttentionInputs packed = inputs;
  std::vector<float> storage[3];
  Tensor<const float>* views_[] = {&inputs.query, &inputs.key, &inputs.value};
  const Tensor<const float>* dense_[] = {&packed.query, &packed.key, &packed.value};
  for (const bool rows_first : {false, true}) {
    CAPTURE(isa, rows_first);
    for (std::size_t n = 0; n < 3; ++n) {
      Tensor<const float>& t = *views_[n];
      const std::size_t padded = t.columns + 3;
      t.row_stride = rows_first ? t.heads * padded : padded;
      t.head_stride = rows_first ? padded : t.rows * padded + 1;
      t.batch_stride = t.heads * t.rows * padded + 5;
      storage[n] = spread(*dense_[n], t);
      t.data = storage[n];
    }
    Outcome outcome = blank(inputs);
    std::vector<float> context(outcome.context.size());
    const auto& q = inputs.query;
    const Tensor<float> out =
        dense_rows_first(std::span<float>(context), q.batch, q.heads, q.rows, inputs.value.columns);
    require_ok(attention(inputs, c.options, {out, outcome.logsumexp}));
    for (std::size_t b = 0, at = 0; b < q.batch; ++b) {
      for (std::size_t h = 0; h < q.heads; ++h) {
        for (std::size_t i = 0; i < q.rows; ++i) {
          for (std::size_t t = 0; t < out.columns; ++t) outcome.context[at++] = out.row(b, h, i)[t];
        }
      }
    }
    REQUIRE(outcome == expected);
  }
}

TEST_CASE("a stride of 0 repeats keys and values over the batch and queries over rows") {
  reference::Random random(72);
  AttentionCase c({3, 2, 2, 9, 31, 12, 7}, random);
  AttentionInputs inputs = c.inputs();
  inputs.key.batch_stride = inputs.value.batch_stride = 0;
  inputs.query.row_stride = 0;
  require_close(run(inputs, c.options), reference::attention(inputs, c.options), 12,
                largest_magnitude(c.value));
  for (std::size_t b = 0; b < 3; ++b) {
    for (std::size_t n = 0; n < 2 * 31 * 12; ++n) c.key[b * 2 * 31 * 12 + n] = c.key[n];
    for (std::size_t n = 0; n < 2 * 31 * 7; ++n) c.value[b * 2 * 31 * 7 + n] = c.value[n];
  }
  AttentionInputs repeated = c.inputs();
  repeated.query.row_stride = 0;
  REQUIRE(run(inputs, c.options) == run(repeated, c.options));
}

TEST_CASE("extreme logits follow the oracle") {
  const char* const isa = any_instruction_set();
  const InstructionSetScope scope(isa);
  for (const double extreme : {80.0, 1e4}) {
    for (const std::size_t query_len : {std::size_t{2}, std::size_t{20}}) {
      reference::Random random(73);
      AttentionCase c({1, 2, 2, query_len, 150, 4, 8}, random);
      // Rows of one unit vector give logits of exactly +-extreme, up to ties among many keys.
      c.options.scale = static_cast<float>(extreme);
      for (auto* x : {&c.query, &c.key}) {
        for (std::size_t n = 0; n < x->size(); ++n) {
          (*x)[n] = n % 4 == (n / 4) % 2 ? (random.chance(0.5) ? 1.0f : -1.0f) : 0.0f;
        }
      }
      CAPTURE(isa, extreme, query_len);
      require_oracle(c);
      reference::Random other(74);
      AttentionCase normal({1, 2, 2, query_len, 150, 4, 8}, other);
      normal.options.scale = static_cast<float>(extreme / 4);
      require_oracle(normal);
    }
  }
}

TEST_CASE("inputs near the largest float give finite results that follow the oracle") {
  const char* const isa = any_instruction_set();
  const InstructionSetScope scope(isa);
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    reference::Random random(seed);
    AttentionCase c({1, 2, 1, random.chance(0.5) ? std::size_t{3} : std::size_t{11}, 40, 6, 5},
                    random);
    c.options.causal = random.chance(0.5);
    c.options.exclude_self = random.chance(0.5);
    const bool huge_query = seed % 2 == 0, huge_key = seed % 3 == 0, huge_value = seed % 4 < 2;
    const auto enlarge = [&random](std::vector<float>& x) {
      for (float& v : x) v = static_cast<float>(random.uniform(-1, 1)) * kMost;
    };
    if (huge_query) enlarge(c.query);
    if (huge_key) enlarge(c.key);
    if (huge_value) enlarge(c.value);
    CAPTURE(isa, seed, huge_query, huge_key, huge_value);
    const Outcome got = run(c.inputs(), c.options);
    for (const float x : got.context) {
      if (!std::isfinite(x)) FAIL("context " << x);
    }
    for (const float x : got.logsumexp) {
      if (std::isnan(x) || x == kInfinity) FAIL("logsumexp " << x);
    }
    auto expected = reference::attention(c.inputs(), c.options);
    for (double& lse : expected.logsumexp) {
      if (std::isfinite(lse)) {  // documented to saturate at the largest float
        lse = std::clamp(lse, -static_cast<double>(kMost), static_cast<double>(kMost));
      }
    }
    // Huge logits make the softmax a maximum; the bound on float32 logits would say nothing.
    for (double& magnitude : expected.logit_magnitude) magnitude = std::min(magnitude, 1e3);
    require_close(got, expected, c.sizes.head_dim, largest_magnitude(c.value));
  }
}

TEST_CASE("a scale near the largest float with tiny inputs follows the oracle") {
  for (const std::size_t query_len : {std::size_t{2}, std::size_t{20}}) {
    reference::Random random(75);
    AttentionCase c({1, 1, 1, query_len, 30, 5, 4}, random, 1e-19);
    for (const float scale : {kMost, -kMost, 0x1p-149f}) {
      c.options.scale = scale;
      CAPTURE(query_len, scale);
      require_oracle(c);
    }
  }
}

TEST_CASE("a soft cap of any size follows the oracle") {
  for (const std::size_t query_len : {std::size_t{2}, std::size_t{20}}) {
    reference::Random random(76);
    AttentionCase c({1, 1, 1, query_len, 30, 5, 4}, random);
    for (const float cap : {kMost, 1e30f, 1e-3f, 0x1p-149f}) {
      c.options.soft_cap = cap;
      CAPTURE(query_len, cap);
      require_oracle(c);
    }
  }
}

TEST_CASE("a bias near the largest float gives finite results") {
  for (const std::size_t query_len : {std::size_t{2}, std::size_t{20}}) {
    reference::Random random(77);
    AttentionCase c({1, 1, 1, query_len, 30, 5, 4}, random);
    c.add_bias(random, 0, true, true, true);
    // -FLT_MAX is what many programs use for "hidden"; a row of nothing else is uniform in effect.
    for (std::size_t n = 0; n < c.bias_data.size(); ++n) {
      if (n % 3 == 0 || n / 30 == 1) c.bias_data[n] = -kMost;
    }
    CAPTURE(query_len);
    const Outcome got = run(c.inputs(), c.options);
    const auto expected = reference::attention(c.inputs(), c.options);
    for (std::size_t row = 0; row < query_len; ++row) {
      for (std::size_t t = 0; t < 4; ++t) {
        double mean = 0;
        for (std::size_t j = 0; j < 30; ++j) mean += c.value[j * 4 + t] / 30.0;
        const double want = row == 1 ? mean : expected.context[row * 4 + t];
        CAPTURE(row, t);
        REQUIRE(std::abs(got.context[row * 4 + t] - want) < 1e-5);
      }
      REQUIRE(std::isfinite(got.logsumexp[row]));
    }
  }
}

TEST_CASE("subnormal inputs are inputs like others") {
  const char* const isa = any_instruction_set();
  const InstructionSetScope scope(isa);
  for (const std::size_t query_len : {std::size_t{2}, std::size_t{20}}) {
    reference::Random random(78);
    AttentionCase c({1, 1, 1, query_len, 30, 5, 4}, random);
    for (float& x : c.query) x *= 0x1p-130f;
    for (float& x : c.key) x *= 0x1p+110f;
    for (float& x : c.value) x *= 0x1p-130f;
    c.options.scale = 0x1p+20f;
    CAPTURE(isa, query_len);
    require_oracle(c);
  }
}

TEST_CASE("a query that sees nothing has context 0 and logsumexp minus infinity") {
  const char* const isa = any_instruction_set();
  const InstructionSetScope scope(isa);
  for (const std::size_t query_len : {std::size_t{3}, std::size_t{60}}) {
    for (const int way : {0, 1, 2, 3, 4}) {
      for (const double spread_ : {1.0, 1e36}) {
        reference::Random random(79);
        AttentionCase c({1, 2, 2, query_len, 20, 8, 9}, random, spread_);
        if (way == 0) c.hide_keys(random, 1);
        if (way == 1) c.hide_pairs(random, 1, false, false, false);
        if (way == 2) c.add_bias(random, 1, false, false, false);
        if (way == 3) c.options.causal = true, c.options.causal_offset = -1000;
        if (way == 4) c.options.window_left = 0, c.options.causal_offset = 100;
        c.options.exclude_self = true;
        CAPTURE(isa, query_len, way, spread_);
        const Outcome got = run(c.inputs(), c.options);
        const auto zero = [](float x) { return x == 0; };
        const auto hidden = [](float x) { return x == -kInfinity; };
        REQUIRE(std::all_of(got.context.begin(), got.context.end(), zero));
        REQUIRE(std::all_of(got.logsumexp.begin(), got.logsumexp.end(), hidden));
      }
    }
  }
}

TEST_CASE("empty problems succeed") {
  reference::Random random(80);
  AttentionCase no_keys({2, 2, 2, 9, 0, 8, 5}, random);
  const Outcome got = run(no_keys.inputs(), {});
  CHECK(std::all_of(got.context.begin(), got.context.end(), [](float x) { return x == 0; }));
  CHECK(std::all_of(got.logsumexp.begin(), got.logsumexp.end(),
                    [](float x) { return x == -kInfinity; }));
  for (const Sizes& s :
       {Sizes{2, 2, 2, 0, 9, 8, 5}, Sizes{0, 2, 2, 9, 9, 8, 5}, Sizes{2, 0, 0, 9, 9, 8, 5}}) {
    INFO(describe(s));
    AttentionCase c(s, random);
    Outcome outcome = blank(c.inputs());
    Attention attention;
    require_ok(attention.prepare(c.inputs(), {}, views(outcome, c.inputs())));
    CHECK(attention.done());
    CHECK(attention.progress() == 1.0);
    require_ok(attention.advance(100));
  }
}

}  // namespace
}  // namespace heed::tests
