// The weight matrix behind exact attention, whole and reduced to cells.
#include <catch2/catch_test_macros.hpp>

#include "support/attention_case.hpp"

namespace heed::tests {
namespace {

struct Finished {
  Outcome outcome;
  Attention attention;
  explicit Finished(const AttentionCase& c) : outcome(blank(c.inputs())) {
    require_ok(attention.prepare(c.inputs(), c.options, views(outcome, c.inputs())));
    require_ok(attention.advance(1e18));
  }
};

/// weight's bound holds for the softmax; weights read back from a logsumexp carry the rounding of
/// that too.
double read_back_bound(const reference::Attended& expected, std::size_t row, std::size_t head_dim) {
  const auto bound = reference::tolerance(expected, row, head_dim);
  return bound.weight + std::expm1(2 * bound.logit);
}

TEST_CASE("weights equal the oracle's and rows sum to 1") {
  const char* const isa = any_instruction_set();
  const InstructionSetScope scope(isa);
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    reference::Random random(seed);
    const std::size_t query_len = seed % 3 == 0 ? 3 : random.size(5, 120);
    AttentionCase c({2, 2, 1, query_len, random.size(1, 200), random.size(1, 40), 3}, random);
    c.options.causal = random.chance(0.5);
    c.options.exclude_self = random.chance(0.4);
    if (random.chance(0.4)) c.hide_keys(random, 0.4);
    if (random.chance(0.4)) c.add_bias(random, 0.2, true, false, true);
    if (random.chance(0.3)) c.options.soft_cap = 5;
    if (random.chance(0.3)) c.options.window_left = 2;
    INFO("instruction set " << isa << ", seed " << seed << ", " << describe(c.sizes));
    Finished finished(c);
    const auto expected = reference::attention(c.inputs(), c.options);
    std::vector<float> row(c.sizes.key_len);
    for (std::size_t r = 0; r < c.rows(); ++r) {
      const std::size_t i = r % query_len, h = r / query_len % 2, b = r / query_len / 2;
      require_ok(finished.attention.weight_row(b, h, i, row));
      const double bound = read_back_bound(expected, r, c.sizes.head_dim);
      double sum = 0;
      std::size_t wrong = 0;
      for (std::size_t j = 0; j < row.size(); ++j) {
        const double want = expected.weight(b, h, i, j);
        wrong += !(std::abs(row[j] - want) <= bound * want + 0x1p-125);
        wrong += want == 0 && row[j] != 0;
        sum += row[j];
      }
      CAPTURE(b, h, i, bound);
      REQUIRE(wrong == 0);
      const bool sees = expected.logsumexp[r] != -INFINITY;
      REQUIRE(std::abs(sum - (sees ? 1 : 0)) <= bound);
    }
  }
}

TEST_CASE("rows of weights sum to 1 at any size of logits") {
  const char* const isa = any_instruction_set();
  const InstructionSetScope scope(isa);
  for (const std::size_t query_len : {std::size_t{3}, std::size_t{20}}) {
    for (const float scale : {1.0f, 1e3f, 1e5f, 1e7f, 1e9f, 1e20f, 1e35f}) {
      reference::Random random(101);
      AttentionCase c({1, 1, 1, query_len, 60, 8, 4}, random);
      c.options.scale = scale;
      Finished finished(c);
      std::vector<float> row(60);
      for (std::size_t i = 0; i < query_len; ++i) {
        require_ok(finished.attention.weight_row(0, 0, i, row));
        double sum = 0;
        for (const float w : row) sum += w;
        CAPTURE(isa, query_len, scale, i);
        REQUIRE(std::abs(sum - 1) < 1e-3);
      }
    }
  }
}

/// Cells of a tile, straight from the oracle's weights.
struct Cells {
  std::vector<double> peak, mean;
};
Cells reduce(const reference::Attended& expected, const WeightTile& tile) {
  Cells cells{std::vector<double>(tile.cell_rows() * tile.cell_columns(), 0.0), {}};
  cells.mean = cells.peak;
  std::vector<double> count(cells.mean.size(), 0.0);
  for (std::size_t i = tile.rows.begin; i < tile.rows.end; ++i) {
    for (std::size_t j = tile.columns.begin; j < tile.columns.end; ++j) {
      const std::size_t cell = (i - tile.rows.begin) / tile.rows_per_cell * tile.cell_columns() +
                               (j - tile.columns.begin) / tile.columns_per_cell;
      const double weight = expected.weight(tile.batch, tile.head, i, j);
      cells.peak[cell] = std::max(cells.peak[cell], weight);
      cells.mean[cell] += weight;
      ++count[cell];
    }
  }
  for (std::size_t n = 0; n < count.size(); ++n) cells.mean[n] /= count[n];
  return cells;
}

TEST_CASE(
    "tiles reduce the oracle's weights wherever they begin and however large their cells are") {
  const char* const isa = any_instruction_set();
  const InstructionSetScope scope(isa);
  for (const double spread : {1.0, 1e19}) {  // the second is computed in double
    for (const std::size_t query_len : {std::size_t{4}, std::size_t{101}}) {
      reference::Random random(102);
      AttentionCase c({2, 2, 2, query_len, 170, 12, 3}, random, spread);
      c.options.causal = true;
      c.options.exclude_self = true;
      Finished finished(c);
      const auto expected = reference::attention(c.inputs(), c.options);
      for (int trial = 0; trial < 40; ++trial) {
        WeightTile tile{
            .batch = random.size(0, 1), .head = random.size(0, 1), .rows = {}, .columns = {}};
        tile.rows.begin = random.size(0, query_len);
        tile.rows.end = random.size(tile.rows.begin, query_len);
        tile.columns.begin = random.size(0, 170);
        tile.columns.end = random.size(tile.columns.begin, 170);
        tile.rows_per_cell = random.size(1, 9);
        tile.columns_per_cell = random.chance(0.1) ? 1000 : random.size(1, 40);
        const std::size_t cells = tile.cell_rows() * tile.cell_columns();
        std::vector<float> peak(cells, NAN), mean(cells, NAN), alone(cells, NAN);
        require_ok(finished.attention.weights(tile, {.peak = peak, .mean = mean}));
        require_ok(finished.attention.weights(tile, {.peak = {}, .mean = alone}));
        const Cells want = reduce(expected, tile);
        double bound = 0;
        for (std::size_t row = 0; row < c.rows() && spread == 1; ++row) {
          bound = std::max(bound, read_back_bound(expected, row, 12));
        }
        // In double only the conversion to float32 and the sum of the cell remain.
        if (spread != 1) bound = 1e-4;
        std::size_t wrong = 0;
        for (std::size_t n = 0; n < cells; ++n) {
          wrong += !(std::abs(peak[n] - want.peak[n]) <= bound * want.peak[n] + 0x1p-120);
          wrong += !(std::abs(mean[n] - want.mean[n]) <= 2 * bound * want.mean[n] + 0x1p-120);
          wrong += alone[n] != mean[n];
        }
        CAPTURE(isa, spread, query_len, trial, tile.rows.begin, tile.rows.end, tile.columns.begin,
                tile.columns.end, tile.rows_per_cell, tile.columns_per_cell);
        REQUIRE(wrong == 0);
      }
    }
  }
}

TEST_CASE("a query that sees only itself has weight 1 there") {
  reference::Random random(103);
  for (const std::size_t length : {std::size_t{3}, std::size_t{30}}) {
    for (const double spread : {1.0, 1e19}) {
      AttentionCase c({1, 1, 1, length, length, 6, 2}, random, spread);
      c.options.causal = true;
      c.options.exclude_self = true;
      Finished finished(c);
      std::vector<float> row(length), expected(length, 0.0f);
      expected[0] = 1;
      require_ok(finished.attention.weight_row(0, 0, 0, row));
      CAPTURE(length, spread);
      CHECK(row == expected);
      require_ok(finished.attention.weight_row(0, 0, 1, row));
      CHECK(row == expected);
    }
  }
}

}  // namespace
}  // namespace heed::tests
