# CMake toolchain file of the WebAssembly presets: finds Emscripten and hands over to its own file.
#
# An emcc of version 4 or later on the PATH is taken first, then the one that
# scripts/setup-toolchain left in the checkout. EMSCRIPTEN_ROOT_PATH, when set, decides instead.

if(NOT EMSCRIPTEN_ROOT_PATH)
  find_program(HEED_EMCC_ON_PATH emcc NO_CACHE)
  if(HEED_EMCC_ON_PATH)
    execute_process(COMMAND ${HEED_EMCC_ON_PATH} -dumpversion OUTPUT_VARIABLE emcc_version
                    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
  cmake_path(SET checkout NORMALIZE ${CMAKE_CURRENT_LIST_DIR}/../..)
  set(private_root ${checkout}.toolchain/emscripten/usr/share/emscripten)
  if(HEED_EMCC_ON_PATH AND emcc_version VERSION_GREATER_EQUAL 4)
    file(REAL_PATH ${HEED_EMCC_ON_PATH} emcc)
    cmake_path(GET emcc PARENT_PATH EMSCRIPTEN_ROOT_PATH)
  elseif(EXISTS ${private_root})
    set(EMSCRIPTEN_ROOT_PATH ${private_root})
  else()
    message(FATAL_ERROR "No Emscripten 4 or later: put emcc on the PATH, or run scripts/setup-toolchain.")
  endif()
  set(EMSCRIPTEN_ROOT_PATH ${EMSCRIPTEN_ROOT_PATH} CACHE PATH "Folder of emcc and its CMake files")
endif()
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES EMSCRIPTEN_ROOT_PATH)

include(${EMSCRIPTEN_ROOT_PATH}/cmake/Modules/Platform/Emscripten.cmake)
