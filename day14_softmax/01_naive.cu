// SPDX-License-Identifier: MIT
//
// One thread a row, three loops: the maximum, the sum of the exponentials, the quotients. Neighbouring lanes
// are a whole row apart, so that every load of a warp touches 32 sectors for 32 elements, three times over.
// Bound by: sectors, and far too few threads: 65,536 rows are a quarter of what an H200 can hold.

#include "common/check.h"
#include "common/util.h"
#include "day14_softmax/softmax.h"

namespace day14 {
namespace {

constexpr int kThreads = 64;  // few rows are to reach many multiprocessors

template <class T>
__global__ void naive_kernel(const T* x,  // (rows, cols)
                             T* y,        // (rows, cols)
                             int rows, int cols) {
  const int64_t row = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (row >= rows) return;
  x += row * cols;
  y += row * cols;
  float max = -INFINITY, sum = 0;
  for (int col = 0; col < cols; ++col) max = fmaxf(max, days::to_float(x[col]));
  for (int col = 0; col < cols; ++col) sum += expf(days::to_float(x[col]) - max);
  for (int col = 0; col < cols; ++col) y[col] = days::from_float<T>(expf(days::to_float(x[col]) - max) / sum);
}

}  // namespace

template <class T>
void softmax_naive(const Softmax<T>& p, cudaStream_t stream) {
  require_problem(p, "naive");
  naive_kernel<<<days::ceil_div(p.rows, kThreads), kThreads, 0, stream>>>(p.x, p.y, p.rows, p.cols);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(softmax_naive, Softmax, float, days::half, days::bf16);

}  // namespace day14
