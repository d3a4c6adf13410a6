// Attention over a growing cache against attention over the same keys and values at once.
#include "heed/key_value_cache.hpp"

#include <catch2/catch_test_macros.hpp>

#include "support/attention_case.hpp"

namespace heed::tests {
namespace {

/// The rows [first, first + count) of every head.
Tensor<const float> rows_of(Tensor<const float> x, std::size_t first, std::size_t count) {
  x.data = x.data.subspan(first * x.row_stride);
  x.rows = count;
  return x;
}

TEST_CASE("a cache filled piece by piece attends as the whole does") {
  const char* const isa = any_instruction_set();
  CAPTURE(isa);
  const InstructionSetScope scope(isa);
  reference::Random random(41);
  for (const std::size_t query_len : {std::size_t{1}, std::size_t{3}, std::size_t{40}}) {
    for (const double spread : {1.0, 1e37}) {
      CAPTURE(query_len, spread);
      AttentionCase c({2, 4, 2, query_len, 300, 24, 20}, random, spread);
      c.options.causal = true;
      KeyValueCache cache;
      require_ok(cache.create({.batch = 2, .kv_heads = 2, .head_dim = 24, .value_dim = 20}, 7));
      const AttentionInputs all = c.inputs();
      for (std::size_t at = 0, piece = 1; at < 300; at += piece, piece = piece * 2 + 1) {
        const std::size_t count = std::min(piece, 300 - at);
        require_ok(cache.append(rows_of(all.key, at, count), rows_of(all.value, at, count)));
        REQUIRE(cache.length() == at + count);
        REQUIRE(cache.capacity() >= cache.length());
      }
      Outcome cached = blank(all);
      require_ok(cache.attend(all.query, c.options, views(cached, all)));
      REQUIRE(cached == run(all, c.options));
    }
  }
}

TEST_CASE("a truncated cache has forgotten, and an empty one gives zeros") {
  reference::Random random(42);
  AttentionCase c({1, 2, 1, 2, 9, 5, 6}, random);
  const AttentionInputs all = c.inputs();
  KeyValueCache cache;
  require_ok(cache.create({.batch = 1, .kv_heads = 1, .head_dim = 5, .value_dim = 6}, 0));
  Outcome empty = blank(all);
  require_ok(cache.attend(all.query, {}, views(empty, all)));
  for (const float x : empty.context) REQUIRE(x == 0.0f);
  for (const float x : empty.logsumexp) REQUIRE(x == -kInfinity);

  require_ok(cache.append(all.key, all.value));
  require_ok(cache.truncate(4));
  Outcome cached = blank(all);
  require_ok(cache.attend(all.query, {}, views(cached, all)));
  const AttentionInputs four = {all.query, rows_of(all.key, 0, 4), rows_of(all.value, 0, 4)};
  REQUIRE(cached == run(four, {}));
}

TEST_CASE("what does not fit a cache is refused and leaves it as it was") {
  reference::Random random(43);
  AttentionCase c({1, 2, 1, 2, 9, 5, 6}, random);
  const AttentionInputs all = c.inputs();
  KeyValueCache cache;
  CHECK(cache.append(all.key, all.value).field == "cache");
  CHECK(cache.create({.head_dim = 0, .value_dim = 1}, 4).field == "head_dim");
  CHECK(cache.create({.head_dim = 1, .value_dim = 0}, 4).field == "value_dim");
  constexpr std::size_t kHuge = std::size_t{1} << (sizeof(std::size_t) * 8 - 2);
  CHECK(cache.create({.head_dim = 64, .value_dim = 64}, kHuge).code == ErrorCode::kOverflow);
  require_ok(cache.create({.batch = 1, .kv_heads = 1, .head_dim = 5, .value_dim = 6}, 9));
  require_ok(cache.append(all.key, all.value));
  const Outcome before = run(all, {});

  CHECK(cache.append(all.value, all.value).field == "key.columns");
  CHECK(cache.append(all.key, all.key).field == "value.columns");
  CHECK(cache.append(all.key, rows_of(all.value, 0, 4)).field == "value.rows");
  std::vector<float> broken(c.key.begin(), c.key.end());
  broken[12] = NAN;
  const auto nan = dense(std::span<const float>(broken), 1, 1, 9, 5);
  const Status s = cache.append(nan, all.value);
  CHECK(s.code == ErrorCode::kInvalidValue);
  CHECK(s.received == "nan at [0, 0, 2, 2]");
  CHECK(cache.truncate(10).field == "length");
  CHECK(cache.length() == 9);
  Outcome after = blank(all);
  require_ok(cache.attend(all.query, {}, views(after, all)));
  REQUIRE(after == before);
}

}  // namespace
}  // namespace heed::tests
