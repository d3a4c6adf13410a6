#include "heed/status.hpp"

namespace heed {

const char* to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::kOk:
      return "ok";
    case ErrorCode::kInvalidShape:
      return "invalid-shape";
    case ErrorCode::kInvalidValue:
      return "invalid-value";
    case ErrorCode::kOverflow:
      return "overflow";
    case ErrorCode::kOutOfMemory:
      return "out-of-memory";
  }
  return "unknown";
}

std::string Status::message() const {
  if (ok()) return "ok";
  return field + ": received " + received + ", expected " + expected;
}

}  // namespace heed
