// Views of row-major tensors in the caller's memory. They own nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace heed {

/// A [batch, heads, rows, columns] view. Strides count elements; columns are contiguous.
/// A stride of 0 repeats the same data along its axis.
template <class T>
struct Tensor {
  std::span<T> data;
  std::size_t batch = 0;
  std::size_t heads = 0;
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t batch_stride = 0;
  std::size_t head_stride = 0;
  std::size_t row_stride = 0;

  /// First element of one row. No bounds check; the public calls validate the whole view first.
  T* row(std::size_t batch_index, std::size_t head_index, std::size_t row_index) const {
    return data.data() + batch_index * batch_stride + head_index * head_stride +
           row_index * row_stride;
  }
};

/// The view of a dense [batch, heads, rows, columns] array.
template <class T>
Tensor<T> dense(std::span<T> data, std::size_t batch, std::size_t heads, std::size_t rows,
                std::size_t columns) {
  return {data, batch, heads, rows, columns, heads * rows * columns, rows * columns, columns};
}

/// The view of a dense [batch, rows, heads, columns] array, the layout a projection leaves behind.
template <class T>
Tensor<T> dense_rows_first(std::span<T> data, std::size_t batch, std::size_t heads,
                           std::size_t rows, std::size_t columns) {
  return {data, batch, heads, rows, columns, heads * rows * columns, columns, heads * columns};
}

/// Half-open range of indices.
struct Range {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t size() const { return end - begin; }
};

}  // namespace heed
