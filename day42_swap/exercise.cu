// SPDX-License-Identifier: MIT
//
// Exercise: reverse an array in place, with no second array.
// Gates: every element right for every n; no race; one launch; each element loaded once; no byte of a workspace written.
//   ./days check 42      tells how far you are        ./days hint 42      when you are stuck
#include "common/check.h"
#include "common/util.h"
#include "day42_swap/swap.h"

namespace day42 {
namespace {

constexpr int kThreads = 256;

template <class T>
__global__ void exercise_kernel(T* x,  // (n)
                                int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  // 1. Element i and which other element change places?
  // 2. Two threads must never own the same pair. Which of the threads have one, and what of the middle if n is odd?
  // 3. Load both, and only then store both.
  // your code
  static_cast<void>(x);
  static_cast<void>(i);
}

}  // namespace

template <class T>
void exercise(const Reverse<T>& p, cudaStream_t stream) {
  require_problem(p, "exercise");
  const int64_t blocks = days::ceil_div(p.n, kThreads);
  days::require(blocks <= days::kMaxGridX, "exercise: n is too large for one grid:", p.n);
  exercise_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(p.x, p.n);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(exercise, Reverse, float, uint8_t);

}  // namespace day42
