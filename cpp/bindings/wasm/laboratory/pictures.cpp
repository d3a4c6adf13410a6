// What pictures of vectors need.
#include <emscripten/bind.h>

#include "heed/principal_components.hpp"
#include "problem.hpp"

namespace heed::wasm {
namespace {

bool find_principal_components(std::size_t x, std::size_t rows, std::size_t dim, std::size_t count,
                               std::size_t mean, std::size_t components, std::size_t explained) {
  return keep(
      principal_components(span_at<const float>(x, rows * dim), rows, dim, count,
                           {span_at<float>(mean, dim), span_at<float>(components, count * dim),
                            span_at<float>(explained, count)}));
}

}  // namespace

EMSCRIPTEN_BINDINGS(heed_pictures) {
  emscripten::function("principalComponents", &find_principal_components);
}

}  // namespace heed::wasm
