// SPDX-License-Identifier: MIT
//
// With --pattern an animation; without it the ladders, as every day has them.

#include <sys/stat.h>

#include <cstdio>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "common/animation.h"
#include "common/error.h"
#include "common/output.h"
#include "common/progress.h"
#include "common/run_day.h"
#include "day33_animated_patterns/animation.h"

namespace day33 {
namespace {

constexpr int kFailed = 1, kMachine = 3;  // exit codes, as run_day's

constexpr const char* kHelp =
    "\nThis day alone:\n"
    "  --pattern NAME   an animation: plasma, waves, mandelbrot or gray_scott. With it go\n"
    "  --size 320x180   width and height in pixels\n"
    "  --frames 60      how many\n"
    "  --fps 25         how many a second, in a GIF\n"
    "  --out FILE.gif   or a folder, for PNG frames (build/NAME.gif)\n";

int fail(int code, const std::string& line, const std::string& next = "") {
  std::fflush(stdout);
  std::fprintf(stderr, "error: %s\n", line.c_str());
  if (!next.empty()) std::fprintf(stderr, "  %s\n", next.c_str());
  return code;
}

int run_animation(const std::vector<std::string>& words) {
  try {
    Request request = parse_request(words);
    if (request.out.empty()) {
      static_cast<void>(::mkdir("build", 0777));  // free_bytes() says it where that failed
      request.out = "build/" + request.pattern + (days::animation_files() != nullptr ? ".gif" : "_frames");
    }
    animate(request);
    const std::string lost = days::lost_output();
    return lost.empty() ? 0 : fail(kMachine, lost);
  } catch (const days::ImageError& error) {
    return fail(error.code(), error.what(), error.next());
  } catch (const days::CudaError& error) {
    const std::string machine = days::machine_error(error.code());
    if (!machine.empty()) return fail(kMachine, machine, "./days doctor");
    if (error.code() == cudaErrorMemoryAllocation)
      return fail(kMachine, "the GPU's memory is too small for these frames: take a smaller --size");
    return fail(kFailed, error.what());
  } catch (const std::bad_alloc&) {
    return fail(kMachine, "memory is full: take a smaller --size");
  }
}

}  // namespace
}  // namespace day33

int main(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  bool animation = false, help = false;
  for (const std::string& word : words) {
    animation = animation || word == "--pattern";
    help = help || word == "--help" || word == "-h";
  }
  if (animation && !help) {
    days::progress_begin();
    return days::progress_end(day33::run_animation(words));
  }
  const int code = days::run_day(argc, argv);
  if (help) std::fputs(day33::kHelp, stdout);
  return code;
}
