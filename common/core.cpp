// SPDX-License-Identifier: MIT
//
// What every program of the course is linked with, once, whatever else it holds: what common/check.h throws, and
// common/progress.h. Kernels need nothing else of common/ that is not a header.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "common/check.h"
#include "common/error.h"
#include "common/progress.h"

namespace days {
namespace detail {

void throw_cuda_error(cudaError_t code, const char* expression, const char* file, int line) {
  throw CudaError(code, expression, file, line);
}

void throw_invalid_argument(std::initializer_list<Piece> pieces) {
  std::string text;
  for (const Piece& piece : pieces) {
    if (piece.kind == Piece::kText) {
      text += piece.text;
      continue;
    }
    text += ' ';  // not " " + ..., for which g++ 12 warns of an overlap that cannot be
    text += piece.kind == Piece::kReal     ? std::to_string(piece.real)
            : piece.kind == Piece::kSigned ? std::to_string(static_cast<long long>(piece.whole))
                                           : std::to_string(piece.whole);
  }
  throw std::invalid_argument(text);
}

}  // namespace detail

namespace {

struct Progress {
  int file = -1;
  bool begun = false, ended = false;
  std::string at;  // the step that runs now
  // A process that the kernel's file forks has none of this program's words to say.
  pid_t process = 0;
};

// Never destroyed: exit() may run while a step does.
Progress& progress() {
  static Progress& only = *new Progress;
  return only;
}

void write_line(const std::string& text) {
  const Progress& now = progress();
  if (now.file < 0 || !progress_is_ours()) return;
  std::string line = text;
  std::replace(line.begin(), line.end(), '\n', ' ');
  line += '\n';
  [[maybe_unused]] const ssize_t written = ::write(now.file, line.data(), line.size());
}

// exit() was called. The program ends here: had a kernel called it, the CPU backend's own exit handlers would
// wait for that kernel for ever.
void at_exit(int status) {
  const Progress& now = progress();
  if (now.ended || !progress_is_ours()) return;
  std::fflush(stdout);
  if (status == 0)
    std::fprintf(stderr, "error: exit() was called at %s\n", now.at.empty() ? "the start" : now.at.c_str());
  std::fflush(nullptr);
  _exit(status != 0 ? status : 1);
}

}  // namespace

void progress_begin() {
  Progress& now = progress();
  if (now.begun) return;
  now.begun = true;
  now.process = getpid();
  if (const char* file = std::getenv("DAYS_PROGRESS"); file != nullptr) {
    now.file = std::atoi(file);
    fcntl(now.file, F_SETFD, FD_CLOEXEC);  // what this program starts has neither pipe nor descriptor
    unsetenv("DAYS_PROGRESS");
  }
  write_line("begin");
#if defined(__GLIBC__)
  on_exit([](int status, void*) { at_exit(status); }, nullptr);
#else
  std::atexit([] { at_exit(0); });  // the status is not known here
#endif
}

void progress_at(const std::string& what) {
  progress().at = what;
  write_line("at " + what);
}

bool progress_is_ours() {
  return getpid() == progress().process;
}

int progress_end(int code) {
  Progress& now = progress();
  if (!now.ended) write_line("end " + std::to_string(code));
  now.ended = true;
  return code;
}

}  // namespace days
