# Installs heed to a scratch prefix and builds and runs a project that finds it there.

set(scratch ${PROJECT_BINARY_DIR}/cmake-consumer)

# The consumer also compiles what the README shows.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/README.md)
file(READ ${PROJECT_SOURCE_DIR}/README.md readme)
string(REGEX MATCH "```cpp\n([^`]*)```" found "${readme}")
file(CONFIGURE OUTPUT ${scratch}/readme-snippet.inc CONTENT "${CMAKE_MATCH_1}" @ONLY)

add_test(NAME install_for_consumer
  COMMAND ${CMAKE_COMMAND} --install ${PROJECT_BINARY_DIR} --prefix ${scratch}/prefix
          --config $<CONFIG>)
set_tests_properties(install_for_consumer PROPERTIES FIXTURES_SETUP installed)

add_test(NAME find_package_in_another_project
  COMMAND ${CMAKE_CTEST_COMMAND}
    --build-and-test ${PROJECT_SOURCE_DIR}/tests/package/cmake-consumer ${scratch}/build
    --build-generator ${CMAKE_GENERATOR} --build-config $<CONFIG>
    --build-options -DCMAKE_PREFIX_PATH=${scratch}/prefix -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}
      -DCMAKE_CXX_FLAGS=${CMAKE_CXX_FLAGS} -DCMAKE_BUILD_TYPE=$<CONFIG>
      -DHEED_README_SNIPPET=${scratch}/readme-snippet.inc
    --test-command consumer)
set_tests_properties(find_package_in_another_project PROPERTIES FIXTURES_REQUIRED installed)
