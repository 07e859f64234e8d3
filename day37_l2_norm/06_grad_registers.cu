// SPDX-License-Identifier: MIT
//
// y and dy once, 16 bytes a load, all of a thread's loads under way before one is looked at. Changed since
// grad_twice: half of the reads. Takes cols <= 8192. Bound by: the memory, two reads to one write.

#include "common/check.h"
#include "day37_l2_norm/clamp.cuh"
#include "day37_l2_norm/l2_norm.h"
#include "day37_l2_norm/tiers.cuh"

namespace day37 {
namespace {

template <class T, int kThreads, int kVectors, bool kEdge>
__global__ void __launch_bounds__(kBlockOf<kThreads>) grad_registers_kernel(const L2NormalizeBackward<T> p) {
  __shared__ float of_warps[days::kWarpsOf<kThreads>];
  const int64_t row = int64_t{blockIdx.x} * (kBlockOf<kThreads> / kThreads) + threadIdx.x / kThreads;
  const int thread = threadIdx.x % kThreads;
  const T *y = p.y + row * p.cols, *dy = p.dy + row * p.cols;
  T* dx = p.dx + row * p.cols;
  const days::RowParts<T, kEdge> parts(y, row < p.rows ? p.cols : 0);
  const T zero = days::from_float<T>(0);
  const days::RowBits<T, kVectors> y_bits(y, parts, true, thread, kThreads, zero);
  const days::RowBits<T, kVectors> dy_bits(dy, parts, parts.fit(dy), thread, kThreads, zero);
  const Slope slope(row < p.rows ? p.norm[row] : 1, p.eps);
  days::RowValues<T, kVectors, kEdge> of_y, of_dy;
  of_y.convert(y_bits);
  of_dy.convert(dy_bits);

  float along = 0;
#pragma unroll
  for (int i = 0; i < of_y.kSize; ++i) along += of_y.value[i] * of_dy.value[i];
  along = days::row_reduce<kThreads>(along, days::Sum{}, of_warps);
#pragma unroll
  for (int i = 0; i < of_y.kSize; ++i) of_y.value[i] = slope.dx(of_y.value[i], of_dy.value[i], along);
  of_y.store(dx, parts, parts.fit(dx), thread, kThreads);
}

}  // namespace

template <class T>
void l2_norm_grad_registers(const L2NormalizeBackward<T>& p, cudaStream_t stream) {
  require_problem(p, "grad_registers");
  days::require_needs(p, "grad_registers", kColsOfBackward);
  with_tier<T, kMaxColsBackward>(p.cols, edges<T>(p.cols, p.y, p.dy, p.dx),
                                 [&](auto threads, auto vectors, auto edge) {
                                   constexpr int kBlock = kBlockOf<threads>;
                                   grad_registers_kernel<T, threads, vectors, edge>
                                       <<<days::ceil_div(p.rows, kBlock / threads), kBlock, 0, stream>>>(p);
                                   CUDA_CHECK_LAUNCH();
                                 });
}

INSTANTIATE_LAUNCHER(l2_norm_grad_registers, L2NormalizeBackward, float, days::half, days::bf16);

}  // namespace day37
