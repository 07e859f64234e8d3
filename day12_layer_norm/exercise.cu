// SPDX-License-Identifier: MIT
//
// Exercise: a layer norm that reads each row at most twice, and keeps its variance where the mean is far from 0.
// Gates: every element right for every shape and the hostile rows; no race; at most 4 loads of each input (two of
// the row, one each of gamma and beta; shared makes 5); at most 10% of the bytes that sectors move are bytes that
// no thread asked for.
//   ./days check 12     tells how far you are        ./days hint 12     when you are stuck

#include "common/check.h"
#include "common/reduce.cuh"
#include "common/util.h"
#include "day12_layer_norm/layer_norm.h"

namespace day12 {
namespace {

constexpr int kThreads = 256;  // a block has one row

template <class T>
__global__ void __launch_bounds__(kThreads) exercise_kernel(const LayerNorm<T> p) {
  const int64_t row = blockIdx.x;
  const T* x = p.x + row * p.cols;
  T* y = p.y + row * p.cols;
  // 1. One loop over this thread's elements, days::to_float(x[col]). After k of them, what do you keep, so that
  //    the next one needs nothing but that? The sum of the squares will not do: with a mean of 10,000 the squares
  //    are 100,000,000 each, and fp32 has no digits left for a variance of 1.
  // 2. Each thread now knows (n, mean, m2) of its part of the row. How do two parts become one? Their means differ,
  //    and that difference belongs into m2.
  // 3. All 256 parts must become one: in shared memory, half of the threads take the other half's part, and so on,
  //    with a barrier between. What if a thread has no element at all?
  // 4. A second loop writes y[col] = days::from_float<T>(...), and one thread p.mean[row] and p.rstd[row], which is
  //    1 / sqrt(m2 / cols + eps): rsqrtf(). A row with an infinity has a NaN in both.
  // your code
  static_cast<void>(x);
  static_cast<void>(y);
}

}  // namespace

template <class T>
void exercise(const LayerNorm<T>& p, cudaStream_t stream) {
  require_problem(p, "exercise");
  exercise_kernel<<<p.rows, kThreads, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(exercise, LayerNorm, float, days::half, days::bf16);

}  // namespace day12
