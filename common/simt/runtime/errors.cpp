// SPDX-License-Identifier: MIT
//
// The error state that CUDA's API shows, and the exit status of a program that ignored a report.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "internal.h"

namespace simt {
namespace {

std::atomic<cudaError_t> sticky{cudaSuccess};
thread_local cudaError_t last = cudaSuccess;
std::atomic<int> report_count{0};

#if defined(__GLIBC__)
void at_exit(int status, void*) {
  if (status != 0 || report_count == 0) return;
#else
void at_exit() {  // the status is not known here
  if (report_count == 0) return;
#endif
  std::fflush(nullptr);
  _exit(1);
}

// Registered before main(), so that it runs after the program's own exit handlers.
const int registered = [] {
#if defined(__GLIBC__)
  return on_exit(at_exit, nullptr);
#else
  return std::atexit(at_exit);
#endif
}();

}  // namespace

void set_error(cudaError_t error) {
  if (error != cudaSuccess) last = error;
}

cudaError_t sticky_error() {
  return sticky;
}

cudaError_t peek_error() {
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
  release_everything();
  sticky = cudaSuccess;
  last = cudaSuccess;
}

void count_report() {
  (void)registered;
  ++report_count;
}
int reports() {
  return report_count;
}
void forget_reports() {
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
