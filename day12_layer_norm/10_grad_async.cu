// SPDX-License-Identifier: MIT
//
// The next row is on its way into shared memory while this one is worked on: cp.async copies without waiting and
// without registers, of which none are left. Each thread copies for itself alone, so no barrier is needed, only its
// own wait. Changed since grad_registers: loads are under way while threads exchange sums and wait for each other.
// Needs compute capability 8.0, takes cols <= 8192. Bound by: the memory.
// Teaches: cp_async_cg, cp_async_wait_all.

#include "common/check.h"
#include "common/ptx.h"
#include "common/util.h"
#include "day12_layer_norm/grad_share.cuh"
#include "day12_layer_norm/layer_norm.h"

namespace day12 {
namespace {

// Where a thread's part of the next row waits: a slot for each of its vectors, beside those of its neighbours.
template <class Row, int kBlock>
struct Ahead {
  uint4 x[Row::kGroups][kBlock], dy[Row::kGroups][kBlock];

  // Begins to copy a thread's part of a row into its slots; what is beyond the row's `cols` columns becomes 0.
  template <class T>
  __device__ static void fetch(uint4 (&slots)[Row::kGroups][kBlock], const T* row, int thread, int cols) {
#pragma unroll
    for (int g = 0; g < Row::kGroups; ++g) {
      const int col = Row::first(g, thread);
      days::ptx::cp_async_cg(&slots[g][threadIdx.x], col < cols ? row + col : row, col < cols ? 16 : 0);
    }
  }
  __device__ static void take(Row& part, const uint4 (&slots)[Row::kGroups][kBlock]) {
#pragma unroll
    for (int g = 0; g < Row::kGroups; ++g) part.word[g] = slots[g][threadIdx.x];
  }
};

template <class T, int kThreads, bool kWide>
__global__ void __launch_bounds__(grad_block(kThreads), kGradResident / grad_block(kThreads))
    grad_async_kernel(const LayerNormBackward<T> p,
                      float* partials) {  // (blocks, 2, cols)
  using Columns = GradColumns<T, kThreads, kWide>;
  using Row = typename Columns::Row;
  using Next = Ahead<Row, Columns::kBlock>;
  extern __shared__ uint4 memory[];
  Next& next = *reinterpret_cast<Next*>(memory);
  const int thread = threadIdx.x % kThreads;
  const unsigned step = gridDim.x * Columns::kRows;
  const unsigned rows = static_cast<unsigned>(p.rows);
  const float scale = 1 / static_cast<float>(p.cols);
  Columns columns;
  Row gamma;
  gamma.load(p.gamma, thread, p.cols);

  const auto fetch = [&p, &next, thread](unsigned row) {
    const bool exists = row < static_cast<unsigned>(p.rows);
    const int64_t start = exists ? int64_t{row} * p.cols : 0;
    Next::fetch(next.x, p.x + start, thread, exists ? p.cols : 0);
    Next::fetch(next.dy, p.dy + start, thread, exists ? p.cols : 0);
  };
  if constexpr (kWide) fetch(blockIdx.x * Columns::kRows + threadIdx.x / kThreads);
  bool odd = false;
  for (unsigned first = blockIdx.x * Columns::kRows; first < rows; first += step) {
    const unsigned row = first + threadIdx.x / kThreads;
    const bool exists = row < rows;
    const int64_t start = int64_t{row} * p.cols;
    const float mean = exists ? p.mean[row] : 0, rstd = exists ? p.rstd[row] : 0;
    Row x, dy;
    if constexpr (kWide) {
      days::ptx::cp_async_wait_all();
      Next::take(x, next.x);
      Next::take(dy, next.dy);
      fetch(row + step);  // into the slots that were emptied just now
    } else {              // no vectors: single elements are too many copies, or too small for one
      x.load(p.x + start, thread, exists ? p.cols : 0);
      dy.load(p.dy + start, thread, exists ? p.cols : 0);
    }
    float dx[kGradElements];
    columns.row(gamma, x, dy, mean, rstd, scale, odd, dx);
    odd = !odd;
    Row::store(p.dx + start, dx, thread, exists ? p.cols : 0);
  }
  if constexpr (kWide) days::ptx::cp_async_wait_all();  // no copy is under way when the block ends
  columns.write(partials + int64_t{2} * blockIdx.x * p.cols, thread, p.cols);
}

}  // namespace

template <class T>
void layer_norm_grad_async(const LayerNormBackward<T>& p, cudaStream_t stream) {
  require_problem(p, "grad_async");
  float* partials = grad_lines(p, "grad_async");
  const int blocks = grad_blocks(p.rows, p.cols);
  for_grad_threads(p.cols, whole_vectors<T>(p.cols, p.x, p.dy, p.gamma, p.dx), [&](auto threads, auto wide) {
    using Columns = GradColumns<T, threads, wide>;
    constexpr int kBytes = wide ? sizeof(Ahead<typename Columns::Row, Columns::kBlock>) : 0;
    const auto kernel = grad_async_kernel<T, threads, wide>;
    CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
    kernel<<<blocks, Columns::kBlock, kBytes, stream>>>(p, partials);
    CUDA_CHECK_LAUNCH();
  });
  days::sum_partials(partials, p.dgamma, p.dbeta, blocks, p.cols, stream);
}

INSTANTIATE_LAUNCHER(layer_norm_grad_async, LayerNormBackward, float, days::half, days::bf16);

}  // namespace day12
