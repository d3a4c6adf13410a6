# The libraries heed is built with: xsimd (headers, seen by the kernels only), Catch2 (tests) and
# Google Benchmark (benchmarks). Each comes from find_package, from .toolchain/ as scripts/setup-toolchain leaves it, or from its
# repository at a pinned tag.
include(FetchContent)
set(FETCHCONTENT_QUIET OFF)

set(HEED_TOOLCHAIN_DIR ${PROJECT_SOURCE_DIR}/.toolchain)
list(APPEND CMAKE_PREFIX_PATH ${HEED_TOOLCHAIN_DIR}/headers/usr)

# Emscripten looks for packages below its own root only; a header-only one may come from anywhere.
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE BOTH)
find_package(xsimd 14 CONFIG QUIET)
if(NOT xsimd_FOUND)
  # SOURCE_SUBDIR names a folder without a CMakeLists.txt: only the headers are wanted.
  FetchContent_Declare(xsimd GIT_REPOSITORY https://github.com/xtensor-stack/xsimd.git
                       GIT_TAG 14.3.0 GIT_SHALLOW ON SOURCE_SUBDIR include)
  FetchContent_MakeAvailable(xsimd)
  add_library(xsimd INTERFACE)
  target_include_directories(xsimd SYSTEM INTERFACE ${xsimd_SOURCE_DIR}/include)
endif()

# Provides the target Catch2::Catch2WithMain.
function(heed_provide_catch2)
  # An installed Catch2 is a native binary; WebAssembly and the sanitizers want it compiled their way.
  if(NOT EMSCRIPTEN AND NOT EXISTS ${HEED_TOOLCHAIN_DIR}/catch2)
    find_package(Catch2 3 CONFIG QUIET GLOBAL)
  endif()
  if(Catch2_FOUND)
    return()
  endif()
  if(EXISTS ${HEED_TOOLCHAIN_DIR}/catch2)
    set(FETCHCONTENT_SOURCE_DIR_CATCH2 ${HEED_TOOLCHAIN_DIR}/catch2)
  endif()
  FetchContent_Declare(Catch2 GIT_REPOSITORY https://github.com/catchorg/Catch2.git
                       GIT_TAG v3.7.1 GIT_SHALLOW ON)
  FetchContent_MakeAvailable(Catch2)
  # Its 100 small files compile in a quarter of the time as a few large ones.
  set_target_properties(Catch2 PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 30)
  if(EMSCRIPTEN)
    target_compile_options(Catch2 PUBLIC -fwasm-exceptions)
    target_link_options(Catch2 PUBLIC -fwasm-exceptions)
  endif()
endfunction()

# Provides the target benchmark::benchmark (Google Benchmark, native only).
function(heed_provide_benchmark)
  find_package(benchmark CONFIG QUIET GLOBAL)
  if(benchmark_FOUND)
    return()
  endif()
  set(BENCHMARK_ENABLE_TESTING OFF)
  FetchContent_Declare(benchmark GIT_REPOSITORY https://github.com/google/benchmark.git
                       GIT_TAG v1.9.1 GIT_SHALLOW ON)
  FetchContent_MakeAvailable(benchmark)
endfunction()
