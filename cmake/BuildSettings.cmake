# SPDX-License-Identifier: MIT
# Reads build.json, which ./days reads too, and turns its flags into one interface library for the course's own code.

set(DAYS_ROOT "${CMAKE_CURRENT_SOURCE_DIR}")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${DAYS_ROOT}/cmake/build.json")
file(READ "${DAYS_ROOT}/cmake/build.json" DAYS_BUILD_JSON)

# days_setting(OUT key...): the value at that path of build.json, a JSON array as a CMake list, "" where there is none
function(days_setting out)
  string(JSON type ERROR_VARIABLE missing TYPE "${DAYS_BUILD_JSON}" ${ARGN})
  if(missing)
    set(${out} "" PARENT_SCOPE)
    return()
  endif()
  string(JSON value GET "${DAYS_BUILD_JSON}" ${ARGN})
  if(type STREQUAL "ARRAY")
    string(JSON count LENGTH "${DAYS_BUILD_JSON}" ${ARGN})
    set(array "${value}")
    set(value "")
    foreach(i RANGE 1 ${count})
      math(EXPR i "${i} - 1")
      string(JSON element GET "${array}" ${i})
      list(APPEND value "${element}")
    endforeach()
  endif()
  set(${out} "${value}" PARENT_SCOPE)
endfunction()

# days_globs(OUT pattern...): the files that patterns relative to the root name, looked up again when one comes or goes
function(days_globs out)
  set(files "")
  foreach(pattern IN LISTS ARGN)
    file(GLOB found CONFIGURE_DEPENDS "${DAYS_ROOT}/${pattern}")
    list(APPEND files ${found})
  endforeach()
  set(${out} "${files}" PARENT_SCOPE)
endfunction()

# What every target of the course is compiled with. No build type is needed: the flags are build.json's.
add_library(days_settings INTERFACE)
target_include_directories(days_settings INTERFACE "${DAYS_ROOT}")
days_setting(cxx_standard cxx standard)
foreach(kind flags warnings werror)
  days_setting(cxx_${kind} cxx ${kind})
  days_setting(cuda_${kind} cuda ${kind})
endforeach()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 and 13 see overlapping copies in std::string where there are none (GCC bug 105651).
  list(APPEND cxx_warnings -Wno-restrict)
  list(APPEND cuda_warnings -Xcompiler=-Wno-restrict)
elseif(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # CUDA's vector types have an inner struct here: float2 x = {1, 2} would be warned about.
  list(APPEND cxx_warnings -Wno-missing-braces)
endif()
if(NOT DAYS_WERROR)
  set(cxx_werror "")
  set(cuda_werror "")
endif()
target_compile_options(days_settings INTERFACE
  "-std=${cxx_standard}"
  "$<$<COMPILE_LANGUAGE:CXX>:${cxx_flags};${cxx_warnings};${cxx_werror}>"
  "$<$<COMPILE_LANGUAGE:CUDA>:${cuda_flags};${cuda_warnings};${cuda_werror}>")
days_setting(cxx_link cxx link)
target_link_options(days_settings INTERFACE ${cxx_link})
