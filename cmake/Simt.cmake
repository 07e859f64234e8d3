# SPDX-License-Identifier: MIT
# The CPU backend. simtcc stands before the C++ compiler as its launcher: it turns a .cu file into C++ and passes
# everything else through, so that dependency files, compile_commands.json and incremental builds work as for any C++.

days_setting(simt_include simt include)
days_setting(translator simt translator)
days_setting(translator_main simt translator_main)
days_setting(translator_flags simt translator_flags)
days_setting(runtime_sources simt runtime)
days_setting(simt_defines simt defines)
days_setting(simt_own_defines simt own_defines)
set(simt_include "${DAYS_ROOT}/${simt_include}")

# days_lighter(file...): build.json's flags for what need not be fast or debugged, for those of the files that it names.
# Later flags win over days_settings' own. Source properties hold in one folder: called where the target is made.
string(JSON lighter_count LENGTH "${DAYS_BUILD_JSON}" simt lighter)
math(EXPR lighter_last "${lighter_count} - 1")
foreach(i RANGE ${lighter_last})
  days_setting(lighter_sources_${i} simt lighter ${i} sources)
  days_globs(lighter_sources_${i} ${lighter_sources_${i}})
  days_setting(lighter_flags_${i} simt lighter ${i} flags)
endforeach()
days_setting(checked_flags simt checked_flags)
function(days_lighter)
  foreach(file IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH file)
    get_source_file_property(given "${file}" COMPILE_OPTIONS)
    if(given)   # a batch's
      continue()
    endif()
    set(flags "")
    if(file MATCHES "\\.cu$")   # a report needs lines alone; for gdb's variables there is ./days run
      set(flags "-g1")
      if(DAYS_CHECKED)   # the checker takes most of a kernel's time: build it soon
        set(flags "${checked_flags}")
      endif()
      if(DAYS_MUTANTS)   # most runs end at once: build it soon, too
        set(flags -O1 -g1)
      endif()
    endif()
    foreach(i RANGE ${lighter_last})
      if(file IN_LIST lighter_sources_${i})
        set(flags "${lighter_flags_${i}}")
      endif()
    endforeach()
    set_source_files_properties("${file}" PROPERTIES COMPILE_OPTIONS "${flags}")
  endforeach()
endfunction()

# days_batches(OUT name file...): the files, but .cu files of one set of flags eight at a time, as a file that includes them: of
# what a test of a small program takes to compile, most is the headers. So each of these has a namespace of its own.
function(days_batches out name)
  set(result ${ARGN})
  list(FILTER result EXCLUDE REGEX "\\.cu$")
  list(FILTER ARGN INCLUDE REGEX "\\.cu$")
  days_lighter(${ARGN})
  set(kinds "")
  foreach(file IN LISTS ARGN)
    get_source_file_property(flags "${file}" COMPILE_OPTIONS)
    string(MAKE_C_IDENTIFIER "${name}${flags}" kind)
    if(NOT kind IN_LIST kinds)
      list(APPEND kinds ${kind})
      set(${kind} "")
      set(${kind}_flags "${flags}")
    endif()
    list(APPEND ${kind} "${file}")
  endforeach()
  foreach(kind IN LISTS kinds)
    set(number 0)
    while(${kind})
      list(SUBLIST ${kind} 0 8 files)
      list(REMOVE_ITEM ${kind} ${files})
      list(TRANSFORM files REPLACE "(.+)" "#include \"\\1\"\n")
      string(JOIN "" text ${files})
      math(EXPR number "${number} + 1")
      set(batch "${CMAKE_CURRENT_BINARY_DIR}/${kind}_${number}.cu")
      file(CONFIGURE OUTPUT "${batch}" CONTENT "${text}" @ONLY)
      set_source_files_properties("${batch}" PROPERTIES COMPILE_OPTIONS "${${kind}_flags}")
      list(APPEND result "${batch}")
    endwhile()
  endforeach()
  set(${out} "${result}" PARENT_SCOPE)
endfunction()

add_library(translator OBJECT "${DAYS_ROOT}/${translator}")   # its tests are linked with it
target_compile_options(translator PUBLIC "-std=${cxx_standard}" ${translator_flags} ${cxx_warnings} ${cxx_werror})
target_compile_definitions(translator PUBLIC "SIMT_INCLUDE_DIR=\"${simt_include}\"")
add_executable(simtcc "${DAYS_ROOT}/${translator_main}")
target_link_libraries(simtcc PRIVATE translator)
set(DAYS_SIMTCC "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/simtcc${CMAKE_EXECUTABLE_SUFFIX}")

days_globs(runtime_sources ${runtime_sources})
add_library(simt STATIC ${runtime_sources})
days_lighter(${runtime_sources})
target_link_libraries(simt PUBLIC days_settings)
target_compile_definitions(simt PUBLIC ${simt_defines} ${simt_own_defines})
target_include_directories(simt SYSTEM PUBLIC "${simt_include}")
days_setting(runtime_flags simt runtime_flags)   # the same objects serve a day's shared library
target_compile_options(simt PRIVATE ${runtime_flags})
days_setting(runtime_include simt runtime_include)
target_include_directories(simt PRIVATE "${DAYS_ROOT}/${runtime_include}")
target_link_libraries(simt PUBLIC ${CMAKE_DL_LIBS})

# libbacktrace comes with GCC; without it a report's lines come from the platform's symboliser.
include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_LIBRARIES backtrace)
check_cxx_source_compiles([[
extern "C" void* backtrace_create_state(const char*, int, void (*)(void*, const char*, int), void*);
int main() { return backtrace_create_state(nullptr, 0, nullptr, nullptr) == nullptr; }
]] DAYS_HAVE_LIBBACKTRACE)
unset(CMAKE_REQUIRED_LIBRARIES)
if(DAYS_HAVE_LIBBACKTRACE)
  target_link_libraries(simt PUBLIC backtrace)
  target_compile_definitions(simt PRIVATE SIMT_LIBBACKTRACE=1)
endif()

set(DAYS_LAUNCHER "${DAYS_SIMTCC}")
if(DAYS_CHECKED)
  days_setting(checked simt checked)
  list(APPEND DAYS_LAUNCHER ${checked})
endif()
if(DAYS_MUTANTS)
  list(APPEND DAYS_LAUNCHER --simt-mutants)
endif()
