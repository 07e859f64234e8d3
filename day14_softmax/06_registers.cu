// SPDX-License-Identifier: MIT
//
// The row is read once and stays in the registers of its threads, 32 elements each, all loads under way at
// once. Changed since vectors: one read, one write, nothing else; and as many threads a row as it has work
// for, from half a warp to 512. Takes cols <= 16384. Bound by: the memory.

#include "common/check.h"
#include "common/util.h"
#include "day14_softmax/share.cuh"
#include "day14_softmax/softmax.h"

namespace day14 {
namespace {

// kThreads threads a row, each with kElements of it. A block has one row, or 128 threads' worth of short
// ones.
template <int kThreads, int kElements>
struct Tier {
  static constexpr int kCols = kThreads * kElements;  // the longest row
  static constexpr int kBlock = kThreads < 128 ? 128 : kThreads;
  static constexpr int kRows = kBlock / kThreads;
  static constexpr int kLanes = kThreads < days::kWarpSize ? kThreads : days::kWarpSize;
  static constexpr int kWarps = (kThreads + days::kWarpSize - 1) / days::kWarpSize;  // a row
  static_assert(kThreads >= 16, "an element of the edge each");
};

template <class T, class K>
__global__ void __launch_bounds__(K::kBlock) registers_kernel(const T* x,  // (rows, cols)
                                                              T* y,        // (rows, cols)
                                                              int rows, int cols) {
  constexpr int kThreads = K::kBlock / K::kRows, kVectors = K::kCols / kThreads / kVector<T>;
  const int64_t row = int64_t{blockIdx.x} * K::kRows + threadIdx.x / kThreads;
  const int thread = threadIdx.x % kThreads;
  x += row * cols;
  y += row * cols;
  // Threads past the last row have an empty one: they take part in their warp's exchanges.
  const RowParts<T> parts(x, row < rows ? cols : 0);

  RowShare<T, kVectors> share;
  share.load(x, parts, true, thread, kThreads, days::from_float<T>(-INFINITY));
  const Partial of_group = exponentials<K::kLanes>(share);
  Partial of_row = of_group;
  if constexpr (K::kWarps > 1) {
    __shared__ Partial partials[K::kWarps];
    of_row = block_merge(of_group, partials);
  }
  normalise(share, of_group, of_row);
  share.store(y, parts, parts.fit(y), thread, kThreads);
}

template <class K, class T>
void launch(const Softmax<T>& p, cudaStream_t stream) {
  registers_kernel<T, K>
      <<<days::ceil_div(p.rows, K::kRows), K::kBlock, 0, stream>>>(p.x, p.y, p.rows, p.cols);
  CUDA_CHECK_LAUNCH();
}

}  // namespace

template <class T>
void softmax_registers(const Softmax<T>& p, cudaStream_t stream) {
  require_problem(p, "registers");
  days::require(p.cols <= kMaxColsRegisters, "registers: a block holds rows of 16384 elements; cols is",
                p.cols);
  if (p.cols <= Tier<16, 8>::kCols) return launch<Tier<16, 8>>(p, stream);
  if (p.cols <= Tier<32, 8>::kCols) return launch<Tier<32, 8>>(p, stream);
  if (p.cols <= Tier<32, 32>::kCols) return launch<Tier<32, 32>>(p, stream);
  if (p.cols <= Tier<128, 32>::kCols) return launch<Tier<128, 32>>(p, stream);
  if (p.cols <= Tier<256, 32>::kCols) return launch<Tier<256, 32>>(p, stream);
  static_assert(Tier<512, 32>::kCols == kMaxColsRegisters);
  launch<Tier<512, 32>>(p, stream);
}

SOFTMAX_INSTANTIATE(softmax_registers, Softmax);

}  // namespace day14
