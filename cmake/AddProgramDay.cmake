# SPDX-License-Identifier: MIT
# add_program_day(folder): every target of a day of the kind `program` (CONTRIBUTING.md, "Kinds of days").
#
#   day60_NAME            each program NN_NAME.cu, with the kernels of the days that the note `uses:`
#   day60_exercise        the learner's skeleton, which is built and not run: it fails
#   day60_mistakes_NAME   each wrong program mistakes/NAME.cu; on the CPU alone, which sees the mistake each time
#   day60_test            the folder's tests/, which runs the programs and the mistakes
days_setting(program_source program)   # behind common/program.h, compiled once for all
add_library(days_program OBJECT)
days_sources(days_program "${DAYS_ROOT}/${program_source}")

function(add_program_day folder)
  cmake_path(GET folder FILENAME name)                              # day60_streams_and_graphs
  string(REGEX MATCH "^day[0-9]+" day "${name}")                    # day60
  file(GLOB programs CONFIGURE_DEPENDS "${folder}/*.cu")
  days_uses(uses "${folder}")
  set(libraries ${uses})
  list(FILTER libraries INCLUDE REGEX "^days_")
  foreach(library IN LISTS libraries)
    if(NOT TARGET ${library})
      message(STATUS "${name}: left out without nlohmann's JSON (apt-get install nlohmann-json3-dev)")
      return()
    endif()
  endforeach()
  set(made "")
  foreach(program IN LISTS programs)
    cmake_path(GET program STEM stem)
    string(REGEX REPLACE "^[0-9][0-9]_" "" stem "${stem}")
    days_executable(${day}_${stem} "${program}")
    target_link_libraries(${day}_${stem} PRIVATE days_program days_core ${uses})
    list(APPEND made ${day}_${stem})
  endforeach()
  if(DAYS_BACKEND STREQUAL "simt")
    file(GLOB mistakes CONFIGURE_DEPENDS "${folder}/mistakes/*.cu")
    foreach(mistake IN LISTS mistakes)
      cmake_path(GET mistake STEM stem)
      days_executable(${day}_mistakes_${stem} "${mistake}")
      if(uses)
        target_link_libraries(${day}_mistakes_${stem} PRIVATE days_program days_core ${uses})
      endif()
      list(APPEND made ${day}_mistakes_${stem})
    endforeach()
  endif()
  if(NOT DAYS_TESTS)
    return()
  endif()
  file(GLOB tests CONFIGURE_DEPENDS "${folder}/tests/*.cpp" "${folder}/tests/*.cu")
  days_test(${day}_test ${day} ${tests})
  target_compile_definitions(${day}_test PRIVATE "DAYS_FOLDER=\"${folder}\""
    "DAYS_PROGRAMS=\"${CMAKE_RUNTIME_OUTPUT_DIRECTORY}\"" $<$<BOOL:${DAYS_CHECKED}>:DAYS_CHECKED_BUILD>)
  target_link_libraries(${day}_test PRIVATE days_program days_core ${uses})
  add_dependencies(${day}_test ${made})
endfunction()
