// SPDX-License-Identifier: MIT
// One thread owns the pair x[i], x[n - 1 - i], and half of the indices are enough. Since out_and_back: 2 times n elements
// moved instead of 4, one launch, no second array. Bound by: how few bytes a thread has on their way.
#include "common/check.h"
#include "common/util.h"
#include "day42_swap/swap.h"

namespace day42 {
namespace {

constexpr int kThreads = 256;

template <class T>
__global__ void ends_kernel(T* x,  // (n)
                            int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= n / 2) return;  // rounded down: the middle of an odd number of elements stays where it is
  const T front = x[i], back = x[n - 1 - i];
  x[i] = back;
  x[n - 1 - i] = front;
}

}  // namespace

template <class T>
void reverse_ends(const Reverse<T>& p, cudaStream_t stream) {
  require_problem(p, "ends");
  const int64_t blocks = days::ceil_div(days::ceil_div(p.n, 2), kThreads);
  days::require(blocks <= days::kMaxGridX, "ends: n is too large for one grid:", p.n);
  ends_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(p.x, p.n);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(reverse_ends, Reverse, float, uint8_t);

}  // namespace day42
