// SPDX-License-Identifier: MIT
//
// The row is read once and stays in the registers of its threads, two vectors each, all loads under way at
// once. Changed since vectors: one read, one write, nothing else; and as many threads a row as it has work
// for, from two to 512, which take up to eight vectors; where rows have an edge, at least sixteen. Takes
// cols <= 16384. Bound by: the memory.

#include "common/check.h"
#include "common/util.h"
#include "day14_softmax/row_softmax.cuh"
#include "day14_softmax/softmax.h"

namespace day14 {
namespace {

// kThreads threads a row, each with kVectors vectors of it and, with kEdge, an element of the edge. A block
// has one row, or 128 threads' worth of short ones.
template <class T, int kThreads, int kVectors, bool kEdge, int kBlock>
__global__ void __launch_bounds__(kBlock) registers_kernel(const T* x,  // (rows, cols)
                                                           T* y,        // (rows, cols)
                                                           int rows, int cols) {
  constexpr int kLanes = kThreads < days::kWarpSize ? kThreads : days::kWarpSize;
  const int64_t row = int64_t{blockIdx.x} * (kBlock / kThreads) + threadIdx.x / kThreads;
  const int thread = threadIdx.x % kThreads;
  x += row * cols;
  y += row * cols;
  // Threads past the last row have an empty one: they take part in their warp's exchanges.
  const RowParts<T, kEdge> parts(x, row < rows ? cols : 0);

  RowValues<T, kVectors, kEdge> values;
  values.load(x, parts, true, thread, kThreads, days::from_float<T>(-INFINITY));
  const Partial of_group = exponentials<kLanes>(values);
  Partial of_row = of_group;
  if constexpr (kThreads > days::kWarpSize) {
    __shared__ Partial partials[kThreads / days::kWarpSize];
    of_row = block_merge(of_group, partials);
  }
  normalise(values, of_group, of_row);
  values.store(y, parts, parts.fit(y), thread, kThreads);
}

// Launches where kThreads threads with kVectors vectors hold a row; else false. Without kEdge only where no
// row has an edge.
template <int kThreads, int kVectors, bool kEdge = true, class T>
bool launch(const Softmax<T>& p, cudaStream_t stream) {
  constexpr int kCols = kThreads * kVectors * kVector<T>;
  constexpr int kBlock = kThreads < 128 ? 128 : kThreads;
  static_assert(!kEdge || kThreads >= 16, "an element of the edge each");
  static_assert(kThreads <= days::kWarpSize || kThreads == kBlock, "a row is a warp's at most, or a block's");
  if constexpr (kCols <= kMaxColsRegisters) {
    if (p.cols > kCols) return false;
    registers_kernel<T, kThreads, kVectors, kEdge, kBlock>
        <<<days::ceil_div(p.rows, kBlock / kThreads), kBlock, 0, stream>>>(p.x, p.y, p.rows, p.cols);
    CUDA_CHECK_LAUNCH();
    return true;
  }
  return false;
}

}  // namespace

template <class T>
void softmax_registers(const Softmax<T>& p, cudaStream_t stream) {
  require_problem(p, "registers");
  days::require_needs(p, "registers", kColsOfRegisters);
  const bool edges = p.cols % kVector<T> != 0 || !days::aligned16(p.x, p.y);  // some row has one
  // The least that holds a row; the last one holds every row.
  static_cast<void>((!edges && (launch<2, 2, false>(p, stream) || launch<4, 2, false>(p, stream) ||
                                launch<8, 2, false>(p, stream) || launch<16, 2, false>(p, stream))) ||
                    launch<16, 1>(p, stream) || launch<16, 2>(p, stream) || launch<32, 2>(p, stream) ||
                    launch<32, 4>(p, stream) || launch<128, 2>(p, stream) || launch<256, 2>(p, stream) ||
                    launch<512, 2>(p, stream) || launch<512, 4>(p, stream) || launch<512, 8>(p, stream));
}

INSTANTIATE_LAUNCHER(softmax_registers, Softmax, float, days::half, days::bf16);

}  // namespace day14
