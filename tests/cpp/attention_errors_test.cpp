// What exact attention refuses, and how it says so.
#include <catch2/catch_test_macros.hpp>
#include <functional>

#include "support/attention_case.hpp"

namespace heed::tests {
namespace {

/// A valid call that a test then breaks in one place.
struct Call {
  reference::Random random{161};
  AttentionCase c{{2, 4, 2, 6, 9, 5, 3}, random};
  AttentionInputs inputs = c.inputs();
  AttentionOptions options;
  Outcome outcome = blank(inputs);
  AttentionOutputs outputs = views(outcome, inputs);
};

struct Refusal {
  const char* what;
  std::function<void(Call&)> breaks;
  ErrorCode code;
  const char* field;
  const char* received;
  const char* expected;
};

constexpr std::size_t kHuge = std::size_t{1} << (sizeof(std::size_t) * 8 - 2);
const float kNan = std::numeric_limits<float>::quiet_NaN();

const std::vector<Refusal>& refusals() {
  using enum ErrorCode;
  static const std::uint8_t kBytes[2 * 4 * 6 * 9] = {};
  static const float kFloats[2 * 4 * 6 * 9] = {};
  static const std::vector<Refusal> all = {
      {"no head_dim", [](Call& k) { k.inputs.query.columns = 0; }, kInvalidShape, "query.columns",
       "0", "a head_dim of at least 1"},
      {"no value_dim", [](Call& k) { k.inputs.value.columns = 0; }, kInvalidShape, "value.columns",
       "0", "a value_dim of at least 1"},
      {"another head_dim", [](Call& k) { k.inputs.key.columns = 4; }, kInvalidShape, "key.columns",
       "4", "5 (head_dim)"},
      {"another batch of keys", [](Call& k) { k.inputs.key.batch = 1; }, kInvalidShape, "key.batch",
       "1", "2 (batch)"},
      {"another batch of values", [](Call& k) { k.inputs.value.batch = 3; }, kInvalidShape,
       "value.batch", "3", "2 (batch)"},
      {"other heads of values", [](Call& k) { k.inputs.value.heads = 4; }, kInvalidShape,
       "value.heads", "4", "2 (kv_heads)"},
      {"other rows of values", [](Call& k) { k.inputs.value.rows = 8; }, kInvalidShape,
       "value.rows", "8", "9 (key_len)"},
      {"heads not a multiple", [](Call& k) { k.inputs.query.heads = 3; }, kInvalidShape,
       "query.heads", "3", "a multiple of kv_heads 2"},
      {"no key heads", [](Call& k) { k.inputs.key.heads = k.inputs.value.heads = 0; },
       kInvalidShape, "query.heads", "4", "a multiple of kv_heads 0"},
      {"context of another batch", [](Call& k) { k.outputs.context.batch = 1; }, kInvalidShape,
       "context.batch", "1", "2 (batch)"},
      {"context of other heads", [](Call& k) { k.outputs.context.heads = 2; }, kInvalidShape,
       "context.heads", "2", "4 (heads)"},
      {"context of other rows", [](Call& k) { k.outputs.context.rows = 9; }, kInvalidShape,
       "context.rows", "9", "6 (query_len)"},
      {"context of other columns", [](Call& k) { k.outputs.context.columns = 5; }, kInvalidShape,
       "context.columns", "5", "3 (value_dim)"},
      {"short query", [](Call& k) { k.inputs.query.data = k.inputs.query.data.first(239); },
       kInvalidShape, "query", "239 elements", "at least 240 for shape [2, 4, 6, 5]"},
      {"short key", [](Call& k) { k.inputs.key.data = k.inputs.key.data.first(0); }, kInvalidShape,
       "key", "0 elements", "at least 180 for shape [2, 2, 9, 5]"},
      {"short value", [](Call& k) { k.inputs.value.row_stride = 4; }, kInvalidShape, "value",
       "108 elements", "at least 116 for shape [2, 2, 9, 3]"},
      {"short context", [](Call& k) { k.outputs.context.data = k.outputs.context.data.first(143); },
       kInvalidShape, "context", "143 elements", "at least 144 for shape [2, 4, 6, 3]"},
      {"short logsumexp", [](Call& k) { k.outputs.logsumexp = k.outputs.logsumexp.first(47); },
       kInvalidShape, "logsumexp", "47", "48 (batch * heads * query_len)"},
      {"strides beyond memory", [](Call& k) { k.inputs.query.row_stride = kHuge; }, kOverflow,
       "query", "shape [2, 4, 6, 5]", "sizes and strides whose product fits the address space"},
      {"scale not finite", [](Call& k) { k.options.scale = kInfinity; }, kInvalidValue, "scale",
       "inf", "a finite number"},
      {"scale not a number", [](Call& k) { k.options.scale = kNan; }, kInvalidValue, "scale", "nan",
       "a finite number"},
      {"negative cap", [](Call& k) { k.options.soft_cap = -1; }, kInvalidValue, "soft_cap", "-1",
       "0 (off) or a positive number"},
      {"cap not a number", [](Call& k) { k.options.soft_cap = kNan; }, kInvalidValue, "soft_cap",
       "nan", "0 (off) or a positive number"},
      {"far offset", [](Call& k) { k.options.causal_offset = INT64_MIN; }, kInvalidValue,
       "causal_offset", "-9223372036854775808", "a magnitude of at most 2^40"},
      {"short key mask", [](Call& k) { k.options.key_mask = std::span(kBytes).first(17); },
       kInvalidShape, "key_mask", "17", "18 (batch * key_len)"},
      {"mask of another shape",
       [](Call& k) { k.options.mask = dense(std::span<const std::uint8_t>(kBytes), 2, 2, 6, 9); },
       kInvalidShape, "mask", "[2, 2, 6, 9]",
       "[batch or 1, heads or 1, query_len or 1, key_len] of [2, 4, 6, 9]"},
      {"mask not broadcast over keys",
       [](Call& k) { k.options.mask = dense(std::span<const std::uint8_t>(kBytes), 2, 4, 6, 1); },
       kInvalidShape, "mask", "[2, 4, 6, 1]",
       "[batch or 1, heads or 1, query_len or 1, key_len] of [2, 4, 6, 9]"},
      {"short mask",
       [](Call& k) { k.options.mask = dense(std::span(kBytes).first(53), 1, 1, 6, 9); },
       kInvalidShape, "mask", "53 elements", "at least 54 for shape [1, 1, 6, 9]"},
      {"short bias",
       [](Call& k) { k.options.bias = dense(std::span(kFloats).first(431), 2, 4, 6, 9); },
       kInvalidShape, "bias", "431 elements", "at least 432 for shape [2, 4, 6, 9]"},
      {"bias of plus infinity",
       [](Call& k) {
         k.c.bias_data.assign(2 * 6 * 9, 0.0f);
         k.c.bias_data[1 * 54 + 4 * 9 + 7] = kInfinity;
         k.options.bias = dense(std::span<const float>(k.c.bias_data), 2, 1, 6, 9);
       },
       kInvalidValue, "bias", "inf at [1, 0, 4, 7]", "finite numbers or -infinity"},
      {"bias not a number",
       [](Call& k) {
         k.c.bias_data.assign(9, kNan);
         k.options.bias = dense(std::span<const float>(k.c.bias_data), 1, 1, 1, 9);
       },
       kInvalidValue, "bias", "nan at [0, 0, 0, 0]", "finite numbers or -infinity"},
      {"query not a number", [](Call& k) { k.c.query[(1 * 4 + 2) * 30 + 3 * 5 + 4] = kNan; },
       kInvalidValue, "query", "nan at [1, 2, 3, 4]", "finite numbers"},
      {"key infinite", [](Call& k) { k.c.key[(0 * 2 + 1) * 45 + 8 * 5] = -kInfinity; },
       kInvalidValue, "key", "-inf at [0, 1, 8, 0]", "finite numbers"},
      {"value infinite", [](Call& k) { k.c.value[0] = kInfinity; }, kInvalidValue, "value",
       "inf at [0, 0, 0, 0]", "finite numbers"},
  };
  return all;
}

TEST_CASE("every refusal names the field, what was received and what was expected") {
  for (const Refusal& refusal : refusals()) {
    Call call;
    refusal.breaks(call);
    // A NaN's sign is not part of the contract.
    Status status = attention(call.inputs, call.options, call.outputs);
    if (status.received.starts_with("-nan")) status.received.erase(0, 1);
    CAPTURE(refusal.what, status.message());
    CHECK(status.code == refusal.code);
    CHECK(status.field == refusal.field);
    CHECK(status.received == refusal.received);
    CHECK(status.expected == refusal.expected);
    CHECK(status.message() ==
          status.field + ": received " + status.received + ", expected " + status.expected);
    // Refused before anything is written.
    CHECK(std::all_of(call.outcome.context.begin(), call.outcome.context.end(),
                      [](float x) { return std::isnan(x); }));
  }
}

TEST_CASE("sizes that no memory could hold are refused without computing or crashing") {
  Call call;
  const auto refuse = [&call](std::size_t batch, std::size_t heads, std::size_t rows,
                              std::size_t columns) {
    const auto query = dense(call.inputs.query.data, batch, heads, rows, columns);
    const auto context = dense(call.outputs.context.data, batch, heads, rows, columns);
    const Status status = attention({query, query, query}, {}, {context, {}});
    CAPTURE(batch, heads, rows, columns, status.message());
    CHECK((status.code == ErrorCode::kOverflow || status.code == ErrorCode::kInvalidShape));
  };
  for (const std::size_t huge : {kHuge, kHuge * 2, SIZE_MAX, SIZE_MAX / 2 + 1}) {
    refuse(huge, 1, 1, 1);
    refuse(1, huge, 1, 1);
    refuse(1, 1, huge, 1);
    refuse(1, 1, 1, huge);
    refuse(4, huge, 4, 4);
    refuse(2, 2, huge, 2);
    refuse(huge, huge, huge, huge);
  }
  // A batch repeated by a stride of 0 whose key mask would wrap around to 4 bytes.
  {
    const std::uint8_t mask[4] = {1, 1, 1, 1};
    Tensor<const float> query = dense(call.inputs.query.data, kHuge + 1, 1, 1, 1);
    Tensor<const float> key = dense(call.inputs.key.data, kHuge + 1, 1, 4, 1);
    Tensor<float> context = dense(call.outputs.context.data, kHuge + 1, 1, 1, 1);
    query.batch_stride = key.batch_stride = context.batch_stride = 0;
    AttentionOptions masked;
    masked.key_mask = mask;
    const Status status = attention({query, key, key}, masked, {context, {}});
    CHECK(status.code == ErrorCode::kOverflow);
    CHECK(status.field == "key_mask");
  }
  // A row repeated by a stride of 0 needs no memory, but positions are kept in 32 bits.
  Tensor<const float> repeated = call.inputs.query;
  repeated.rows = kHuge;
  repeated.row_stride = 0;
  const Status status = attention({call.inputs.query, repeated, repeated}, {},
                                  {dense(call.outputs.context.data, 2, 4, 6, 3), {}});
  CHECK_FALSE(status.ok());
}

TEST_CASE("an object stays as it was after a refused prepare") {
  Call good, bad;
  bad.options.soft_cap = -1;
  const Outcome expected = run(good.inputs, good.options);
  Attention attention;
  CHECK_FALSE(attention.prepare(bad.inputs, bad.options, bad.outputs).ok());
  CHECK_FALSE(attention.done());
  CHECK(attention.progress() == 0.0);
  CHECK(attention.workspace_bytes() == 0);
  require_ok(attention.prepare(good.inputs, good.options, good.outputs));
  CHECK_FALSE(attention.prepare(bad.inputs, bad.options, bad.outputs).ok());
  require_ok(attention.advance(1e18));
  CHECK(attention.done());
  CHECK(good.outcome == expected);
}

TEST_CASE("an unprepared or unfinished object says so") {
  Call call;
  Attention attention;
  std::vector<float> row(9);
  for (const int stage : {0, 1}) {
    if (stage == 1) require_ok(attention.prepare(call.inputs, call.options, call.outputs));
    const Status status = attention.weight_row(0, 0, 0, row);
    CHECK(status.code == ErrorCode::kInvalidValue);
    CHECK(status.message() == "attention: received not done, expected advance() until done()");
    CHECK(attention.weights({}, {}).field == "attention");
  }
  Attention unprepared;
  CHECK(unprepared.advance(1).message() ==
        "attention: received not prepared, expected a call of prepare()");
}

TEST_CASE("weights refuse tiles outside the matrix and outputs of another size") {
  Call call;
  Attention attention;
  require_ok(attention.prepare(call.inputs, call.options, call.outputs));
  require_ok(attention.advance(1e18));
  std::vector<float> cells(54);
  const WeightTile whole{.batch = 0, .head = 0, .rows = {0, 6}, .columns = {0, 9}};
  const auto refused = [&](const std::function<void(WeightTile&)>& breaks) {
    WeightTile tile = whole;
    breaks(tile);
    return attention.weights(tile, {.peak = cells, .mean = {}}).message();
  };
  CHECK(refused([](auto&) {}) == "ok");
  CHECK(refused([](auto& t) { t.batch = 2; }) == "tile.batch: received 2, expected below 2");
  CHECK(refused([](auto& t) { t.head = 4; }) == "tile.head: received 4, expected below 4");
  CHECK(refused([](auto& t) {
          t.rows = {3, 7};
        }) == "tile.rows: received [3, 7), expected within [0, 6)");
  CHECK(refused([](auto& t) {
          t.rows = {4, 3};
        }) == "tile.rows: received [4, 3), expected within [0, 6)");
  CHECK(refused([](auto& t) {
          t.columns = {9, 10};
        }) == "tile.columns: received [9, 10), expected within [0, 9)");
  CHECK(refused([](auto& t) { t.rows_per_cell = 0; }) ==
        "tile.rows_per_cell: received 0, expected at least 1");
  CHECK(refused([](auto& t) { t.columns_per_cell = 0; }) ==
        "tile.columns_per_cell: received 0, expected at least 1");
  CHECK(refused([](auto& t) { t.columns_per_cell = 2; }) ==
        "peak: received 54, expected 30 (cells) or 0");
  CHECK(refused([](auto& t) { t.columns_per_cell = t.rows_per_cell = SIZE_MAX; }) ==
        "peak: received 54, expected 1 (cells) or 0");
  CHECK(attention.weights(whole, {.peak = {}, .mean = std::span(cells).first(1)}).field == "mean");
  CHECK(attention.weight_row(0, 0, 0, cells).message() == "out: received 54, expected 9 (key_len)");
  CHECK(attention.weight_row(0, 0, 6, std::span(cells).first(9)).field == "tile.rows");
  CHECK(attention.weight_row(0, 0, SIZE_MAX, std::span(cells).first(9)).field == "tile.rows");

  call.outputs.logsumexp = {};
  require_ok(attention.prepare(call.inputs, call.options, call.outputs));
  require_ok(attention.advance(1e18));
  CHECK(attention.weights(whole, {.peak = cells, .mean = {}}).message() ==
        "logsumexp: received none, expected an output for it");
}

TEST_CASE("instruction sets are chosen by name, and an unknown name lists the known") {
  const std::string before = instruction_set();
  std::string known;
  for (const char* const name : available_instruction_sets()) {
    const InstructionSetScope scope(name);
    CHECK(std::string(instruction_set()) == name);
    known += (known.empty() ? "" : ", ") + std::string(name);
  }
  const Status status = use_instruction_set("abacus");
  CHECK(status.message() == "instruction_set: received abacus, expected one of " + known);
  CHECK(std::string(instruction_set()) == before);
}

TEST_CASE("error codes have names") {
  CHECK(std::string(to_string(ErrorCode::kOk)) == "ok");
  CHECK(std::string(to_string(ErrorCode::kInvalidShape)) == "invalid-shape");
  CHECK(std::string(to_string(ErrorCode::kInvalidValue)) == "invalid-value");
  CHECK(std::string(to_string(ErrorCode::kOverflow)) == "overflow");
  CHECK(std::string(to_string(ErrorCode::kOutOfMemory)) == "out-of-memory");
  CHECK(Status{}.message() == "ok");
}

}  // namespace
}  // namespace heed::tests
