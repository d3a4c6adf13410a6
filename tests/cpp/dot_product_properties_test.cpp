// Properties of exact attention that hold whatever the numbers are.
#include <catch2/catch_test_macros.hpp>
#include <numeric>

#include "support/attention_case.hpp"

namespace heed::tests {
namespace {

TEST_CASE("a context lies in the convex hull of the values") {
  const char* const isa = any_instruction_set();
  const InstructionSetScope scope(isa);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    reference::Random random(seed);
    AttentionCase c({1, 1, 1, random.size(1, 40), random.size(1, 200), 16, 7}, random, 3);
    const Outcome got = run(c.inputs(), {});
    std::size_t outside = 0;
    for (std::size_t n = 0; n < got.context.size(); ++n) {
      const std::size_t t = n % 7;
      float low = kInfinity, high = -kInfinity, size = 0;
      for (std::size_t j = 0; j < c.sizes.key_len; ++j) {
        low = std::min(low, c.value[j * 7 + t]);
        high = std::max(high, c.value[j * 7 + t]);
        size = std::max(size, std::abs(c.value[j * 7 + t]));
      }
      // Weights sum to 1 up to a rounding a key, in the sum and in the product.
      const float slack = static_cast<float>(2 * c.sizes.key_len + 8) * 0x1p-24f * size;
      outside += !(got.context[n] >= low - slack && got.context[n] <= high + slack);
    }
    CAPTURE(isa, seed);
    REQUIRE(outside == 0);
  }
}

TEST_CASE("a bias constant along a row moves the logsumexp and not the context") {
  for (const std::size_t query_len : {std::size_t{2}, std::size_t{30}}) {
    reference::Random random(91);
    AttentionCase c({1, 2, 2, query_len, 70, 8, 6}, random);
    const Outcome plain = run(c.inputs(), c.options);
    c.add_bias(random, 0, true, true, true);
    for (std::size_t row = 0; row < c.rows(); ++row) {
      const auto shift = static_cast<float>(10 * random.normal());
      std::fill_n(c.bias_data.begin() + static_cast<std::ptrdiff_t>(row * 70), 70, shift);
    }
    const Outcome shifted = run(c.inputs(), c.options);
    const auto expected = reference::attention(c.inputs(), c.options);
    for (std::size_t row = 0; row < c.rows(); ++row) {
      const auto bound = reference::tolerance(expected, row, 8);
      const double shift = c.bias_data[row * 70];
      CAPTURE(query_len, row);
      REQUIRE(std::abs(shifted.logsumexp[row] - plain.logsumexp[row] - shift) < 2 * bound.logit);
      for (std::size_t t = 0; t < 6; ++t) {
        const double difference = shifted.context[row * 6 + t] - plain.context[row * 6 + t];
        REQUIRE(std::abs(difference) < 2 * bound.weight * expected.absolute_context[row * 6 + t]);
      }
    }
  }
}

TEST_CASE("with the causal rule the future does not change a bit of the past") {
  const char* const isa = any_instruction_set();
  const InstructionSetScope scope(isa);
  reference::Random random(92);
  constexpr std::size_t kLength = 150;
  AttentionCase c({1, 1, 1, kLength, kLength, 24, 10}, random);
  c.options.causal = true;
  const Outcome before = run(c.inputs(), c.options);
  for (const std::size_t prefix : {1, 7, 48, 49, 100, 149}) {
    AttentionCase changed({1, 1, 1, kLength, kLength, 24, 10}, random);
    changed.options = c.options;
    const auto keep = [prefix](const std::vector<float>& from, std::vector<float>& to) {
      std::copy_n(from.begin(), prefix * (from.size() / kLength), to.begin());
    };
    keep(c.query, changed.query);
    keep(c.key, changed.key);
    keep(c.value, changed.value);
    const Outcome after = run(changed.inputs(), changed.options);
    CAPTURE(isa, prefix);
    REQUIRE(std::equal(before.context.begin(),
                       before.context.begin() + static_cast<std::ptrdiff_t>(prefix * 10),
                       after.context.begin()));
    REQUIRE(std::equal(before.logsumexp.begin(),
                       before.logsumexp.begin() + static_cast<std::ptrdiff_t>(prefix),
                       after.logsumexp.begin()));
    REQUIRE(before.logsumexp.back() != after.logsumexp.back());
  }
}

TEST_CASE("what a mask hides does not change a bit") {
  const char* const isa = any_instruction_set();
  const InstructionSetScope scope(isa);
  for (const std::size_t query_len : {std::size_t{4}, std::size_t{50}}) {
    for (const int way : {0, 1, 2}) {
      reference::Random random(93);
      AttentionCase c({1, 2, 1, query_len, 140, 16, 9}, random);
      if (way == 0) c.hide_keys(random, 0.5);
      if (way == 1) c.hide_pairs(random, 0.5, false, false, false);
      if (way == 2) c.add_bias(random, 0.5, false, false, false);
      const Outcome before = run(c.inputs(), c.options);
      for (std::size_t j = 0; j < 140; ++j) {
        const bool hidden = way == 0   ? c.key_mask_data[j] == 0
                            : way == 1 ? c.mask_data[j] == 0
                                       : c.bias_data[j] == -kInfinity;
        if (!hidden) continue;
        for (std::size_t t = 0; t < 16; ++t)
          c.key[j * 16 + t] = static_cast<float>(random.normal());
        for (std::size_t t = 0; t < 9; ++t) c.value[j * 9 + t] = 1e6f;
      }
      CAPTURE(isa, query_len, way);
      REQUIRE(run(c.inputs(), c.options) == before);
    }
  }
}

TEST_CASE(
    "permuting keys with their values changes nothing but rounding; permuting queries permutes the "
    "result") {
  const char* const isa = any_instruction_set();
  const InstructionSetScope scope(isa);
  reference::Random random(94);
  const Sizes sizes{1, 1, 1, 60, 130, 12, 8};
  AttentionCase c(sizes, random), moved(sizes, random);
  const auto permutation = [&random](std::size_t size) {
    std::vector<std::size_t> order(size);
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t i = size; i > 1; --i) std::swap(order[i - 1], order[random.size(0, i - 1)]);
    return order;
  };
  const auto keys = permutation(130), queries = permutation(60);
  for (std::size_t j = 0; j < 130; ++j) {
    std::copy_n(&c.key[keys[j] * 12], 12, &moved.key[j * 12]);
    std::copy_n(&c.value[keys[j] * 8], 8, &moved.value[j * 8]);
  }
  moved.query = c.query;
  const auto expected = reference::attention(c.inputs(), {});
  CAPTURE(isa);
  require_close(run(moved.inputs(), {}), expected, 12, largest_magnitude(c.value));

