# SPDX-License-Identifier: MIT
# find_package(simt) gives
#
#   simt::simt                               the runtime with CUDA's headers, for a target that calls its API
#   simt_add_executable(NAME file...)        an executable of .cu and C++ files, in a project whose language is C++ alone
#
# A project whose language is CUDA needs neither: simt.cmake, beside this file, is its toolchain file.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
get_filename_component(SIMT_HOME "${CMAKE_CURRENT_LIST_DIR}/../../simt" ABSOLUTE)

if(NOT TARGET simt::simt)
  add_library(simt::simt STATIC IMPORTED)
  set_target_properties(simt::simt PROPERTIES
    IMPORTED_LOCATION "${SIMT_HOME}/libsimt.a"
    INTERFACE_INCLUDE_DIRECTORIES "${SIMT_HOME}/include"
    INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${SIMT_HOME}/include"
    INTERFACE_COMPILE_DEFINITIONS "__SIMT__=1"
    INTERFACE_LINK_LIBRARIES "Threads::Threads;${CMAKE_DL_LIBS}")
endif()

# The translator stands before the compiler as its launcher, so dependencies and incremental builds are as for any C++.
# SIMT_FLAGS, a variable, is for the translator: --simt-checked, --simt-rdc.
function(simt_add_executable name)
  add_executable(${name} ${ARGN})
  set(cuda_files ${ARGN})
  list(FILTER cuda_files INCLUDE REGEX "\\.cu$")
  set_source_files_properties(${cuda_files} PROPERTIES LANGUAGE CXX OBJECT_DEPENDS "${SIMT_HOME}/simt-translate")
  set(launcher "${CMAKE_COMMAND}" -E env "SIMT_INCLUDE=${SIMT_HOME}/include" "${SIMT_HOME}/simt-translate" ${SIMT_FLAGS})
  set_target_properties(${name} PROPERTIES CXX_COMPILER_LAUNCHER "${launcher}")
  target_compile_features(${name} PRIVATE cxx_std_17)
  target_link_libraries(${name} PRIVATE simt::simt)
endfunction()
