// SPDX-License-Identifier: MIT
//
// What goes wrong, and how it is said. A Failure is what a thread of a kernel did wrong; report.cpp prints it with the source line
// that symbols.cpp finds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "user_view.h"

namespace simt {

struct Launch;
struct Worker;

// What went wrong in a launch: first in the first of its units that failed.
struct Failure {
  const char* slug = "";
  std::string title, details;  // details: further lines, already formatted
  std::string places;          // instead of site and frames: lines "path:LINE  ...", already formatted
  cudaError_t error = cudaErrorLaunchFailure;
  bool has_thread = false;
  uint3 block = {0, 0, 0}, thread = {0, 0, 0};
  Site site;                  // if known, else the first user frame of:
  std::vector<void*> frames;  // return addresses, innermost first
  bool by_caller = false;     // the place is the one after it: not the kernel's, but its launch's
};

// ---- report.cpp ----
[[noreturn]] void fail_at(Site site, const char* slug, const char* format, ...)
    __attribute__((format(printf, 3, 4)));
[[noreturn]] void abandon(Failure failure);            // by the running thread
void record_failure(Launch& launch, Failure failure);  // by a worker's main stack
void print_failure(const Failure& failure, const char* kernel);
Failure failure_here(const char* slug, const std::string& message);
std::string format_text(const char* format, ...) __attribute__((format(printf, 1, 2)));
std::string bytes_text(std::size_t bytes);  // "1 byte", "48 bytes"
// Where a byte lies that is `bytes` past the end of something: "right past the end of" for the first one.
std::string past_end_of(std::ptrdiff_t bytes);
std::string place(Site site);                  // "path:LINE"
std::string place_of(const Failure& failure);  // the same of the user's line; empty: unknown
void count_report();
void set_sticky(cudaError_t error);
cudaError_t error_of(const char* slug);
// errors.cpp: sets the error, and reports it at the program's end if nobody asks for it.
void refuse_launch(const Kernel& kernel, dim3 grid, dim3 block, cudaError_t error, const std::string& why);

// ---- symbols.cpp ----
struct Line {
  std::string file;
  int line = 0;
  bool user = false;  // not in simt's own files or the standard library
};
bool is_runtime_file(const std::string& file);     // simt's, and no header that kernels include
bool is_system_file(const std::string& file);      // the standard library's, say
std::vector<Line> lines_of(void* return_address);  // innermost inlined function first
std::string shown_path(const std::string& file);   // relative to the working folder or the repository
// One line of a file, empty where it cannot be read; source_text() without its indentation.
std::string source_line(const std::string& file, int line);
std::string source_text(const std::string& file, int line);
std::vector<void*> capture_frames(int most);
constexpr int kFrames = 24;  // that a report looks at
// The variable of the program (not of its other libraries) that an address lies in, by the linker's table; name: as C++ writes it.
bool variable_around(const void* address, const char** begin, std::size_t* bytes, std::string* name);

// ---- deadlock.cpp, faults.cpp ----
void report_deadlock(Worker& w);
std::string who_waits_where(const Worker& w);
void install_fault_handlers();
void enter_fault_stack();  // of this OS thread
void start_watchdog();

}  // namespace simt
