// The read-out of single cells against the oracle.
#include "heed/cell.hpp"

#include <catch2/catch_test_macros.hpp>

#include "support/lsh_case.hpp"

namespace heed::tests {
namespace {

/// The first rule, in the documented order, that hides the key.
std::string hiding_rule(const AttentionCase& c, const AttentionOptions& options, std::size_t h,
                        std::size_t i, std::size_t j) {
  const auto alone = [&](auto change) {
    AttentionOptions only;
    only.causal_offset = options.causal_offset;
    change(only);
    return !reference::shows(c.inputs(), only, 0, h, i, j);
  };
  if (alone([&](auto& o) { o.key_mask = options.key_mask; })) return "keyMask";
  if (alone([&](auto& o) { o.mask = options.mask; })) return "mask";
  if (alone([&](auto& o) { o.bias = options.bias; })) return "bias";
  if (alone([&](auto& o) { o.causal = options.causal; })) return "causal";
  if (alone([&](auto& o) { o.window_left = options.window_left; })) return "window";
  return "";
}

TEST_CASE("the arithmetic of a cell is the oracle's, step by step") {
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    reference::Random random(seed);
    const bool shared = random.chance(0.5);
    const std::size_t length = random.size(8, 40);
    AttentionCase c({1, 2, shared ? std::size_t{2} : std::size_t{1}, length, length, 6, 3}, random);
    c.options.causal = random.chance(0.5);
    if (random.chance(0.5)) c.hide_keys(random, 0.3);
    if (random.chance(0.5)) c.hide_pairs(random, 0.2, true, true, true);
    if (random.chance(0.5)) c.add_bias(random, 0.2, true, true, true);
    if (random.chance(0.5)) c.options.soft_cap = 2;
    if (random.chance(0.5)) c.options.window_left = 10;
    const LshRun run(
        c, {.rounds = 2, .buckets = 4, .chunk = 5, .seed = seed, .shared_query_key = shared});
    ExactRun exact(run.attention);
    const AttentionInputs inputs = run.attention.exact_inputs();
    const AttentionOptions options = run.attention.exact_options();
    const auto all = run.exact(), some = run.expected();
    for (int trial = 0; trial < 60; ++trial) {
      const std::size_t h = random.size(0, 1), i = random.size(0, length - 1),
                        j = trial % 6 == 0 ? i : random.size(0, length - 1);
      CAPTURE(seed, shared, h, i, j);
      CellArithmetic cell;
      require_ok(explain_cell(exact.attention, run.attention, 0, h, i, j, cell));
      const std::size_t kv_head = h / (2 / inputs.key.heads);
      double dot = 0;
      for (std::size_t t = 0; t < 6; ++t) {
        const double product =
            static_cast<double>(inputs.query.row(0, h, i)[t]) * inputs.key.row(0, kv_head, j)[t];
        REQUIRE(cell.products[t] == static_cast<float>(product));
        dot += product;
      }
      // The library scales by a float32 factor of 1 / sqrt(6).
      REQUIRE(std::abs(cell.dot - dot) < 1e-12);
      REQUIRE(std::abs(cell.scaled - dot / std::sqrt(6.0)) < 1e-6);
      const double capped = options.soft_cap > 0 ? 2 * std::tanh(cell.scaled / 2) : cell.scaled;
      REQUIRE(std::abs(cell.capped - capped) < 1e-12);

      const std::size_t at = all.row(0, h, i) * length + j;
      const std::string rule = hiding_rule(c, options, h, i, j);
      const bool self = options.exclude_self && i == j && all.logits[at] == -INFINITY;
      REQUIRE(to_string(cell.hidden_by) == (!rule.empty() ? rule : self ? "self" : "nothing"));
      if (all.logits[at] == -INFINITY) {
        REQUIRE(cell.logit == -INFINITY);
      } else {
        REQUIRE(std::abs(cell.logit - all.logits[at]) < 1e-5);
      }
      const auto check = [&](const CellShare& share, const reference::Attended& want) {
        const std::size_t row = want.row(0, h, i);
        REQUIRE(std::abs(share.weight - want.weights[at]) < 1e-5);
        if (want.logsumexp[row] == -INFINITY) {
          REQUIRE(share.logsumexp == -INFINITY);
        } else {
          REQUIRE(std::abs(share.logsumexp - want.logsumexp[row]) < 1e-5);
        }
        std::size_t heavier = 0, near = 0;
        for (std::size_t k = 0; k < length; ++k) {
          const double difference = want.weight(0, h, i, k) - want.weights[at];
          heavier += difference > 1e-5;
          near += difference > 0 && difference <= 1e-5;
        }
        REQUIRE(share.rank >= 1 + heavier);
        REQUIRE(share.rank <= 1 + heavier + near + length * (want.weights[at] == 0 ? 0 : 1));
        for (std::size_t t = 0; t < 3; ++t) {
          const double v = inputs.value.row(0, h / (2 / inputs.value.heads), j)[t];
          REQUIRE(std::abs(share.contribution[t] - want.weights[at] * v) < 1e-4);
          REQUIRE(std::abs(share.context[t] - want.context[row * 3 + t]) < 1e-4);
        }
      };
      check(cell.exact, all);
      check(cell.lsh, some);
      const auto met = run.meetings(0, h)[i][j];
      REQUIRE(cell.lsh_candidate == !met.empty());
      REQUIRE(cell.lsh_round == (met.empty() ? -1 : static_cast<int>(met[0])));
    }
  }
}

TEST_CASE("cells outside the problem and unfinished mechanisms are refused") {
  reference::Random random(201);
  AttentionCase c({1, 2, 2, 10, 10, 4, 3}, random), other({1, 2, 2, 9, 10, 4, 3}, random);
  const LshRun run(c, {}), shorter(other, {});
  ExactRun exact(run.attention);
  CellArithmetic cell;
  require_ok(explain_cell(exact.attention, run.attention, 0, 1, 9, 9, cell));
  CHECK(explain_cell(exact.attention, run.attention, 1, 0, 0, 0, cell).field == "tile.batch");
  CHECK(explain_cell(exact.attention, run.attention, 0, 2, 0, 0, cell).field == "tile.head");
  CHECK(explain_cell(exact.attention, run.attention, 0, 0, 10, 0, cell).field == "tile.rows");
  CHECK(explain_cell(exact.attention, run.attention, 0, 0, 0, 10, cell).field == "tile.columns");
  CHECK(explain_cell(exact.attention, shorter.attention, 0, 0, 0, 0, cell).field == "lsh");
  Attention unfinished;
  LshAttention not_started;
  CHECK(explain_cell(unfinished, run.attention, 0, 0, 0, 0, cell).field == "attention");
  CHECK(explain_cell(exact.attention, not_started, 0, 0, 0, 0, cell).field == "attention");
}

}  // namespace
}  // namespace heed::tests
