// SPDX-License-Identifier: MIT
// Through a third array, as one swaps two cups of tea: a is copied to it, b to a, and it to b. Three launches, and
// each copy reads and writes every element. Bound by: memory, 6 times n elements moved where 4 would do.
#include "common/check.h"
#include "common/util.h"
#include "day42_swap/swap.h"

namespace day42 {
namespace {

constexpr int kThreads = 256;

template <class T>
__global__ void copy_kernel(const T* from,  // (n)
                            T* to,          // (n)
                            int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < n) to[i] = from[i];
}

}  // namespace

template <class T>
void swap_third(const Swap<T>& p, cudaStream_t stream) {
  require_array(p, "third");
  const int64_t blocks = days::ceil_div(p.n, kThreads);
  days::require(blocks <= days::kMaxGridX, "third: n is too large for one grid:", p.n);
  const auto grid = static_cast<unsigned>(blocks);
  T* third = static_cast<T*>(p.workspace.data);
  // One stream: a launch begins when the one before it has ended.
  copy_kernel<<<grid, kThreads, 0, stream>>>(p.a, third, p.n);
  CUDA_CHECK_LAUNCH();
  copy_kernel<<<grid, kThreads, 0, stream>>>(p.b, p.a, p.n);
  CUDA_CHECK_LAUNCH();
  copy_kernel<<<grid, kThreads, 0, stream>>>(third, p.b, p.n);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(swap_third, Swap, float, uint8_t);

}  // namespace day42
