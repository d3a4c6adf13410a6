// Binds every kernel of one instruction set into its table. Included by the files in isa/ only.
#pragma once

#include "kernels/hadamard_impl.hpp"
#include "kernels/hash_impl.hpp"
#include "kernels/kernel_table.hpp"
#include "kernels/pack_impl.hpp"
#include "kernels/panel_product_impl.hpp"
#include "kernels/row_impl.hpp"
#include "kernels/softmax_impl.hpp"

namespace heed::kernels {

template <class Arch>
constexpr KernelTable make_table(const char* name) {
  using Shape = RegisterTile<Arch>;
  static_assert(kKeyBlock % Shape::kPanelWidth == 0);
  return {
      .name = name,
      .group_rows = Shape::kGroupRows,
      .panel_width = Shape::kPanelWidth,
      .tile_rows = Shape::kTileRows,
      .pack_keys = pack_keys<Arch>,
      .pack_values = pack_values<Arch>,
      .pack_queries = pack_queries<Arch>,
      .logits = logits<Arch>,
      .softmax_update = softmax_update<Arch>,
      .accumulate = accumulate<Arch>,
      .row_logits = row_logits<Arch>,
      .row_accumulate = row_accumulate<Arch>,
      .exp2_shifted = exp2_shifted<Arch>,
      .hide_code_range = hide_code_range<Arch>,
      .project_rows = project_rows<Arch>,
      .hash_rows = hash_rows<Arch>,
      .hash_rows_hadamard = hash_rows_hadamard<Arch>,
  };
}

}  // namespace heed::kernels