  moved.key = c.key;
  moved.value = c.value;
  for (std::size_t i = 0; i < 60; ++i) {
    std::copy_n(&c.query[queries[i] * 12], 12, &moved.query[i * 12]);
  }
  const Outcome straight = run(c.inputs(), {}), permuted = run(moved.inputs(), {});
  for (std::size_t i = 0; i < 60; ++i) {
    REQUIRE(permuted.logsumexp[i] == straight.logsumexp[queries[i]]);
    for (std::size_t t = 0; t < 8; ++t) {
      REQUIRE(permuted.context[i * 8 + t] == straight.context[queries[i] * 8 + t]);
    }
  }
}

TEST_CASE("slices of any size give the bits of one go and progress grows to 1") {
  const char* const isa = any_instruction_set();
  const InstructionSetScope scope(isa);
  for (const double spread : {1.0, 1e37}) {
    reference::Random random(95);
    AttentionCase c({2, 4, 2, 200, 290, 8, 8}, random, spread);
    c.options.causal = true;
    const Outcome whole = run(c.inputs(), c.options);
    for (const double work : {0.0, 1.0, 500.0, 1e4, 1e9}) {
      Outcome outcome = blank(c.inputs());
      Attention attention;
      require_ok(attention.prepare(c.inputs(), c.options, views(outcome, c.inputs())));
      CHECK(attention.progress() == 0.0);
      CHECK_FALSE(attention.done());
      double last = 0;
      std::size_t calls = 0;
      CAPTURE(isa, spread, work);
      while (!attention.done()) {
        require_ok(attention.advance(work));
        REQUIRE(attention.progress() > last);
        last = attention.progress();
        ++calls;
      }
      CHECK(last == 1.0);
      if (work <= 1) CHECK(calls > 24);
      if (work == 1e9) CHECK(calls == 1);
      REQUIRE(outcome == whole);
      require_ok(attention.advance(work));
      REQUIRE(outcome == whole);
    }
  }
}

