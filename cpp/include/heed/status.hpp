// Errors as data: what every fallible call of heed returns. Not an exception, never thrown.
#pragma once

#include <string>

namespace heed {

enum class ErrorCode {
  kOk,
  kInvalidShape,  // a size or stride does not fit the others, or the span it describes
  kInvalidValue,  // a number outside its range, or NaN or infinity in an input
  kOverflow,      // a size whose product exceeds the address space
  kOutOfMemory,   // the allocation was refused; the message says how many bytes were asked for
};

/// Name of an error code as the bindings show it, for instance "invalid-shape".
const char* to_string(ErrorCode code);

/// Outcome of a call. On failure names the field at fault, the value seen and what was expected.
struct [[nodiscard]] Status {
  ErrorCode code = ErrorCode::kOk;
  std::string field;
  std::string received;
  std::string expected;

  bool ok() const { return code == ErrorCode::kOk; }
  /// One sentence: "query: received ..., expected ...".
  std::string message() const;
};

}  // namespace heed
