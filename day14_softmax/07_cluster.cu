// SPDX-License-Identifier: MIT
//
// A row too long for one multiprocessor lies in the registers of a cluster of blocks, which store their
// partial results into each other's shared memory. Changed since registers: two, four or eight blocks a row,
// so that 131,072 elements are read once and several rows are under way at a time. Needs compute capability
// 9.0 and cols from 4096 to 131072. Bound by: the memory.
// Teaches: barrier_cluster_arrive, barrier_cluster_wait, mapa.

#include "common/check.h"
#include "common/ptx.h"
#include "common/util.h"
#include "day14_softmax/row_softmax.cuh"
#include "day14_softmax/softmax.h"

namespace day14 {
namespace {

constexpr int kThreads = 512;
constexpr int kElements = 32;  // a thread
constexpr int kWarps = kThreads / days::kWarpSize;
constexpr int kBlockCols = kThreads * kElements;

// Of a block. The blocks of a row write each other's of_block, at the place of their rank.
template <int kBlocks>
struct Shared {
  Partial of_warp[kWarps];
  Partial of_block[kBlocks];
};

template <class T, int kBlocks>
__global__ void DAYS_CLUSTER_DIMS(kBlocks) __launch_bounds__(kThreads)
    cluster_kernel(const T* x,  // (rows, cols)
                   T* y,        // (rows, cols)
                   int cols) {
  __shared__ Shared<kBlocks> shared;
  // Nobody may touch the memory of a block that has not begun: each says here that it has, and waits for the
  // others below, when its loads are done.
  days::ptx::barrier_cluster_arrive();
  const int64_t row = blockIdx.x / kBlocks;
  const int rank = static_cast<int>(days::ptx::cluster_ctarank());
  x += row * cols;
  y += row * cols;
  const RowParts<T> parts(x, cols);
  // Blocks take turns along the row, so that all have the same share of one that fills no whole number.
  const int thread = rank * kThreads + static_cast<int>(threadIdx.x), step = kBlocks * kThreads;

  RowValues<T, kElements / kVector<T>> values;
  values.load(x, parts, true, thread, step, days::from_float<T>(-INFINITY));
  const Partial of_group = exponentials<days::kWarpSize>(values);
  const Partial of_block = block_merge(of_group, shared.of_warp);
  days::ptx::barrier_cluster_wait();
  if (threadIdx.x < kBlocks) *days::ptx::mapa(&shared.of_block[rank], threadIdx.x) = of_block;
  days::ptx::barrier_cluster_arrive();
  days::ptx::barrier_cluster_wait();  // all have written; what is read from here on is this block's own
  normalise(values, of_group, warp_merge<kBlocks>(shared.of_block[threadIdx.x % kBlocks]));
  values.store(y, parts, parts.fit(y), thread, step);
}

template <int kBlocks, class T>
void launch(const Softmax<T>& p, cudaStream_t stream) {
  const int64_t blocks = int64_t{p.rows} * kBlocks;
  days::require(blocks <= days::kMaxGridX, "cluster: a grid has at most 2^31 - 1 blocks, not", blocks);
  cluster_kernel<T, kBlocks><<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(p.x, p.y, p.cols);
  CUDA_CHECK_LAUNCH();
}

}  // namespace

template <class T>
void softmax_cluster(const Softmax<T>& p, cudaStream_t stream) {
  require_problem(p, "cluster");
  days::require_needs(p, "cluster", kLeastColsOfCluster, kColsOfCluster);
  static_assert(8 * kBlockCols == kMaxColsCluster);
  if (p.cols <= 2 * kBlockCols) return launch<2>(p, stream);
  if (p.cols <= 4 * kBlockCols) return launch<4>(p, stream);
  launch<8>(p, stream);
}

INSTANTIATE_LAUNCHER(softmax_cluster, Softmax, float, days::half, days::bf16);

}  // namespace day14
