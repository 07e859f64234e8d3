# SPDX-License-Identifier: MIT
# add_day(folder): every target of the day in that folder, from the folder convention alone.
#
#   day05_kernels    its .cu files but exercise.cu: with days_core alone they can be linked into any program
#   day05_ladder     exercise.cu and the .cpp files; ladder.cpp tells the next three what there is to run, test and time
#   day05_matmul     the executable: with the harness and the baselines found here. Its main() is the harness's, or main.cpp's
#   day05_test       with the day's own tests and wrong kernels, the folder's tests/; the main() is tests/testing.cpp's
#   day05_bench      with the main() of bench/benchmarking.cpp
#   libday05         the shared library (common/library.h) of a day that Python's contestants race, on a GPU; built where it is named
#   day05_NAME       each program programs/NAME.cu, with the day's kernels
#
# A note whose front matter says `uses: [12, 43, model]` has the kernels of days 12 and 43, and the library model/, in all of these.
#
# A day with a folder samples/ works on pictures: it is linked with common/image where libpng and libjpeg are found. One with a
# folder animations/ writes such: with common/animation, where giflib is found, besides.

# days_sources(target file...): adds files to a target of the course; a .cu goes to nvcc or through simtcc
function(days_sources target)
  target_sources(${target} PRIVATE ${ARGN})
  if(DAYS_BACKEND STREQUAL "simt")
    set(cuda_files ${ARGN})
    list(FILTER cuda_files INCLUDE REGEX "\\.cu$")
    if(cuda_files)
      set_source_files_properties(${cuda_files} PROPERTIES LANGUAGE CXX OBJECT_DEPENDS "${DAYS_SIMTCC}")
    endif()
    days_lighter(${ARGN})
    set_target_properties(${target} PROPERTIES CXX_COMPILER_LAUNCHER "${DAYS_LAUNCHER}")
    add_dependencies(${target} simtcc)
    target_link_libraries(${target} PRIVATE simt)
  endif()
  target_link_libraries(${target} PRIVATE days_settings)
endfunction()

# days_executable(target file...): an executable of the course
function(days_executable target)
  add_executable(${target})
  days_sources(${target} ${ARGN})
  target_link_libraries(${target} PRIVATE Threads::Threads)
endfunction()

# days_uses(OUT folder): the targets of the kernels that the day in that folder takes from other days, and days_model
function(days_uses out folder)
  set(targets "")
  file(STRINGS "${folder}/README.md" uses REGEX "^uses: *\\[.*\\] *$" LIMIT_COUNT 1)
  string(REGEX MATCHALL "[0-9]+" numbers "${uses}")
  foreach(number IN LISTS numbers)
    string(REGEX REPLACE "^(.)$" "0\\1" number "${number}")
    file(GLOB ladder CONFIGURE_DEPENDS "${DAYS_ROOT}/day${number}_*/ladder.cpp")
    if(NOT ladder)
      message(FATAL_ERROR "${folder}/README.md uses day ${number}: there is no such day, or it has no ladder")
    endif()
    list(APPEND targets day${number}_kernels)
  endforeach()
  string(REGEX REPLACE "^uses:" "" names "${uses}")
  string(REGEX MATCHALL "[a-z_]+" names "${names}")
  list(TRANSFORM names PREPEND "days_")
  list(APPEND targets ${names})
  set(${out} "${targets}" PARENT_SCOPE)
endfunction()

# What every program with kernels needs of common/ beside its headers, compiled once for all of them.
days_setting(core core)
add_library(days_core OBJECT)
days_sources(days_core "${DAYS_ROOT}/${core}")

# The harness, compiled once for all days. For nvcc its host code is part of harness.cu.
file(GLOB harness CONFIGURE_DEPENDS "${DAYS_ROOT}/common/*.cu" "${DAYS_ROOT}/common/*.cpp")
list(REMOVE_ITEM harness "${DAYS_ROOT}/${core}")
if(DAYS_BACKEND STREQUAL "simt")
  days_setting(harness_host simt harness)
  days_globs(harness_host ${harness_host})
  list(APPEND harness ${harness_host})
endif()
add_library(days_harness OBJECT)
days_sources(days_harness ${harness})

# The main() of every benchmark.
if(DAYS_BENCHMARKS)
  add_library(days_benchmarking OBJECT)
  days_sources(days_benchmarking "${DAYS_ROOT}/bench/benchmarking.cpp")
  target_link_libraries(days_benchmarking PUBLIC benchmark::benchmark)
