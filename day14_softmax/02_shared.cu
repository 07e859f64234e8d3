// SPDX-License-Identifier: MIT
//
// One block a row: lanes side by side along it, and the threads' maxima and sums meet in shared memory.
// Changed since naive: every load is whole sectors, and 256 times as many threads. Still three reads.
// Bound by: the reads from the caches, and four barriers a row during which nothing is loaded.

#include "common/check.h"
#include "common/reduce.cuh"
#include "common/util.h"
#include "day14_softmax/softmax.h"

namespace day14 {
namespace {

constexpr int kThreads = 256;

template <class T>
__global__ void __launch_bounds__(kThreads) shared_kernel(const T* x,  // (rows, cols)
                                                          T* y,        // (rows, cols)
                                                          int cols) {
  x += int64_t{blockIdx.x} * cols;
  y += int64_t{blockIdx.x} * cols;
  float max = -INFINITY, sum = 0;
  for (int col = threadIdx.x; col < cols; col += kThreads) max = fmaxf(max, days::to_float(x[col]));
  max = days::block_reduce(max, days::Max{}, -INFINITY);
  for (int col = threadIdx.x; col < cols; col += kThreads) sum += expf(days::to_float(x[col]) - max);
  sum = days::block_reduce(sum, days::Sum{}, 0.0f);
  for (int col = threadIdx.x; col < cols; col += kThreads)
    y[col] = days::from_float<T>(expf(days::to_float(x[col]) - max) / sum);
}

}  // namespace

template <class T>
void softmax_shared(const Softmax<T>& p, cudaStream_t stream) {
  require_problem(p, "shared");
  shared_kernel<<<p.rows, kThreads, 0, stream>>>(p.x, p.y, p.cols);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(softmax_shared, Softmax, float, days::half, days::bf16);

}  // namespace day14
