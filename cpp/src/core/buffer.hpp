// Owned memory, aligned for the widest vectors, whose allocation can fail without an exception.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <span>
#include <type_traits>

#include "core/checked.hpp"
#include "core/failure.hpp"

namespace heed {

/// An uninitialised array of trivial elements at a multiple of 64 bytes.
template <class T>
class Buffer {
  static_assert(std::is_trivial_v<T>);

 public:
  /// Replaces the contents by `size` uninitialised elements. `name` appears in the error.
  Status allocate(std::size_t size, const char* name) {
    constexpr std::size_t kAlignment = 64;
    storage_.reset();
    size_ = 0;
    std::size_t bytes = 0;
    // Half of the address space: differences of pointers into one object must fit in ptrdiff_t.
    if (!checked_product({size, sizeof(T)}, bytes) ||
        bytes > static_cast<std::size_t>(-1) / 2 - kAlignment) {
      return {ErrorCode::kOverflow, name, std::to_string(size) + " elements",
              "a size within the address space"};
    }
    if (size == 0) return {};
    storage_.reset(static_cast<T*>(std::aligned_alloc(kAlignment, round_up(bytes, kAlignment))));
    if (storage_ == nullptr) return out_of_memory(name, bytes);
    size_ = size;
    return {};
  }

  T* data() { return storage_.get(); }
  const T* data() const { return storage_.get(); }
  std::size_t size() const { return size_; }
  std::size_t bytes() const { return size_ * sizeof(T); }
  T& operator[](std::size_t index) { return storage_.get()[index]; }
  const T& operator[](std::size_t index) const { return storage_.get()[index]; }
  std::span<T> span() { return {data(), size_}; }
  std::span<const T> span() const { return {data(), size_}; }

 private:
  struct Free {
    void operator()(T* pointer) const { std::free(pointer); }
  };
  std::unique_ptr<T, Free> storage_;
  std::size_t size_ = 0;
};

}  // namespace heed
