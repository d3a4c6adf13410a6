# Converts gpt-nano-sort for gpt_nano_sort_test. Include after the tests are added.
find_program(HEED_NODE node REQUIRED NO_CMAKE_FIND_ROOT_PATH)
set(gpt_nano_sort ${PROJECT_BINARY_DIR}/golden/gpt-nano-sort.txt)
add_test(NAME convert_gpt_nano_sort
  COMMAND ${HEED_NODE} ${CMAKE_CURRENT_LIST_DIR}/convert-gpt-nano-sort.mjs ${gpt_nano_sort})
set_tests_properties(convert_gpt_nano_sort PROPERTIES
  FIXTURES_SETUP gpt_nano_sort
  SKIP_RETURN_CODE 77)
set_tests_properties(gpt_nano_sort_test PROPERTIES
  FIXTURES_REQUIRED gpt_nano_sort
  ENVIRONMENT HEED_GPT_NANO_SORT=${gpt_nano_sort}
  SKIP_RETURN_CODE 4)  # Catch2's code when every test case is skipped
