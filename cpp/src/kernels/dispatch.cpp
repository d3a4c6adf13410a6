// Chooses the kernel table by what the machine can run.
#include <array>
#include <cstring>
#include <string>

#include "core/failure.hpp"
#include "heed/attention.hpp"
#include "kernels/isa/tables.hpp"

namespace heed {
namespace kernels {
namespace {

struct Available {
  std::array<const KernelTable*, 3> tables{};
  std::array<const char*, 3> names{};
  std::size_t count = 0;
  void add(const KernelTable& table) {
    tables[count] = &table;
    names[count++] = table.name;
  }
};

Available detect() {
  Available available;
#if defined(__wasm__)
  available.add(kTableWasm);
#elif defined(__aarch64__)
  available.add(kTableNeon);
#else
  available.add(kTableSse2);
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) available.add(kTableAvx2);
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl")) {
    available.add(kTableAvx512);
  }
#endif
  return available;
}

const Available& available() {
  static const Available detected = detect();
  return detected;
}

const KernelTable*& chosen() {
  static const KernelTable* table = available().tables[available().count - 1];
  return table;
}

}  // namespace

const KernelTable& table() { return *chosen(); }

}  // namespace kernels

const char* instruction_set() { return kernels::table().name; }

std::span<const char* const> available_instruction_sets() {
  return {kernels::available().names.data(), kernels::available().count};
}

Status use_instruction_set(const char* name) {
  std::string expected;
  for (std::size_t i = 0; i < kernels::available().count; ++i) {
    if (std::strcmp(name, kernels::available().names[i]) == 0) {
      kernels::chosen() = kernels::available().tables[i];
      return {};
    }
    expected += (i == 0 ? "" : ", ") + std::string(kernels::available().names[i]);
  }
  return invalid_value("instruction_set", name, "one of " + expected);
}

}  // namespace heed
