# SPDX-License-Identifier: MIT
# The CPU backend. simtcc stands before the C++ compiler as its launcher: it turns a .cu file into C++ and passes
# everything else through, so that dependency files, compile_commands.json and incremental builds work as for any C++.

days_setting(simt_include simt include)
days_setting(translator_sources simt translator)
days_setting(translator_flags simt translator_flags)
days_setting(runtime_sources simt runtime)
days_setting(simt_defines simt defines)
set(simt_include "${DAYS_ROOT}/${simt_include}")

days_globs(translator_sources ${translator_sources})
add_executable(simtcc ${translator_sources})
target_compile_options(simtcc PRIVATE "-std=${cxx_standard}" ${translator_flags} ${cxx_warnings} ${cxx_werror})
target_compile_definitions(simtcc PRIVATE "SIMT_INCLUDE_DIR=\"${simt_include}\"")
set(DAYS_SIMTCC "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/simtcc${CMAKE_EXECUTABLE_SUFFIX}")

days_globs(runtime_sources ${runtime_sources})
add_library(simt STATIC ${runtime_sources})
target_link_libraries(simt PUBLIC days_settings)
target_compile_definitions(simt PUBLIC ${simt_defines})
target_include_directories(simt SYSTEM PUBLIC "${simt_include}")
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
endif()

set(DAYS_LAUNCHER "${DAYS_SIMTCC}")
if(DAYS_CHECKED)
  days_setting(checked simt checked)
  list(APPEND DAYS_LAUNCHER ${checked})
endif()
