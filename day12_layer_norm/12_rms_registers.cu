// SPDX-License-Identifier: MIT
//
// The row is read once, 16 bytes a load, and stays in the registers of its threads, of which it has as many as there is work for. Gamma does
// not depend on the sum, so it is asked for at the same time: a row waits for memory once, also where it is the only one, as when a model
// writes a text. Changed since rms_warp: one read of the row and one wait. Takes aligned rows of whole 16 bytes, cols <= 16384.
// Bound by: the memory.

#include "common/check.h"
#include "common/row.cuh"
#include "common/util.h"
#include "day12_layer_norm/columns.cuh"
#include "day12_layer_norm/rms.cuh"
#include "day12_layer_norm/rms_norm.h"

namespace day12 {
namespace {

// A block has one row, or 128 threads' worth of short ones.
template <class T, int kThreads, int kElements, int kBlock>
__global__ void __launch_bounds__(kBlock) rms_registers_kernel(const RmsNorm<T> p) {
  using Row = Share<T, kThreads, kElements, true>;
  const int64_t row = int64_t{blockIdx.x} * (kBlock / kThreads) + threadIdx.x / kThreads;
  const int thread = threadIdx.x % kThreads;
  // Threads past the last row have an empty one: they take part in their warp's exchanges.
  const int cols = row < p.rows ? p.cols : 0;

  Row share, gamma;
  share.load(p.x + row * p.cols, thread, cols);
  gamma.load(p.gamma, thread, cols);
  float value[kElements], squares = 0;
  share.floats(value);
#pragma unroll
  for (int i = 0; i < kElements; ++i) squares += value[i] * value[i];
  __shared__ float of_warp[days::kWarpsOf<kThreads>];
  squares = days::row_reduce<kThreads>(squares, days::Sum{}, of_warp);
  const float rstd = rms_rstd(squares, p.cols, p.eps);
#pragma unroll
  for (int i = 0; i < kElements; ++i) value[i] = rms_scaled<T>(value[i], rstd, gamma[i]);
  Row::store(p.y + row * p.cols, value, thread, cols);
  if (thread == 0 && cols > 0 && p.rstd != nullptr) p.rstd[row] = rstd;
}

// Launches where kThreads threads with kElements elements hold a row; else false.
template <int kThreads, int kElements, class T>
bool launch(const RmsNorm<T>& p, cudaStream_t stream) {
  if (p.cols > kThreads * kElements) return false;
  constexpr int kBlock = kThreads < 128 ? 128 : kThreads;
  rms_registers_kernel<T, kThreads, kElements, kBlock>
      <<<days::ceil_div(p.rows, kBlock / kThreads), kBlock, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
  return true;
}

}  // namespace

template <class T>
void rms_norm_registers(const RmsNorm<T>& p, cudaStream_t stream) {
  require_problem(p, "rms_registers");
  days::require_needs(p, "rms_registers", kColsOfRegisters, kWholeRows);
  constexpr int kLong = sizeof(T) == 2 ? 32 : 8;  // four vectors of a long row of 16 bits, two of fp32
  static_assert(512 * 32 == kMaxColsRegisters);
  // The least that holds a row; the last one holds every row.
  static_cast<void>(launch<8, 8>(p, stream) || launch<32, 8>(p, stream) || launch<128, 8>(p, stream) ||
                    launch<4096 / kLong, kLong>(p, stream) || launch<512, 16>(p, stream) ||
                    launch<512, 32>(p, stream));
}

INSTANTIATE_LAUNCHER(rms_norm_registers, RmsNorm, float, days::half, days::bf16);

}  // namespace day12
