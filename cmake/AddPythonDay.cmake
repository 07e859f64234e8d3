# SPDX-License-Identifier: MIT
# add_python_day(folder): the tests of a day of the kind `python` (CONTRIBUTING.md, "Kinds of days"). Nothing of it is built. A
# checked build would repeat what the plain one runs: the interpreter watches every access always.
function(add_python_day folder)
  if(NOT DAYS_TESTS OR NOT Python3_FOUND OR DAYS_CHECKED)
    return()
  endif()
  cmake_path(GET folder FILENAME name)
  string(REGEX MATCH "^day([0-9]+)" day "${name}")
  if(DAYS_BACKEND STREQUAL "cuda")
    set(backend --backend cuda)
  endif()
  add_test(NAME ${day}_test COMMAND "${Python3_EXECUTABLE}" -B "${DAYS_ROOT}/tests/python_day.py" ${CMAKE_MATCH_1} ${backend}
    WORKING_DIRECTORY "${DAYS_ROOT}")
  set_tests_properties(${day}_test PROPERTIES LABELS "${day}" TIMEOUT 900 SKIP_RETURN_CODE 77)
  days_test_order(${day}_test GPU)
endfunction()
