// SPDX-License-Identifier: MIT
//
// The row is read once and stays in the registers of its threads: there the largest costs no read, so the largest
// comes first again, and the three sums go. Changed since three: one read, 16 bytes a load, and as many threads a
// row as it has work for. Takes cols <= 16384. Bound by: the memory, and two meetings of the threads a row.

#include "common/check.h"
#include "day37_l2_norm/l2_norm.h"
#include "day37_l2_norm/scale.cuh"
#include "day37_l2_norm/tiers.cuh"

namespace day37 {
namespace {

template <class T, int kThreads, int kVectors, bool kEdge>
__global__ void __launch_bounds__(kBlockOf<kThreads>) registers_kernel(const L2Normalize<T> p) {
  __shared__ float of_warps[2][days::kWarpsOf<kThreads>];
  const int64_t row = int64_t{blockIdx.x} * (kBlockOf<kThreads> / kThreads) + threadIdx.x / kThreads;
  const int thread = threadIdx.x % kThreads;
  const T* x = p.x + row * p.cols;
  T* y = p.y + row * p.cols;
  // Threads past the last row have an empty one: they take part in their warp's exchanges.
  const days::RowParts<T, kEdge> parts(x, row < p.rows ? p.cols : 0);
  days::RowValues<T, kVectors, kEdge> values;
  values.load(x, parts, true, thread, kThreads, days::from_float<T>(0));

  float largest = 0, sum = 0;
#pragma unroll
  for (const float value : values.value) largest = days::Max{}(largest, fabsf(value));
  largest = days::row_reduce<kThreads>(largest, days::Max{}, of_warps[0]);
  const float power = inverse_power(largest);
#pragma unroll
  for (const float value : values.value) sum += value * power * (value * power);
  const Divisor divisor(power, days::row_reduce<kThreads>(sum, days::Sum{}, of_warps[1]), p.eps);

#pragma unroll
  for (float& value : values.value) value = divisor.quotient(value);
  values.store(y, parts, parts.fit(y), thread, kThreads);
  if (thread == 0 && row < p.rows) p.norm[row] = divisor.norm;
}

}  // namespace

template <class T>
void l2_norm_registers(const L2Normalize<T>& p, cudaStream_t stream) {
  require_problem(p, "registers");
  days::require_needs(p, "registers", kColsOfRegisters);
  with_tier<T, kMaxColsRegisters>(p.cols, edges<T>(p.cols, p.x, p.y),
                                  [&](auto threads, auto vectors, auto edge) {
                                    constexpr int kBlock = kBlockOf<threads>;
                                    registers_kernel<T, threads, vectors, edge>
                                        <<<days::ceil_div(p.rows, kBlock / threads), kBlock, 0, stream>>>(p);
                                    CUDA_CHECK_LAUNCH();
                                  });
}

INSTANTIATE_LAUNCHER(l2_norm_registers, L2Normalize, float, days::half, days::bf16);

}  // namespace day37
