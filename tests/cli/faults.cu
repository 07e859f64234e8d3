// SPDX-License-Identifier: MIT
//
// Day 01's exercise, solved, by someone whose program comes to no good end: test_faults.py names the fault in
// the environment's FAULT. It happens where n is 33, and nowhere without FAULT.
#include <sys/types.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "common/check.h"
#include "common/util.h"
#include "day01_vector_add/vector_add.h"

namespace day01 {
namespace {

constexpr int kThreads = 256;

__global__ void add_kernel(const float* a, const float* b, float* c, int64_t n, bool leave) {
  if (leave && threadIdx.x == 0) std::exit(0);
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

void fail(const std::string& fault) {
  if (fault == "segv") {
    volatile int* volatile nowhere = nullptr;
    *nowhere = 1;
  }
  if (fault == "fpe") {
    std::signal(SIGFPE, SIG_DFL);
    raise(SIGFPE);
  }
  if (fault == "abort") std::abort();
  if (fault == "kill") raise(SIGKILL);
  if (fault == "exception") throw std::runtime_error("the plan is too large");
  if (fault == "no exception") throw 7;
  if (fault == "_exit") _exit(0);
  if (fault == "exit") std::exit(0);
  if (fault == "print") {
    const std::string line(1 << 20, 'x');
    for (int i = 0; i < 300; ++i) std::puts(line.c_str());
    std::exit(0);
  }
  if (fault == "fork") [[maybe_unused]]
    const pid_t child = fork();  // and the child goes on, too
  if (fault == "loop") {
    if (fork() == 0) std::fprintf(stderr, "child %d\n", static_cast<int>(getpid()));
    for (;;) usleep(1000);
  }
}

}  // namespace

void exercise(const VectorAdd<float>& p, cudaStream_t stream) {
  days::require(p.n > 0, "exercise: n must be positive, not", p.n);
  const char* named = std::getenv("FAULT");
  const std::string fault = named == nullptr ? "" : named;
  if (fault == "all") _exit(0);
  if (p.n == 33) fail(fault);
  const int64_t blocks = days::ceil_div(p.n, kThreads);
  add_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(p.a, p.b, p.c, p.n,
                                                                     fault == "kernel" && p.n == 33);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day01
