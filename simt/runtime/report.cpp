// SPDX-License-Identifier: MIT
//
// Failure reports. Their form, which tests and tools read:
//
//   error: out of bounds on global memory [simt-oob-global]
//   day01_vector_add/02_x.cu:17  kernel vector_add, block (3,0,0), thread (33,0,0)
//       y[i] = x[i];
//   further lines
#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "doubts.h"
#include "workers.h"

namespace simt {
namespace {

std::string format_list(const char* format, va_list arguments) {
  char text[4096];
  std::vsnprintf(text, sizeof text, format, arguments);
  return text;
}

// The first line is the title, the rest are details.
void split(const std::string& message, Failure& failure) {
  const std::size_t end = message.find('\n');
  failure.title = message.substr(0, end);
  if (end != std::string::npos) failure.details = message.substr(end + 1);
}

// The innermost place in the user's files, and the calls that led there from other lines of them.
std::vector<Line> user_lines(const Failure& failure) {
  if (failure.by_caller) {
    Failure callers = failure;
    callers.by_caller = false;
    std::vector<Line> lines = user_lines(callers);
    if (lines.size() > 1) lines.erase(lines.begin());
    return lines;
  }
  std::vector<Line> lines;
  if (failure.site.line > 0) lines.push_back({failure.site.file, failure.site.line, true});
  bool found = false;
  for (void* frame : failure.frames) {
    const std::vector<Line> inlined = lines_of(frame);
    const bool here = std::any_of(inlined.begin(), inlined.end(), [](const Line& line) { return line.user; });
    if (found && !here) break;  // below the kernel lies only the runtime
    found = here;
    for (const Line& line : inlined) {
      if (!line.user) continue;
      if (!lines.empty() && lines.back().file == line.file && lines.back().line == line.line) continue;
      lines.push_back(line);
    }
  }
  return lines;
}

// "day05_matmul/x.cu" and an absolute path to it are the same file.
bool same_file(const std::string& a, const std::string& b) {
  return shown_path(a) == shown_path(b);
}

// common/program.h and common/program/ call the body of every program of their days. That they do tells nobody
// where a mistake is.
bool runs_the_body(const std::string& file) {
  return shown_path(file).rfind("common/program", 0) == 0;
}

}  // namespace

std::string format_text(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::string text = format_list(format, arguments);
  va_end(arguments);
  return text;
}

std::string bytes_text(std::size_t bytes) {
  return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
}

std::string past_end_of(std::ptrdiff_t bytes) {
  return bytes == 0 ? "right past the end of"
                    : bytes_text(static_cast<std::size_t>(bytes)) + " past the end of";
}

std::string place(Site site) {
  const OwnWork own;
  if (!site.file) return "?";
  return shown_path(site.file) + ":" + std::to_string(site.line);
}

std::string place_of(const Failure& failure) {
  const std::vector<Line> lines = user_lines(failure);
  return lines.empty() ? "" : shown_path(lines[0].file) + ":" + std::to_string(lines[0].line);
}

void print_failure(const Failure& failure, const char* kernel) {
  const OwnWork own;
  std::string text = "error: " + failure.title + " [" + failure.slug + "]\n";
  std::vector<Line> lines = failure.places.empty() ? user_lines(failure) : std::vector<Line>();
  std::string who;
  if (failure.has_thread) {
    const uint3 b = failure.block, t = failure.thread;
    who = format_text("kernel %s, block (%u,%u,%u), thread (%u,%u,%u)", kernel, b.x, b.y, b.z, t.x, t.y, t.z);
  }
  if (!lines.empty()) {
    text += shown_path(lines[0].file) + ":" + std::to_string(lines[0].line);
    if (!who.empty()) text += "  " + who;
    text += "\n";
    const std::string source = source_text(lines[0].file, lines[0].line);
    if (!source.empty()) text += "    " + source + "\n";
    std::size_t shown = 1;
    for (const Line& line : lines) {  // a helper in another file: show who called it
      if (same_file(line.file, lines[0].file) || runs_the_body(line.file)) continue;
      text += shown_path(line.file) + ":" + std::to_string(line.line) + "  calls it\n";
      if (++shown > 3) break;
    }
  } else if (!failure.places.empty()) {
    text += failure.places;
  } else if (!who.empty()) {
    text += who + "\n";
  }
  if (!failure.details.empty()) text += failure.details + "\n";
  std::fflush(stdout);
  std::fputs(text.c_str(), stderr);
  count_report();
}

Failure failure_here(const char* slug, const std::string& message) {
  const OwnWork own;
  Failure failure;
  failure.slug = slug;
  failure.error = error_of(slug);
  split(message, failure);
  if (current) {
    failure.has_thread = true;
    failure.block = current->block->index;
    failure.thread = current->index;
  }
  return failure;
}

// Keeps the failure of the first unit, and of it the first: later ones are its consequences. So is a hang of an earlier unit: it
// waits for one that has stopped.
void record_failure(Launch& launch, Failure failure) {
  const OwnWork own;
  if (worker) prefer_unwritten(failure);
  const std::uint64_t unit = worker ? worker->unit : 0;
  std::lock_guard<std::mutex> lock(launch.mutex);
  if (!launch.failed || (unit < launch.failed_unit && std::strcmp(failure.slug, "simt-hang") != 0)) {
    launch.failed = true;
    launch.failure = std::move(failure);
  }
  launch.failed_unit = std::min<std::uint64_t>(launch.failed_unit, unit);
  launch.grid_changed.notify_all();
}

void abandon(Failure failure) {
  if (!worker) {
    print_failure(failure, "");
    std::exit(1);
  }
  record_failure(*worker->launch, std::move(failure));
  own_work = false;  // whose objects on this stack are abandoned with it
  forget_atomic();
  static thread_local Context abandoned;
  leave(&abandoned);
  std::abort();  // nobody resumes an abandoned fiber
}

void fail(const char* slug, const char* format, ...) {
  const OwnWork own;
  va_list arguments;
  va_start(arguments, format);
  Failure failure = failure_here(slug, format_list(format, arguments));
  va_end(arguments);
  failure.frames = capture_frames(kFrames);
  abandon(std::move(failure));
}

void fail_at(Site site, const char* slug, const char* format, ...) {
  const OwnWork own;
  va_list arguments;
  va_start(arguments, format);
  Failure failure = failure_here(slug, format_list(format, arguments));
  va_end(arguments);
  failure.site = site;
  failure.frames = capture_frames(kFrames);
  abandon(std::move(failure));
}

void fail_assert(const char* expression, const char* file, int line) {
  const OwnWork own;
  Failure failure = failure_here("simt-assert", format_text("assertion failed: %s", expression));
  failure.site = {file, line};
  abandon(std::move(failure));
}

void report_host(const char* slug, const char* format, ...) {
  const OwnWork own;
  va_list arguments;
  va_start(arguments, format);
  Failure failure = failure_here(slug, format_list(format, arguments));
  va_end(arguments);
  failure.frames = capture_frames(kFrames);
  print_failure(failure, "");
}

}  // namespace simt
