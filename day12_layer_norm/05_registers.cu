// SPDX-License-Identifier: MIT
//
// The row is read once and stays in the registers of its threads, 16 bytes a load. There the second pass of the
// variance is free, so Welford's division goes: a warp's mean first, then the squares of the distances from it.
// Changed since warp: one read, and as many threads a row as it has work for, from 8 to 512. Takes cols <= 16384.
// Bound by: the memory, and gamma and beta, which every row fetches again from L1.

#include "common/check.h"
#include "common/util.h"
#include "day12_layer_norm/columns.cuh"
#include "day12_layer_norm/layer_norm.h"

namespace day12 {
namespace {

// A block has one row, or 128 threads' worth of short ones.
template <class T, int kThreads, int kElements, bool kWide, int kBlock>
__global__ void __launch_bounds__(kBlock) registers_kernel(const LayerNorm<T> p) {
  using Row = Share<T, kThreads, kElements, kWide>;
  constexpr int kLanes = kThreads < days::kWarpSize ? kThreads : days::kWarpSize;
  const int64_t row = int64_t{blockIdx.x} * (kBlock / kThreads) + threadIdx.x / kThreads;
  const int thread = threadIdx.x % kThreads;
  // Threads past the last row have an empty one: they take part in their warp's exchanges.
  const int cols = row < p.rows ? p.cols : 0;

  Row share;
  share.load(p.x + row * p.cols, thread, cols);
  float value[kElements];
  share.floats(value);
  Moments m = Row::template moments<kLanes>(value, thread, cols);
  if constexpr (kThreads > days::kWarpSize) {
    __shared__ Moments of_warp[kThreads / days::kWarpSize];
    m = merge_warps(m, of_warp);
  }
  const Statistics s = statistics(m, p.eps);

  Row gamma, beta;
  gamma.load(p.gamma, thread, cols);
  beta.load(p.beta, thread, cols);
#pragma unroll
  for (int i = 0; i < kElements; ++i) value[i] = normalised(value[i], s, gamma[i], beta[i]);
  Row::store(p.y + row * p.cols, value, thread, cols);
  if (thread == 0 && cols > 0) {
    p.mean[row] = s.mean;
    p.rstd[row] = s.rstd;
  }
}

// Launches where kThreads threads with kElements elements hold a row; else false.
template <int kThreads, int kElements, bool kWide, class T>
bool launch(const LayerNorm<T>& p, cudaStream_t stream) {
  if (p.cols > kThreads * kElements) return false;
  constexpr int kBlock = kThreads < 128 ? 128 : kThreads;
  registers_kernel<T, kThreads, kElements, kWide, kBlock>
      <<<days::ceil_div(p.rows, kBlock / kThreads), kBlock, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
  return true;
}

}  // namespace

template <class T>
void layer_norm_registers(const LayerNorm<T>& p, cudaStream_t stream) {
  require_problem(p, "registers");
  days::require_needs(p, "registers", kColsOfRegisters);
  // Two vectors a thread, more where even 512 threads cannot hold a row. A long row of 16 bits has four,
  // which is 5% faster on an H200.
  constexpr int kTwo = 2 * kVector<T>;
  constexpr int kLong = sizeof(T) == 2 ? 2 * kTwo : kTwo;
  static_assert(512 * 32 == kMaxColsRegisters);
  // The least that holds a row; the last one holds every row.
  if (whole_vectors<T>(p.cols, p.x, p.gamma, p.beta, p.y)) {
    static_cast<void>(launch<8, 8, true>(p, stream) || launch<32, 8, true>(p, stream) ||
                      launch<128, 8, true>(p, stream) || launch<2048 / kTwo, kTwo, true>(p, stream) ||
                      launch<4096 / kLong, kLong, true>(p, stream) || launch<512, 16, true>(p, stream) ||
                      launch<512, 32, true>(p, stream));
  } else {
    static_cast<void>(launch<32, 8, false>(p, stream) || launch<128, 8, false>(p, stream) ||
                      launch<512, 8, false>(p, stream) || launch<512, 16, false>(p, stream) ||
                      launch<512, 32, false>(p, stream));
  }
}

INSTANTIATE_LAUNCHER(layer_norm_registers, LayerNorm, float, days::half, days::bf16);

}  // namespace day12
