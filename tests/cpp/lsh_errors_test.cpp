// What LSH attention and its hash refuse, and how they say so.
#include <catch2/catch_test_macros.hpp>

#include "support/lsh_case.hpp"

namespace heed::tests {
namespace {

TEST_CASE("LSH parameters out of range are refused by name") {
  reference::Random random(191);
  AttentionCase c({1, 2, 2, 10, 10, 4, 3}, random);
  const auto refused = [&c](const LshOptions& lsh) {
    LshAttention attention;
    Outcome outcome = blank(c.inputs());
    const Status status = attention.prepare(c.inputs(), c.options, lsh, views(outcome, c.inputs()));
    CHECK((status.ok() || status.code == ErrorCode::kInvalidValue));
    return status.message();
  };
  CHECK(refused({}) == "ok");
  CHECK(refused({.rounds = 0}) == "rounds: received 0, expected 1 to 1024");
  CHECK(refused({.rounds = 1025}) == "rounds: received 1025, expected 1 to 1024");
  CHECK(refused({.rounds = SIZE_MAX}).starts_with("rounds: received "));
  CHECK(refused({.buckets = 7}).starts_with("buckets: received 7, expected an even number"));
  CHECK(refused({.buckets = SIZE_MAX - 1}).starts_with("buckets: received "));
  CHECK(refused({.buckets = (std::size_t{1} << 30) + 4}).starts_with("buckets: received "));
  CHECK(refused({.buckets = 4, .chunk = SIZE_MAX}) == "ok");
  CHECK(refused({.chunk = SIZE_MAX}) == "ok");
}

TEST_CASE("LSH attention refuses what exact attention refuses") {
  reference::Random random(192);
  for (const bool shared : {false, true}) {
    AttentionCase c({1, 2, 2, 10, 10, 4, 3}, random);
    const LshOptions lsh{.shared_query_key = shared};
    const auto refused = [&](auto breaks) {
      AttentionInputs inputs = c.inputs();
      AttentionOptions options;
      Outcome outcome = blank(inputs);
      AttentionOutputs outputs = views(outcome, inputs);
      breaks(inputs, options, outputs);
      LshAttention attention;
      return attention.prepare(inputs, options, lsh, outputs).message();
    };
    CAPTURE(shared);
    CHECK(refused([](auto&, auto&, auto&) {}) == "ok");
    CHECK(refused([](auto& in, auto&, auto&) { in.query.columns = 0; }) ==
          "query.columns: received 0, expected a head_dim of at least 1");
    CHECK(refused([](auto& in, auto&, auto&) { in.query.data = in.query.data.first(79); }) ==
          "query: received 79 elements, expected at least 80 for shape [1, 2, 10, 4]");
    CHECK(refused([](auto& in, auto&, auto&) { in.value.rows = 9; }) ==
          "value.rows: received 9, expected 10 (key_len)");
    CHECK(refused([](auto&, auto& o, auto&) { o.soft_cap = -2; }) ==
          "soft_cap: received -2, expected 0 (off) or a positive number");
    CHECK(refused([](auto&, auto&, auto& out) { out.logsumexp = out.logsumexp.first(3); }) ==
          "logsumexp: received 3, expected 20 (batch * heads * query_len)");
    // The key counts only where it is used.
    const std::string key_message = refused([](auto& in, auto&, auto&) { in.key = {}; });
    CHECK((key_message == "ok") == shared);
    c.query[1 * 40 + 7 * 4 + 2] = kInfinity;
    CHECK(refused([](auto&, auto&, auto&) {}) ==
          "query: received inf at [0, 1, 7, 2], expected finite numbers");
  }
}

TEST_CASE("an LSH object stays as it was after a refused prepare") {
  reference::Random random(193);
  AttentionCase c({1, 1, 1, 30, 30, 4, 3}, random);
  const LshRun expected(c, {.buckets = 4});
  Outcome outcome = blank(c.inputs());
  LshAttention attention;
  CHECK(attention.advance(1).message() ==
        "attention: received not prepared, expected a call of prepare()");
  CHECK(attention.rounds() == 0);
  CHECK(attention.buckets() == 0);
  CHECK(attention.chunk() == 0);
  CHECK(attention.workspace_bytes() == 0);
  CHECK(attention.progress() == 0.0);
  require_ok(attention.prepare(c.inputs(), {}, {.buckets = 4}, views(outcome, c.inputs())));
  CHECK_FALSE(attention.prepare(c.inputs(), {}, {.buckets = 5}, views(outcome, c.inputs())).ok());
  CHECK(attention.buckets() == 4);
  LshAttention moved = std::move(attention);
  require_ok(moved.advance(1e18));
  CHECK(outcome == expected.outcome);
  CHECK(moved.workspace_bytes() > 0);
}

TEST_CASE("read-outs of an unfinished LSH attention are refused") {
  reference::Random random(194);
  AttentionCase c({1, 1, 1, 30, 30, 4, 3}, random);
  Outcome outcome = blank(c.inputs());
  LshAttention attention;
  require_ok(attention.prepare(c.inputs(), {}, {}, views(outcome, c.inputs())));
  Attention exact;
  std::vector<std::uint32_t> keys, rounds;
  std::vector<float> row(30);
  LshQuality quality;
  for (const Status& status :
       {attention.candidates(0, 0, 0, keys, rounds), attention.weights({}, {}),
        attention.weight_row(0, 0, 0, row), attention.weight_difference(exact, {}, {}),
        attention.quality(exact, 0, 0, quality)}) {
    CHECK(status.code == ErrorCode::kInvalidValue);
    CHECK(status.field == "attention");
    CHECK(status.received == "not done");
  }
  CHECK(attention.cost().exact_pairs == 0);
}

TEST_CASE("read-outs refuse places outside the problem and another problem's attention") {
  reference::Random random(195);
  AttentionCase c({1, 2, 2, 30, 30, 4, 3}, random), other({1, 2, 2, 31, 30, 4, 3}, random);
  const LshRun run(c, {}), longer(other, {});
  ExactRun exact(run.attention), wrong(longer.attention);
  std::vector<std::uint32_t> keys, rounds;
  CHECK(run.attention.candidates(1, 0, 0, keys, rounds).message() ==
        "tile.batch: received 1, expected below 1");
  CHECK(run.attention.candidates(0, 2, 0, keys, rounds).message() ==
        "tile.head: received 2, expected below 2");
  CHECK(run.attention.candidates(0, 0, 30, keys, rounds).field == "tile.rows");
  std::vector<float> cells(900);
  WeightTile tile{.batch = 0, .head = 0, .rows = {0, 30}, .columns = {0, 31}};
  CHECK(run.attention.weights(tile, {.peak = cells, .mean = {}}).field == "tile.columns");
  tile.columns.end = 30;
  require_ok(run.attention.weights(tile, {.peak = cells, .mean = {}}));
  require_ok(run.attention.weight_difference(exact.attention, tile, {.peak = cells, .mean = {}}));
  CHECK(run.attention.weight_difference(wrong.attention, tile, {.peak = cells, .mean = {}})
            .message() ==
        "exact: received another problem, expected attention over the same inputs");
  LshQuality quality;
  CHECK(run.attention.quality(wrong.attention, 0, 0, quality).field == "exact");

  Outcome outcome = blank(c.inputs());
  AttentionOutputs outputs = views(outcome, c.inputs());
  outputs.logsumexp = {};
  LshAttention without;
  require_ok(without.prepare(c.inputs(), {}, {}, outputs));
  require_ok(without.advance(1e18));
  CHECK(without.weights(tile, {.peak = cells, .mean = {}}).field == "logsumexp");
  require_ok(without.candidates(0, 0, 0, keys, rounds));
  Attention exact_without;
  require_ok(exact_without.prepare(c.inputs(), {}, outputs));
  require_ok(exact_without.advance(1e18));
  CHECK(run.attention.quality(exact_without, 0, 0, quality).field == "logsumexp");
}

TEST_CASE("lsh_hash refuses what does not fit") {
  const std::vector<float> x(12, 1.0f);
  std::vector<std::uint32_t> out(3);
  CHECK(lsh_hash(x, 3, 4, 8, 0, 0, out).ok());
  CHECK(lsh_hash(x, 3, 4, 9, 0, 0, out).field == "buckets");
  CHECK(lsh_hash(x, 3, 4, 0, 0, 0, out).field == "buckets");
  CHECK(lsh_hash(x, 3, 0, 8, 0, 0, out).message() == "dim: received 0, expected at least 1");
  CHECK(lsh_hash(x, 3, 5, 8, 0, 0, out).message() ==
        "x: received 12, expected rows * dim elements");
  CHECK(lsh_hash(x, SIZE_MAX, 4, 8, 0, 0, out).field == "x");
  CHECK(lsh_hash(x, 4, 3, 8, 0, 0, out).message() == "out: received 3, expected 4 (rows)");
  CHECK(lsh_hash(std::span(x).first(0), 0, 4, 8, 0, 0, std::span(out).first(0)).ok());
  std::vector<float> broken = x;
  broken[7] = kInfinity;
  CHECK(lsh_hash(broken, 3, 4, 8, 0, 0, out).message() ==
        "x: received inf at [0, 0, 1, 3], expected finite numbers");
}

TEST_CASE("empty LSH problems succeed") {
  reference::Random random(196);
  for (const bool true_buckets : {false, true}) {
    for (const Sizes& s :
         {Sizes{2, 2, 2, 0, 9, 8, 5}, Sizes{0, 2, 2, 9, 9, 8, 5}, Sizes{2, 0, 0, 9, 9, 8, 5},
          Sizes{2, 2, 2, 9, 0, 8, 5}, Sizes{1, 1, 1, 0, 0, 8, 5}}) {
      INFO(describe(s));
      AttentionCase c(s, random);
      const LshRun run(c, {.true_buckets = true_buckets});
      CHECK(run.attention.done());
      CHECK(run.attention.progress() == 1.0);
      CHECK(std::all_of(run.outcome.context.begin(), run.outcome.context.end(),
                        [](float x) { return x == 0; }));
      CHECK(run.attention.cost().candidate_pairs == 0);
      if (c.rows() == 0) continue;  // an empty span is no logsumexp
      ExactRun exact(run.attention);
      LshQuality quality;
      require_ok(run.attention.quality(exact.attention, 0, 0, quality));
      CHECK(quality.queries == 0);
    }
  }
}

}  // namespace
}  // namespace heed::tests
