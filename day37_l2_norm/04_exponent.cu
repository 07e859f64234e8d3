// SPDX-License-Identifier: MIT
//
// The bits of floats that are not negative are in order as integers, NaN last: an integer maximum finds the largest,
// in a warp by one instruction. And a warp need not know the row's: it scales by its own largest, because sums with
// other powers of two merge without a rounding. Changed since registers: five exchanges of a warp fewer, one meeting
// of the warps fewer, no test for NaN. Takes cols <= 16384. Bound by: the memory.
// Teaches: __reduce_max_sync.

#include "common/check.h"
#include "day37_l2_norm/l2_norm.h"
#include "day37_l2_norm/scale.cuh"
#include "day37_l2_norm/tiers.cuh"

namespace day37 {
namespace {

// Over kLanes neighbours. The instruction, redux, is there from compute capability 8.0 on.
template <int kLanes>
__device__ unsigned largest_of_lanes(unsigned bits) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  if constexpr (kLanes == days::kWarpSize) return __reduce_max_sync(days::kFullWarp, bits);
#endif
  return days::warp_reduce<kLanes>(bits, days::Max{});
}

// A warp's part of a row: a sum of (x * power)^2.
struct Part {
  float power, sum;
};

// The parts of a block's warps as one, in each thread. The least power is that of the largest, so no part grows.
template <int kWarps>
__device__ Part merge(Part mine, Part (&of_warps)[kWarps]) {
  const int lane = static_cast<int>(threadIdx.x) % days::kWarpSize;
  if (lane == 0) of_warps[threadIdx.x / days::kWarpSize] = mine;
  __syncthreads();
  const Part part = of_warps[lane % kWarps];
  const float power = days::warp_reduce<kWarps>(part.power, days::Min{});
  const float shrink =
      power / part.power;  // a power of two, or 0 where the part is nothing beside the largest
  return {power, days::warp_reduce<kWarps>(part.sum * shrink * shrink, days::Sum{})};
}

template <class T, int kThreads, int kVectors, bool kEdge>
__global__ void __launch_bounds__(kBlockOf<kThreads>) exponent_kernel(const L2Normalize<T> p) {
  const int64_t row = int64_t{blockIdx.x} * (kBlockOf<kThreads> / kThreads) + threadIdx.x / kThreads;
  const int thread = threadIdx.x % kThreads;
  const T* x = p.x + row * p.cols;
  T* y = p.y + row * p.cols;
  const days::RowParts<T, kEdge> parts(x, row < p.rows ? p.cols : 0);
  days::RowValues<T, kVectors, kEdge> values;
  values.load(x, parts, true, thread, kThreads, days::from_float<T>(0));

  unsigned largest = 0;
#pragma unroll
  for (const float value : values.value) largest = max(largest, __float_as_uint(value) & 0x7fffffff);
  Part part = {inverse_power_of_bits(largest_of_lanes<kLanesOf<kThreads>>(largest)), 0};
#pragma unroll
  for (const float value : values.value) part.sum += value * part.power * (value * part.power);
  part.sum = days::warp_reduce<kLanesOf<kThreads>>(part.sum, days::Sum{});
  if constexpr (kThreads > days::kWarpSize) {
    __shared__ Part of_warps[days::kWarpsOf<kThreads>];
    part = merge(part, of_warps);
  }
  const Divisor divisor(part.power, part.sum, p.eps);

#pragma unroll
  for (float& value : values.value) value = divisor.quotient(value);
  values.store(y, parts, parts.fit(y), thread, kThreads);
  if (thread == 0 && row < p.rows) p.norm[row] = divisor.norm;
}

}  // namespace

template <class T>
void l2_norm_exponent(const L2Normalize<T>& p, cudaStream_t stream) {
  require_problem(p, "exponent");
  days::require_needs(p, "exponent", kColsOfRegisters);
  with_tier<T, kMaxColsRegisters>(p.cols, edges<T>(p.cols, p.x, p.y),
                                  [&](auto threads, auto vectors, auto edge) {
                                    constexpr int kBlock = kBlockOf<threads>;
                                    exponent_kernel<T, threads, vectors, edge>
                                        <<<days::ceil_div(p.rows, kBlock / threads), kBlock, 0, stream>>>(p);
                                    CUDA_CHECK_LAUNCH();
                                  });
}

INSTANTIATE_LAUNCHER(l2_norm_exponent, L2Normalize, float, days::half, days::bf16);

}  // namespace day37
