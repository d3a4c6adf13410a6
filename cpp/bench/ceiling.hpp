// What the machine itself can do, measured in the same run as the kernels: the denominators of
// every fraction that a benchmark prints.
#pragma once

#include <cstddef>

namespace heed::bench {

/// Floating-point ceiling of one instruction set.
struct Ceiling {
  const char* instruction_set;
  /// Runs `steps` steps of independent multiply-adds in registers, the same multiply_add() that the
  /// kernels use, and returns the floating-point operations done (a multiply-add counts as 2).
  double (*multiply_adds)(std::size_t steps, float& sink);
};

/// The ceiling of the named instruction set; the names are those of available_instruction_sets().
const Ceiling& ceiling(const char* instruction_set);

/// GFLOP/s of one thread: the best of several short runs of the ceiling.
double peak_gflops(const char* instruction_set);

/// Bytes a second that one thread reads from an array larger than the last-level cache.
double read_bandwidth();

}  // namespace heed::bench
