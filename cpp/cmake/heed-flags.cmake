# Compiler flags: what every file of heed is compiled with, and what each instruction set needs.

add_library(heed_flags INTERFACE)
target_compile_options(heed_flags INTERFACE
  -Wall -Wextra $<$<BOOL:${HEED_WARNINGS_AS_ERRORS}>:-Werror>
  # GCC 12 warns of a string added to a literal inside its own headers (GCC bug 105329).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  # A multiply and an add are fused only where the code says so, so that results do not depend on
  # the compiler.
  -ffp-contract=off)
if(EMSCRIPTEN)
  target_compile_options(heed_flags INTERFACE
    -msimd128 $<$<BOOL:${HEED_WASM_RELAXED}>:-mrelaxed-simd>)
endif()

# The library itself throws nothing and asks no type at run time.
add_library(heed_library_flags INTERFACE)
target_compile_options(heed_library_flags INTERFACE -fno-exceptions -fno-rtti)
target_link_libraries(heed_library_flags INTERFACE heed_flags)

# Instruction sets this build contains. The kernels of each are in the files isa/*_NAME.cpp, compiled
# with HEED_ISA_FLAGS_NAME.
if(EMSCRIPTEN)
  set(HEED_ISAS wasm)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64|ARM64)$")
  set(HEED_ISAS neon)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  set(HEED_ISAS sse2 avx2 avx512)
  set(HEED_ISA_FLAGS_avx2 -mavx2 -mfma)
  # What xsimd::avx512bw is made of.
  set(HEED_ISA_FLAGS_avx512 -mavx512f -mavx512cd -mavx512dq -mavx512bw -mavx512vl -mavx2 -mfma
    # GCC 12 warns of its own header's deliberately undefined registers (GCC bug 105593).
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized;-Wno-uninitialized>)
else()
  message(FATAL_ERROR "heed has no kernels for the processor '${CMAKE_SYSTEM_PROCESSOR}'; "
                      "expected x86_64, aarch64 or Emscripten.")
endif()
