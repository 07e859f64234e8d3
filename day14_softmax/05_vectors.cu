// SPDX-License-Identifier: MIT
//
// A block a row again, and 16 bytes a load and a store, four loads under way in a thread. Changed since
// online: a quarter of the requests (an eighth in 16 bits), and one rescaling for a batch of vectors. Rows
// that begin between two multiples of 16 bytes have an edge of single elements. Takes rows of any length.
// Bound by: the second read, from L2 where it still holds the row. Judged on a GPU: four loads under way in
// each thread.

#include "common/check.h"
#include "common/util.h"
#include "day14_softmax/row_softmax.cuh"
#include "day14_softmax/softmax.h"

namespace day14 {
namespace {

constexpr int kThreads = 256;
constexpr int kVectors = 4;  // a batch

template <class T>
__global__ void __launch_bounds__(kThreads) vectors_kernel(const T* x,  // (rows, cols)
                                                           T* y,        // (rows, cols)
                                                           int cols) {
  __shared__ Partial partials[kThreads / days::kWarpSize];
  x += int64_t{blockIdx.x} * cols;
  y += int64_t{blockIdx.x} * cols;
  const RowParts<T> parts(x, cols);
  const bool fits = parts.fit(y);
  const T nothing = days::from_float<T>(-INFINITY);
  const int thread = threadIdx.x;
  RowValues<T, kVectors> values;

  Partial mine;
  // The edge goes with the first batch: in later ones `first` is beyond it.
  for (int first = thread; first - thread < max(1, parts.vectors); first += kVectors * kThreads) {
    values.load(x, parts, true, first, kThreads, nothing);
    float most = mine.max;
#pragma unroll
    for (const float value : values.value) most = fmaxf(most, value);
    mine.sum *= expf(mine.max - most);
    mine.max = most;
#pragma unroll
    for (const float value : values.value) mine.sum += exponential<T>(value - most);
  }
  const Partial row = block_merge(warp_merge(mine), partials);

  const float scale = 1 / row.sum;
  for (int first = thread; first - thread < max(1, parts.vectors); first += kVectors * kThreads) {
    values.load(x, parts, true, first, kThreads, nothing);
#pragma unroll
    for (float& value : values.value) value = exponential<T>(value - row.max) * scale;
    values.store(y, parts, fits, first, kThreads);
  }
}

}  // namespace

template <class T>
void softmax_vectors(const Softmax<T>& p, cudaStream_t stream) {
  require_problem(p, "vectors");
  vectors_kernel<<<p.rows, kThreads, 0, stream>>>(p.x, p.y, p.cols);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(softmax_vectors, Softmax, float, days::half, days::bf16);

}  // namespace day14
