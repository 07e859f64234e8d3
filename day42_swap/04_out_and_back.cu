// SPDX-License-Identifier: MIT
// Reversed into another array, then copied back. Right because no thread of the first launch writes what another one
// reads. Bound by: memory, 4 times n elements moved where 2 would do.
#include "common/check.h"
#include "common/util.h"
#include "day42_swap/swap.h"

namespace day42 {
namespace {

constexpr int kThreads = 256;

template <class T>
__global__ void out_kernel(const T* x,  // (n)
                           T* other,    // (n)
                           int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < n) other[i] = x[n - 1 - i];
}

template <class T>
__global__ void back_kernel(T* x,            // (n)
                            const T* other,  // (n)
                            int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < n) x[i] = other[i];
}

}  // namespace

template <class T>
void reverse_out_and_back(const Reverse<T>& p, cudaStream_t stream) {
  require_array(p, "out_and_back");
  const int64_t blocks = days::ceil_div(p.n, kThreads);
  days::require(blocks <= days::kMaxGridX, "out_and_back: n is too large for one grid:", p.n);
  T* other = static_cast<T*>(p.workspace.data);
  out_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(p.x, other, p.n);
  CUDA_CHECK_LAUNCH();
  back_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(p.x, other, p.n);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(reverse_out_and_back, Reverse, float, uint8_t);

}  // namespace day42