endif()

# The tests of ladders and of wrong kernels, and the main() of every test program with them.
if(DAYS_TESTS)
  add_library(days_testing OBJECT)
  days_sources(days_testing "${DAYS_ROOT}/tests/testing.cpp" "${DAYS_ROOT}/tests/wrong_kernels.cpp")
  target_compile_definitions(days_testing PRIVATE "DAYS_ROOT=\"${DAYS_ROOT}\"")
  target_link_libraries(days_testing PUBLIC GTest::gtest)
endif()

# add_day_library(folder [part...]): libday05.so of the day's objects, the harness and these parts
function(add_day_library folder)
  cmake_path(GET folder FILENAME name)
  string(REGEX MATCH "^day[0-9]+" day "${name}")
  add_library(lib${day} SHARED)
  set_target_properties(lib${day} PROPERTIES OUTPUT_NAME ${day})
  days_uses(uses "${folder}")
  target_link_libraries(lib${day} PRIVATE ${day}_kernels ${uses} days_core ${day}_ladder days_harness ${ARGN})
  if(DAYS_BACKEND STREQUAL "cuda")
    set_target_properties(lib${day} PROPERTIES LINKER_LANGUAGE CUDA)
  else()
    target_link_libraries(lib${day} PRIVATE simt)
  endif()
  target_link_libraries(lib${day} PRIVATE Threads::Threads)
  if(NOT APPLE)
    # The process that loads it may hold another CUDA runtime, as PyTorch's does, and other days, whose ladders have the same names:
    # ours is bound to what is in it.
    target_link_options(lib${day} PRIVATE "LINKER:-Bsymbolic" "LINKER:--exclude-libs=ALL" "LINKER:--version-script=${DAYS_ROOT}/cmake/library.map")
    set_property(TARGET lib${day} APPEND PROPERTY LINK_DEPENDS "${DAYS_ROOT}/cmake/library.map")
  endif()
endfunction()