#if !defined(__EMSCRIPTEN__)
TEST_CASE("any number of threads gives the bits of one") {
  const char* const isa = any_instruction_set();
  const InstructionSetScope scope(isa);
  for (const Sizes& sizes : {Sizes{2, 4, 2, 1500, 1590, 32, 32}, Sizes{1, 1, 1, 700, 700, 160, 5},
                             Sizes{1, 3, 1, 2, 50, 8, 8}, Sizes{1, 2, 2, 0, 9, 8, 8}}) {
    for (const double spread : {1.0, 1e37}) {
      reference::Random random(97);
      AttentionCase c(sizes, random, spread);
      c.options.causal = true;
      c.options.exclude_self = true;
      const Outcome one = run(c.inputs(), c.options);
      for (const std::size_t threads : {1, 2, 3, 7, 64}) {
        CAPTURE(isa, sizes.query_len, spread, threads);
        Outcome several = blank(c.inputs());
        require_ok(attention(c.inputs(), c.options, views(several, c.inputs()), threads));
        REQUIRE(several == one);
      }
    }
  }
}

TEST_CASE("a number of threads that makes no sense is refused") {
  reference::Random random(98);
  AttentionCase c({1, 1, 1, 3, 3, 4, 4}, random);
  for (const std::size_t threads : {std::size_t{0}, std::size_t{1025}}) {
    Outcome outcome = blank(c.inputs());
    const Status s = attention(c.inputs(), c.options, views(outcome, c.inputs()), threads);
    CHECK(s.code == ErrorCode::kInvalidValue);
    CHECK(s.field == "threads");
  }
}
#endif

TEST_CASE("without room for a logsumexp the context is the same") {
  reference::Random random(96);
  for (const std::size_t query_len : {std::size_t{2}, std::size_t{30}}) {
    AttentionCase c({1, 2, 2, query_len, 50, 8, 6}, random);
    const Outcome with = run(c.inputs(), {});
    Outcome without = blank(c.inputs());
    AttentionOutputs out = views(without, c.inputs());
    out.logsumexp = {};
    require_ok(attention(c.inputs(), {}, out));
    REQUIRE(without.context == with.context);
  }
}

TEST_CASE("an attention object moves, and can be prepared again for other sizes") {
  reference::Random random(97);
  AttentionCase first({1, 1, 1, 10, 20, 4, 4}, random), second({2, 2, 1, 33, 63, 9, 5}, random);
  Outcome out_first = blank(first.inputs()), out_second = blank(second.inputs());
  Attention a;
  require_ok(a.prepare(first.inputs(), {}, views(out_first, first.inputs())));
  Attention b = std::move(a);
  require_ok(b.advance(1e9));
  CHECK(out_first == run(first.inputs(), {}));
  CHECK(b.workspace_bytes() > 0);
  require_ok(b.prepare(second.inputs(), {}, views(out_second, second.inputs())));
  CHECK_FALSE(b.done());
  require_ok(b.advance(1e9));
  CHECK(out_second == run(second.inputs(), {}));
}

TEST_CASE("workspace grows with the length and not with its square") {
  reference::Random random(98);
  const auto bytes = [&random](std::size_t length) {
    AttentionCase c({1, 1, 1, length, length, 16, 16}, random);
    Outcome outcome = blank(c.inputs());
    Attention attention;
    require_ok(attention.prepare(c.inputs(), {}, views(outcome, c.inputs())));
    return attention.workspace_bytes();
  };
  const std::size_t small = bytes(1024), large = bytes(4096);
  CHECK(large < 4 * small);
  CHECK(large < 4096 * 4096);
}

}  // namespace
}  // namespace heed::tests
