// The contract between the attention mechanisms and the vector kernels.
//
// Notation: q query, k key, v value, s logits, p exp2 of shifted logits, o unnormalised context.
// Logits are kept in units of log2: s = scale * log2(e) * <q, k>, so that exp2 gives the softmax.
//
// Every kernel exists once, generic in the instruction set (NAME_impl.hpp), and is instantiated by
// the small files in isa/. Pointers need no alignment unless said; buffers never alias.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heed::kernels {

/// Keys of one tile of logits and the row stride of logit buffers. A multiple of every panel width;
/// 128 keys of 64 floats are 32 KB, which stay in the second-level cache next to their values.
inline constexpr std::size_t kKeyBlock = 128;

struct KernelTable {
  const char* name;

  /// Rows of a query group and floats of a panel: the microkernel's register tile is group_rows x
  /// panel_width.
  std::size_t group_rows;
  std::size_t panel_width;
  /// Queries of a tile, a multiple of group_rows.
  std::size_t tile_rows;

  /// Packs `rows` rows of x (row r at x + index[r] * stride, or x + r * stride when index is null)
  /// into transposed panels [ceil(rows / panel_width)][dim][panel_width], zero-padded.
  void (*pack_keys)(const float* x, std::size_t stride, const std::uint32_t* index,
                    std::size_t rows, std::size_t dim, float* packed);

  /// Packs values into column panels [ceil(dim / panel_width)][rows][panel_width], zero-padded.
  void (*pack_values)(const float* x, std::size_t stride, const std::uint32_t* index,
                      std::size_t rows, std::size_t dim, float* packed);

  /// Packs scale * x, rounded once, into query groups [ceil(rows / group_rows)][dim][group_rows],
  /// zero-padded.
  void (*pack_queries)(const float* x, std::size_t stride, const std::uint32_t* index,
                       std::size_t rows, std::size_t dim, double scale, float* packed);

  /// s[r][c] = <q_r, k_c> for `groups` query groups and `keys` <= kKeyBlock keys; s has
  /// groups * group_rows rows of stride kKeyBlock. Columns keys .. round_up(keys, panel_width) are
  /// written with the padding's products.
  void (*logits)(const float* packed_queries, std::size_t groups, const float* packed_keys,
                 std::size_t keys, std::size_t dim, float* s);

  /// Online softmax over one tile of logits (Milakov & Gimelshein 2018). For each of `rows` rows:
  /// updates the running maximum (log2 units) and the running sum, replaces s[0 .. keys) by
  /// exp2(s - maximum) with exactly 0 for -infinity, and writes in `decay` by how much earlier
  /// contributions shrink. Columns keys .. kKeyBlock are not read.
  void (*softmax_update)(float* s, std::size_t rows, std::size_t keys, float* maximum, float* sum,
                         float* decay);

  /// o[r] = decay[r] * o[r] + sum_c p[r][c] v_c over all rows of `groups` groups. o has rows of
  /// stride round_up(dim, panel_width); packed_values holds `values_stride` rows a panel, of which
  /// the `keys` at the given start are used.
  void (*accumulate)(const float* p, std::size_t groups, const float* decay,
                     const float* packed_values, std::size_t values_stride, std::size_t keys,
                     std::size_t dim, float* o);

  /// s[c] = scale * <q, k_c> for unpacked keys (gathered by index when it is not null).
  void (*row_logits)(const float* q, const float* k, std::size_t stride, const std::uint32_t* index,
                     std::size_t keys, std::size_t dim, float scale, float* s);

  /// o = decay * o + sum_c p[c] v_c for unpacked values; o has dim floats.
  void (*row_accumulate)(const float* p, const float* v, std::size_t stride,
                         const std::uint32_t* index, std::size_t keys, std::size_t dim, float decay,
                         float* o);

  /// p[c] = exp2(s[c] - shift), 0 for s = -infinity; shift must be finite. In place allowed.
  void (*exp2_shifted)(const float* s, std::size_t count, float shift, float* p);

  /// s[c] = -infinity where 0 <= query_code - key_code[c] <= span in uint32 arithmetic.
  void (*hide_code_range)(float* s, std::size_t keys, std::uint32_t query_code,
                          const std::uint32_t* key_code, std::uint32_t span);

  /// y = x M for `rows` vectors and M [dim][width] packed by pack_values; y has rows of stride
  /// round_up(width, panel_width), of which the padding holds zeros. Every y is summed over dim in
  /// order, multiply then add, so that every instruction set gives the same bits.
  void (*project_rows)(const float* x, std::size_t stride, std::size_t rows, std::size_t dim,
                       const float* matrix, std::size_t width, float* y);

  /// Cross-polytope hash (Andoni et al. 2015; Kitaev et al. 2020, section 2) of `rows` vectors:
  /// with y = x R, R [dim][width] packed by pack_values, bucket = argmax([y; -y]), ties to the
  /// smaller index, and margin = best - second best of the 2 width values. y has the bits of
  /// project_rows.
  void (*hash_rows)(const float* x, std::size_t stride, std::size_t rows, std::size_t dim,
                    const float* rotation, std::size_t width, std::uint32_t* bucket, float* margin);

  /// The same with pseudo-random rotations (Andoni et al. 2015, section 6): y is made of the first
  /// `width` outputs of as many transforms H D3 H D2 H D1 x / size as it takes, x padded with zeros
  /// to `size`, a power of two >= dim; H is the Walsh-Hadamard matrix, and signs
  /// [transforms][3][size] are the diagonals of D, +1 or -1. y is as large as with a rotation of
  /// standard normal numbers. Sums alone, in one order: the same bits on every instruction set.
  /// work holds 2 * size * panel_width floats.
  void (*hash_rows_hadamard)(const float* x, std::size_t stride, std::size_t rows, std::size_t dim,
                             const float* signs, std::size_t size, std::size_t width,
                             std::uint32_t* bucket, float* margin, float* work);
};

/// The table in use. Chosen at the first call as the best the machine has.
const KernelTable& table();

}  // namespace heed::kernels