function(add_day folder)
  cmake_path(GET folder FILENAME name)                              # day05_matmul
  string(REGEX MATCH "^day[0-9]+" day "${name}")                    # day05
  set(build_folder "${CMAKE_BINARY_DIR}/${name}")                   # what the day's programs write
  file(MAKE_DIRECTORY "${build_folder}")
  file(GLOB sources CONFIGURE_DEPENDS "${folder}/*.cu" "${folder}/*.cpp")
  set(main ${sources})
  list(FILTER main INCLUDE REGEX "/main\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "/main\\.cpp$")

  set(kernels ${sources})
  list(FILTER kernels INCLUDE REGEX "\\.cu$")
  list(FILTER kernels EXCLUDE REGEX "/exercise\\.cu$")
  list(REMOVE_ITEM sources ${kernels})

  # Objects, not archives: a baseline is known by its static registration, which a linker would drop from an archive.
  add_library(${day}_kernels OBJECT)
  days_sources(${day}_kernels ${kernels})
  add_library(${day}_ladder OBJECT)
  days_sources(${day}_ladder ${sources})
  days_uses(uses "${folder}")
  set(parts ${day}_kernels ${uses} days_core ${day}_ladder days_harness)
  if(TARGET days_pictures AND (IS_DIRECTORY "${folder}/samples" OR IS_DIRECTORY "${folder}/animations"))
    list(APPEND parts days_pictures)
  endif()
  if(TARGET days_animations AND IS_DIRECTORY "${folder}/animations")
    list(APPEND parts days_animations)
  endif()
  if(DAYS_BACKEND STREQUAL "cuda")
    file(GLOB baselines CONFIGURE_DEPENDS "${folder}/baselines/*.cu")
    foreach(baseline IN LISTS baselines)
      cmake_path(GET baseline STEM key)
      days_library(library ${key})
      if(library)
        add_library(${day}_baseline_${key} OBJECT)
        days_sources(${day}_baseline_${key} "${baseline}")
        target_link_libraries(${day}_baseline_${key} PUBLIC ${library})
        list(APPEND parts ${day}_baseline_${key})
      endif()
    endforeach()
  endif()

  days_executable(${name} ${main})
  target_link_libraries(${name} PRIVATE ${parts})

  file(GLOB programs CONFIGURE_DEPENDS "${folder}/programs/*.cu")
  foreach(program IN LISTS programs)
    cmake_path(GET program STEM stem)
    days_executable(${day}_${stem} "${program}")
    target_link_libraries(${day}_${stem} PRIVATE ${day}_kernels ${uses} days_core)
    if(DAYS_TESTS)
      add_test(NAME ${day}_${stem} COMMAND ${day}_${stem} WORKING_DIRECTORY "${build_folder}")
      set_tests_properties(${day}_${stem} PROPERTIES LABELS "${day};program")
      days_test_order(${day}_${stem} GPU)
    endif()
  endforeach()

  if(DAYS_TESTS)
    file(GLOB tests CONFIGURE_DEPENDS "${folder}/tests/*.cpp" "${folder}/tests/*.cu")
    days_test(${day}_test ${day} ${tests})
    if(DAYS_BACKEND STREQUAL "simt")   # a missing barrier may be harmless while thread 0 always comes first
      set_tests_properties(${day}_test PROPERTIES ENVIRONMENT "SIMT_ORDER=shuffle:1")
    endif()
    target_link_libraries(${day}_test PRIVATE ${parts} days_testing)
    # Each sample goes through the day's program, which checks and writes the result. TARGET:CASE, for `days test`.
    if(days_pictures IN_LIST parts)
      file(GLOB samples CONFIGURE_DEPENDS "${folder}/samples/*.png" "${folder}/samples/*.jpg")
      foreach(sample IN LISTS samples)
        cmake_path(GET sample FILENAME file)
        add_test(NAME ${name}:${file}
          COMMAND ${name} --image "${sample}" --out "${build_folder}/${file}.png")
        set_tests_properties(${name}:${file} PROPERTIES LABELS "${day};program")
        days_test_order(${name}:${file} GPU)
      endforeach()
    endif()
    if(Python3_FOUND AND NOT APPLE AND NOT DAYS_CHECKED)
      # Two definitions of one launcher template would be merged without a word. A checked build has the plain one's symbols.
      add_test(NAME ${day}_duplicate_symbols COMMAND "${Python3_EXECUTABLE}" -B "${DAYS_ROOT}/tests/duplicate_symbols.py"
        "$<TARGET_OBJECTS:${day}_kernels>" "$<TARGET_OBJECTS:${day}_ladder>" "$<TARGET_OBJECTS:${day}_test>"
        --alone "$<TARGET_OBJECTS:${day}_kernels>" "$<TARGET_OBJECTS:days_core>" COMMAND_EXPAND_LISTS)
      set_tests_properties(${day}_duplicate_symbols PROPERTIES LABELS "${day}")
      days_test_order(${day}_duplicate_symbols CPU)
    endif()
  endif()
  if(DAYS_BENCHMARKS)
    days_executable(${day}_bench)
    target_link_libraries(${day}_bench PRIVATE ${parts} days_benchmarking)
    if(DAYS_BACKEND STREQUAL "cuda" AND EXISTS "${folder}/tests/contestants.py")
      set(more ${parts})
      list(REMOVE_ITEM more ${day}_kernels ${uses} days_core ${day}_ladder days_harness)
      add_day_library("${folder}" ${more})
      set_target_properties(lib${day} PROPERTIES EXCLUDE_FROM_ALL ON LIBRARY_OUTPUT_DIRECTORY "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
    endif()
    # On a CPU nothing is timed, but every rung is checked on the shapes of a sweep. A test of the benchmark, not of the day.
    if(DAYS_TESTS AND DAYS_BACKEND STREQUAL "simt" AND NOT DAYS_CHECKED)
      add_test(NAME ${day}_bench COMMAND ${day}_bench --quiet --sweep --json "${build_folder}/bench.json"
        WORKING_DIRECTORY "${build_folder}")
      set_tests_properties(${day}_bench PROPERTIES LABELS "bench" TIMEOUT 900)
      days_test_order(${day}_bench CPU)
    endif()
  endif()
endfunction()

# days_test(target label file...): a GoogleTest executable, one test of ctest. One process a day, not one a case: on a GPU a
# process costs more than a case, and "no kernel ran" is judged over a whole day. ctest -L day05 or --gtest_filter narrow it.
function(days_test target label)
  days_executable(${target} ${ARGN})
  target_link_libraries(${target} PRIVATE GTest::gtest_main)   # whose main() gives way to one of the test's own
  add_test(NAME ${target} COMMAND ${target})
  set_tests_properties(${target} PROPERTIES LABELS "${label}" TIMEOUT 1800)
  days_test_order(${target} GPU)
endfunction()
