// LSH attention run through the library, and what the oracle makes of the same buckets.
#pragma once

#include "attention_case.hpp"
#include "heed/lsh_attention.hpp"
#include "reference/lsh.hpp"

namespace heed::tests {

/// One finished LSH attention over a case, which must outlive it.
class LshRun {
 public:
  LshRun(const AttentionCase& c, const LshOptions& lsh) : case_(c), outcome(blank(inputs())) {
    require_ok(attention.prepare(c.inputs(), c.options, lsh, views(outcome, inputs())));
    while (!attention.done()) require_ok(attention.advance(1e18));
    shared_ = lsh.shared_query_key;
    true_buckets_ = lsh.true_buckets;
  }
  LshRun(const LshRun&) = delete;
  LshRun& operator=(const LshRun&) = delete;

  /// Rounds in which each pair met, from the library's buckets by the oracle's rules.
  reference::Meetings meetings(std::size_t b, std::size_t h) const {
    std::vector<reference::Round> rounds;
    for (std::size_t r = 0; r < attention.rounds(); ++r) {
      const auto q = attention.query_buckets(b, h, r), k = attention.key_buckets(b, h, r);
      rounds.push_back({{q.begin(), q.end()}, {k.begin(), k.end()}});
    }
    const auto hidden = static_cast<std::uint32_t>(attention.buckets());
    if (true_buckets_) return reference::bucket_meetings(rounds, hidden);
    // Keys are cut into as many chunks as the queries, hidden keys aside.
    std::size_t key_chunk = attention.chunk();
    if (!shared_) {
      const std::size_t chunks =
          (case_.sizes.query_len + attention.chunk() - 1) / attention.chunk();
      std::size_t visible = case_.sizes.key_len;
      if (!case_.key_mask_data.empty()) {
        const auto* const mask = case_.key_mask_data.data() + b * case_.sizes.key_len;
        visible -= static_cast<std::size_t>(std::count(mask, mask + case_.sizes.key_len, 0));
      }
      key_chunk = std::max<std::size_t>(1, (visible + chunks - 1) / chunks);
    }
    return reference::chunk_meetings(rounds, {attention.chunk(), key_chunk, hidden});
  }

  /// Exact softmax over the union of the candidates, by the oracle.
  reference::Attended expected() const {
    std::vector<reference::Meetings> met;
    const std::size_t heads = case_.sizes.heads;
    for (std::size_t n = 0; n < case_.sizes.batch * heads; ++n) {
      met.push_back(meetings(n / heads, n % heads));
    }
    return reference::attention(attention.exact_inputs(), attention.exact_options(),
                                [&](std::size_t b, std::size_t h, std::size_t i, std::size_t j) {
                                  return !met[b * heads + h][i][j].empty();
                                });
  }
  reference::Attended exact() const {
    return reference::attention(attention.exact_inputs(), attention.exact_options());
  }

  void require_union() const {
    require_close(outcome, expected(), case_.sizes.head_dim, largest_magnitude(case_.value));
  }

 private:
  /// Under shared-QK the case's key may have any shape; results have the query's.
  AttentionInputs inputs() const { return case_.inputs(); }

  const AttentionCase& case_;
  bool shared_ = false, true_buckets_ = false;

 public:
  Outcome outcome;
  LshAttention attention;
};

/// Exact attention over the same inputs, finished, for quality figures.
struct ExactRun {
  Outcome outcome;
  Attention attention;
  explicit ExactRun(const LshAttention& lsh) : outcome(blank(lsh.exact_inputs())) {
    const AttentionInputs inputs = lsh.exact_inputs();
    require_ok(attention.prepare(inputs, lsh.exact_options(), views(outcome, inputs)));
    require_ok(attention.advance(1e18));
  }
};

inline const char* name_of(HashFamily family) {
  switch (family) {
    case HashFamily::kSimHash:
      return "SimHash";
    case HashFamily::kE2Lsh:
      return "E2LSH";
    case HashFamily::kCrossPolytope:
      break;
  }
  return "cross-polytope";
}

inline std::string describe(const LshOptions& o) {
  std::ostringstream text;
  text << name_of(o.family) << " rounds " << o.rounds << " buckets " << o.buckets << " chunk "
       << o.chunk << " seed " << o.seed << (o.shared_query_key ? " shared" : "")
       << (o.true_buckets ? " true buckets" : "");
  return text.str();
}

}  // namespace heed::tests
