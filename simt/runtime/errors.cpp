// SPDX-License-Identifier: MIT
//
// The error state that CUDA's API shows, and the exit status of a program that ignored a report.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "device_memory.h"
#include "doubts.h"
#include "failures.h"
#include "operations.h"
#include "streams.h"

#include "cuda_runtime_api.h"

namespace simt {
namespace {

std::atomic<cudaError_t> sticky{cudaSuccess};
thread_local cudaError_t last = cudaSuccess;
std::atomic<int> report_count{0};

// A launch that was refused, until the program asks for its last error.
struct Refused {
  std::mutex mutex;
  bool unasked = false;
  Failure failure;
  std::string what;   // "copy, grid (0,1,1), block (32,1,1): invalid configuration argument"
  std::string why;    // "A block of 2048 threads; 1024 are the most."
  std::string noted;  // the last note
};
Refused& refused() {
  static Refused* refused = new Refused;
  return *refused;
}

// The error that the program gets names neither kernel nor extents: a note does, once for the same ones.
void ask() {
  std::lock_guard<std::mutex> lock(refused().mutex);
  if (!refused().unasked) return;
  refused().unasked = false;
  const std::string note = "note: kernel " + refused().what;
  if (note + refused().why == refused().noted) return;
  refused().noted = note + refused().why;
  const std::string place = place_of(refused().failure);
  std::fflush(stdout);
  std::fprintf(stderr, "%s\n%s%s%s\n", note.c_str(), place.c_str(), place.empty() ? "" : "  ",
               refused().why.c_str());
}

void report_unasked() {
  std::lock_guard<std::mutex> lock(refused().mutex);
  if (!refused().unasked) return;
  refused().unasked = false;
  print_failure(refused().failure, "");
}

// What a program or its kernels print and standard output does not take (a full disk, a closed stream) is
// lost: 3, as a good end would be a lie.
bool output_is_lost() {
  errno = 0;
  if (std::fflush(stdout) == 0 && !std::ferror(stdout)) return false;
  std::fprintf(stderr, "error: standard output: %s\n",
               errno != 0 ? std::strerror(errno) : "it did not take all that was written");
  return true;
}

void end_badly(int status) {
  std::fflush(nullptr);
  _exit(status);
}

#if defined(__GLIBC__)
void at_exit(int status, void*) {
  finish_at_exit();
  report_early_reads();
  report_unasked();
  if (status != 0) return;
#else
void at_exit() {  // the status is not known here
  finish_at_exit();
  report_early_reads();
  report_unasked();
#endif
  if (report_count > 0) end_badly(1);
  if (output_is_lost()) end_badly(3);
}

// Registered before main(), so that it runs after the program's own exit handlers.
const int registered = [] {
#if defined(__GLIBC__)
  return on_exit(at_exit, nullptr);
#else
  return std::atexit(at_exit);
#endif
}();

// The commonest reason stands in the title: n / chunks, or (n - 1) / 256 + 1 with an n of 0, is none.
std::string what_failed(dim3 grid, dim3 block) {
  const auto none = [](dim3 d) { return d.x == 0 || d.y == 0 || d.z == 0; };
  return none(grid)    ? "a launch of no blocks failed"
         : none(block) ? "a launch of blocks without threads failed"
                       : "a launch failed";
}

}  // namespace

void set_error(cudaError_t error) {
  if (error != cudaSuccess) last = error;
}

cudaError_t sticky_error() {
  return sticky;
}

cudaError_t peek_error() {
  ask();
  const cudaError_t error = sticky;
  return error != cudaSuccess ? error : last;
}

cudaError_t take_error() {
  const cudaError_t error = peek_error();
  last = cudaSuccess;
  return error;
}

void set_sticky(cudaError_t error) {
  cudaError_t none = cudaSuccess;
  sticky.compare_exchange_strong(none, error);
}

void reset_device() {
  finish_everything();
  release_everything();
  sticky = cudaSuccess;
  last = cudaSuccess;
}

void refuse_launch(const Kernel& kernel, dim3 grid, dim3 block, cudaError_t error, const std::string& why) {
  (void)registered;
  set_error(error);
  std::lock_guard<std::mutex> lock(refused().mutex);
  if (refused().unasked) return;
  refused().unasked = true;
  refused().what = format_text("%s, grid (%u,%u,%u), block (%u,%u,%u): %s", kernel.name, grid.x, grid.y,
                               grid.z, block.x, block.y, block.z, cudaGetErrorString(error));
  refused().failure = failure_here("simt-launch", what_failed(grid, block) +
                                                      ", and the program never asked for its error\n"
                                                      "Kernel " +
                                                      refused().what + ".\n" + why +
                                                      "\n"
                                                      "cudaGetLastError() after the launch would have told.");
  refused().failure.frames = capture_frames(24);
  refused().failure.by_caller = true;
  refused().why = why;
}

void count_report() {
  (void)registered;
  ++report_count;
}
int reports() {
  finish_everything();
  return report_count;
}
void forget_reports() {
  forget_early_reads();
  report_count = 0;
}

// What the API returns after a report.
cudaError_t error_of(const char* slug) {
  static constexpr struct {
    const char* slug;
    cudaError_t error;
  } kErrors[] = {
      {"simt-oob-global", cudaErrorIllegalAddress},
      {"simt-oob-shared", cudaErrorIllegalAddress},
      {"simt-use-after-free", cudaErrorIllegalAddress},
      {"simt-host-access", cudaErrorIllegalAddress},
      {"simt-misaligned", cudaErrorMisalignedAddress},
      {"simt-hang", cudaErrorLaunchTimeout},
      {"simt-assert", cudaErrorAssert},
      {"simt-illegal-instruction", cudaErrorIllegalInstruction},
  };
  for (const auto& e : kErrors)
    if (std::strcmp(slug, e.slug) == 0) return e.error;
  return cudaErrorLaunchFailure;
}

}  // namespace simt
