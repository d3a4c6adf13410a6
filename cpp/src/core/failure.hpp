// Short ways to build a failing Status and to pass one on.
#pragma once

#include <string>
#include <utility>

#include "heed/status.hpp"

namespace heed {

inline Status invalid_shape(std::string field, std::string received, std::string expected) {
  return {ErrorCode::kInvalidShape, std::move(field), std::move(received), std::move(expected)};
}

inline Status invalid_value(std::string field, std::string received, std::string expected) {
  return {ErrorCode::kInvalidValue, std::move(field), std::move(received), std::move(expected)};
}

inline Status out_of_memory(std::string field, std::size_t bytes) {
  return {ErrorCode::kOutOfMemory, std::move(field), std::to_string(bytes) + " bytes refused",
          "smaller sizes or more memory"};
}

}  // namespace heed

/// Returns from the caller when `expression` is a failing Status.
#define HEED_TRY(expression)                                                  \
  do {                                                                        \
    if (::heed::Status status_ = (expression); !status_.ok()) return status_; \
  } while (false)
