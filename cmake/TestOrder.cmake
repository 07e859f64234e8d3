# SPDX-License-Identifier: MIT
# days_test_order(test GPU|CPU): how early CTest starts a test, and how many run at a time, here and nowhere else: for ./days and for the
# presets.
#
# The longest first, by the seconds in tests/seconds.json (tests/record_seconds.py writes them); what nobody has measured before them,
# later days first.
#
# The preset `cuda` gives 8 jobs, and each of its tests says how many of them it takes. A test on a GPU is mostly the CPU's work, on all
# of its cores; and contexts take turns on a GPU, so that a call which waits takes a millisecond where eight do, and ten microseconds
# alone. So one runs for two cores and for 2 GiB of the GPU's memory, and eight at most. MPS would spare them the turns, but a wrong
# kernel's fault ends all of its clients.
if(DAYS_BACKEND STREQUAL "cuda")
  cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
  math(EXPR at_a_time "${cores} / 2")
  if(NVIDIA_SMI)
    execute_process(COMMAND "${NVIDIA_SMI}" --query-gpu=memory.total --format=csv,noheader,nounits
      OUTPUT_VARIABLE answer ERROR_QUIET RESULT_VARIABLE failed)
    if(NOT failed AND answer MATCHES "^([0-9]+)")   # MiB
      math(EXPR fit "${CMAKE_MATCH_1} / 2048")
      if(fit LESS at_a_time)
        set(at_a_time ${fit})
      endif()
    endif()
  endif()
  foreach(count cores at_a_time)
    if(${count} LESS 1)
      set(${count} 1)
    elseif(${count} GREATER 8)
      set(${count} 8)
    endif()
  endforeach()
  math(EXPR days_jobs_CPU "(7 + ${cores}) / ${cores}")
  math(EXPR days_jobs_GPU "(7 + ${at_a_time}) / ${at_a_time}")
endif()

set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${DAYS_ROOT}/tests/seconds.json")
file(READ "${DAYS_ROOT}/tests/seconds.json" days_test_seconds)
set(days_seconds_of ${DAYS_BACKEND})
if(DAYS_BACKEND STREQUAL "simt")
  if(DAYS_CHECKED)
    set(days_seconds_of cpu-checked)
  else()
    set(days_seconds_of cpu)
  endif()
endif()

function(days_test_order test where)
  string(JSON seconds ERROR_VARIABLE unknown GET "${days_test_seconds}" ${days_seconds_of} ${test})
  if(unknown)
    set(seconds 1000)
    if(test MATCHES "^day([0-9]+)")
      math(EXPR seconds "1000 + ${CMAKE_MATCH_1}")
    endif()
  endif()
  set_tests_properties(${test} PROPERTIES COST "${seconds}")
  if(DAYS_BACKEND STREQUAL "cuda")
    set_tests_properties(${test} PROPERTIES PROCESSORS "${days_jobs_${where}}")
  endif()
endfunction()
