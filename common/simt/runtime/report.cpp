// SPDX-License-Identifier: MIT
#include "report.h"

#include <dlfcn.h>
#include <driver_types.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <mutex>

#if __has_include(<backtrace.h>)
#include <backtrace.h>
#define SIMT_LIBBACKTRACE 1
#endif

namespace simt {

// ---- source lines ----

namespace {

struct Line {
  std::string file;
  int number = 0;
};

std::string shorten(std::string file) {
  char cwd[4096];
  if (getcwd(cwd, sizeof(cwd))) {
    const std::string here = std::string(cwd) + "/";
    if (file.compare(0, here.size(), here) == 0) return file.substr(here.size());
  }
  return file;
}

bool is_ours(const std::string& file) {
  return file.find("common/simt/include/") != std::string::npos ||
         file.find("common/simt/runtime/") != std::string::npos || file.compare(0, 5, "/usr/") == 0;
}

#if defined(SIMT_LIBBACKTRACE)

// Inlined frames come innermost first; the first one outside the CUDA headers is the user's.
int take_line(void* data, std::uintptr_t, const char* file, int number, const char*) {
  if (!file || is_ours(file)) return 0;
  *static_cast<Line*>(data) = {file, number};
  return 1;
}
void no_line(void*, const char*, int) {}

Line find_line(const void* address) {
  static backtrace_state* state = backtrace_create_state(nullptr, 1, no_line, nullptr);
  Line line;
  backtrace_pcinfo(state, reinterpret_cast<std::uintptr_t>(address), take_line, no_line, &line);
  return line;
}

#else

// The platform's symboliser as a program of its own: addr2line, llvm-symbolizer or atos.
Line find_line(const void* address) {
  Dl_info info{};
  if (!dladdr(address, &info) || !info.dli_fname) return {};
  const auto at = reinterpret_cast<std::uintptr_t>(address),
             base = reinterpret_cast<std::uintptr_t>(info.dli_fbase);
  char command[4400];
#if defined(__APPLE__)
  std::snprintf(command, sizeof(command),
                "atos -i -fullPath -o '%s' -l 0x%zx 0x%zx 2>/dev/null | sed 's/.*(\\(.*\\))/\\1/'",
                info.dli_fname, static_cast<std::size_t>(base), static_cast<std::size_t>(at));
#else
  std::snprintf(command, sizeof(command),
                "addr2line -i -e '%s' 0x%zx 2>/dev/null || llvm-symbolizer --no-demangle --functions=none -e "
                "'%s' 0x%zx 2>/dev/null",
                info.dli_fname, static_cast<std::size_t>(at - base), info.dli_fname,
                static_cast<std::size_t>(at - base));
#endif
  Line line;
  if (FILE* pipe = popen(command, "r")) {
    char text[4096];
    while (!line.number && std::fgets(text, sizeof(text), pipe)) {
      char* colon = nullptr;
      for (char* c = text; *c; ++c) {
        if (*c == ':' && c[1] >= '0' && c[1] <= '9') {
          colon = c;
          break;
        }
      }
      if (!colon) continue;
      *colon = 0;
      if (!is_ours(text)) line = {text, std::atoi(colon + 1)};
    }
    pclose(pipe);
  }
  return line;
}

#endif

std::string source_text(const std::string& place) {
  const auto colon = place.rfind(':');
  if (colon == std::string::npos) return {};
  std::ifstream file(place.substr(0, colon));
  std::string text;
  for (int i = std::atoi(place.c_str() + colon + 1); i > 0 && std::getline(file, text); --i) {
    if (i > 1) continue;
    const auto first = text.find_first_not_of(" \t");
    return first == std::string::npos ? "" : text.substr(first);
  }
  return {};
}

std::mutex report_mutex;
int first_error = 0;  // sticky, guarded by report_mutex; read without it where a stale 0 does no harm
bool reported = false;
std::chrono::steady_clock::time_point deadline;

// A program that ignores every error still ends with 1.
void end_with_failure() {
  if (!reported) return;
  std::fflush(nullptr);
  _exit(1);
}

}  // namespace

std::string place(const void* return_address) {
  if (!return_address) return "?";
  const Line line = find_line(static_cast<const char*>(return_address) - 1);
  return line.number ? shorten(line.file) + ":" + std::to_string(line.number) : "?";
}

std::string format_text(const char* format, va_list arguments) {
  char text[1000];
  std::vsnprintf(text, sizeof(text), format, arguments);
  return text;
}

void print_report(const char* slug, const std::string& where, const std::string& message) {
  static bool registered = (std::atexit(end_with_failure), true);
  (void)registered;
  reported = true;
  std::string text = "error: " + message + " [" + slug + "]\n";
  if (Thread* t = current) {
    const uint3 b = t->block->index;
    char who[300];
    std::snprintf(who, sizeof(who), "%s  kernel %s, block (%u,%u,%u), thread (%u,%u,%u)\n", where.c_str(),
                  running->kernel->name, b.x, b.y, b.z, t->index.x, t->index.y, t->index.z);
    text += who;
  } else if (!where.empty()) {
    text += where + "\n";
  }
  const std::string source = source_text(where);
  if (!source.empty()) text += "    " + source + "\n";
  std::fflush(stdout);
  std::fputs(text.c_str(), stderr);
}

bool claim_failure(int error) {
  if (first_error) return false;
  first_error = error;
  return true;
}

// ---- failing ----

[[noreturn]] static void fail_text(int error, const char* slug, const void* address,
                                   const std::string& message) {
  {
    std::lock_guard<std::mutex> guard(report_mutex);
    if (!current) {
      print_report(slug, place(address), message);
      std::fflush(nullptr);
      _exit(1);
    }
    if (claim_failure(error)) print_report(slug, place(address), message);
  }
  abandon();
}

void fail(const char* slug, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const std::string message = format_text(format, arguments);
  va_end(arguments);
  fail_text(cudaErrorLaunchFailure, slug, __builtin_return_address(0), message);
}

void fail_with(int error, const char* slug, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const std::string message = format_text(format, arguments);
  va_end(arguments);
  fail_text(error, slug, __builtin_return_address(0), message);
}

void fail_at(const void* address, const char* slug, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const std::string message = format_text(format, arguments);
  va_end(arguments);
  fail_text(cudaErrorLaunchFailure, slug, address, message);
}

void inline_ptx(const char* code) {
  fail_at(__builtin_return_address(0), "simt-launch", "inline PTX cannot run on the CPU: %s", code);
}

void report(const char* slug, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const std::string message = format_text(format, arguments);
  va_end(arguments);
  std::lock_guard<std::mutex> guard(report_mutex);
  print_report(slug, place(__builtin_return_address(0)), message);
}

void report_deadlock(Worker* w) {
  std::lock_guard<std::mutex> guard(report_mutex);
  for (std::size_t i = 0; i < w->resident; ++i) {
    for (Thread& thread : w->blocks[i]->threads) {
      if (thread.state == State::done || !claim_failure(cudaErrorLaunchFailure)) continue;
      current = &thread;
      unsigned waiting[6] = {};
      for (const Thread& t : w->blocks[i]->threads) ++waiting[static_cast<int>(t.state)];
      std::string message = "the block can never go on:";
      for (int s = 1; s < 6; ++s) {
        if (waiting[s]) message += " " + std::to_string(waiting[s]) + " threads " + kStateNames[s] + ",";
      }
      message.pop_back();
      const bool lanes = thread.state == State::at_collective;
      if (lanes) {
        char mask[120];
        std::snprintf(mask, sizeof(mask), "; warp %u: mask 0x%08x, arrived 0x%08x, live 0x%08x",
                      thread.warp->id, thread.warp->lanes[thread.lane].mask, thread.warp->waiting,
                      thread.warp->present & ~thread.warp->exited);
        message += mask;
      }
      print_report(lanes ? "simt-warp-mask" : "simt-barrier-divergence", place(thread.site), message);
      current = nullptr;
    }
  }
}

// ---- time limit ----

void begin_time_limit() {
  deadline =
      std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                             std::chrono::duration<double>(settings().timeout));
}

void check_time_limit() {
  if (std::chrono::steady_clock::now() < deadline) return;
  if (current)
    fail_text(cudaErrorLaunchTimeout, "simt-hang", current->site,
              "the kernel has run for " + std::to_string(static_cast<int>(settings().timeout)) +
                  " s (SIMT_TIMEOUT): what this thread waits for never comes");
  running->aborted = true;
}

// ---- error state ----

static thread_local int own_error;

int sticky_error() {
  return first_error;
}
int set_error(int error) {
  if (error) own_error = error;
  return error;
}
int last_error(bool clear) {
  if (first_error) return first_error;
  const int error = own_error;
  if (clear) own_error = 0;
  return error;
}
void clear_errors() {
  first_error = own_error = 0;
}

}  // namespace simt
