// SPDX-License-Identifier: MIT
//
// Six rungs of one kernel: they differ in how many chains of multiply-adds a thread works on at once, and in how
// many warps there are for each of a multiprocessor's four schedulers.
//
// ilp1: One chain a thread, one warp for each scheduler: a multiply-add starts when the last one has finished.
// Bound by: latency. A scheduler could issue one warp's multiply-add a cycle, and has one to issue every
// four.
//
// ilp2: Two chains a thread: instruction-level parallelism (ILP).
// Changed since ilp1: while one chain waits, the other can issue. Twice the rate with no more threads.
// Bound by: latency still; two in flight where about four are needed.
//
// ilp4: Four chains a thread.
// Changed since ilp2: four in flight, as many as a multiply-add takes cycles.
// Bound by: the rate of issue, nearly; what the loop itself issues comes on top.
//
// ilp8: Eight chains a thread.
// Changed since ilp4: twice as many in flight as the latency asks for, which gains nothing more.
// Bound by: the rate of issue, as before, but for the cycles in which the only warp cannot go on.
//
// ilp1_warps8: One chain a thread again, but eight warps for each scheduler.
// Changed since ilp8: the eight chains in flight belong to eight warps instead of one.
// Bound by: on Hopper not latency but, it seems, the register file. Each multiply-add reads three registers;
// with several chains the compiler lets one that follows at once reuse a and b, and with one chain it does not.
//
// ilp4_warps2: Four chains a thread and two warps for each scheduler.
// Changed since ilp1_warps8: eight chains in flight still, but each warp has several to issue in a row.
// Bound by: the rate of issue. When one warp cannot go on, the other one multiplies.
// Teaches: fmaf.

#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "day16_device_query/device_query.h"

namespace day16 {
namespace {

// A multiprocessor has four schedulers, each of which issues for its own warps. 128 threads give each
// scheduler one warp.
constexpr int kOneWarpEach = 128;

// The grid has a fixed number of threads, which share the n elements; a thread steps through kChains of them
// at a time. kChains is known at compile time, so `v` lives in registers and the inner loop is unrolled into
// kChains fused multiply-adds that do not wait for one another.
template <int kChains>
__global__ void fma_kernel(const float* x, float* y, float a, float b, int64_t n, int64_t steps) {
  const int64_t threads = int64_t{gridDim.x} * blockDim.x;
  for (int64_t first = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; first < n;
       first += kChains * threads) {
    float v[kChains];
#pragma unroll
    for (int c = 0; c < kChains; ++c) v[c] = first + c * threads < n ? x[first + c * threads] : 0.0f;
#pragma unroll 128
    for (int64_t s = 0; s < steps; ++s) {
#pragma unroll
      for (int c = 0; c < kChains; ++c) v[c] = fmaf(v[c], a, b);
    }
#pragma unroll
    for (int c = 0; c < kChains; ++c) {
      if (first + c * threads < n) y[first + c * threads] = v[c];
    }
  }
}

template <int kChains>
void launch(const Fma<float>& p, int warps_each, const char* variant, cudaStream_t stream) {
  days::require(p.n > 0, variant, ": n must be positive, not", p.n);
  days::require(p.steps > 0, variant, ": steps must be positive, not", p.steps);
  fma_kernel<kChains>
      <<<days::multiprocessors(), warps_each * kOneWarpEach, 0, stream>>>(p.x, p.y, p.a, p.b, p.n, p.steps);
  CUDA_CHECK_LAUNCH();
}

}  // namespace

void fma_ilp1(const Fma<float>& p, cudaStream_t stream) {
  launch<1>(p, 1, "ilp1", stream);
}
void fma_ilp2(const Fma<float>& p, cudaStream_t stream) {
  launch<2>(p, 1, "ilp2", stream);
}
void fma_ilp4(const Fma<float>& p, cudaStream_t stream) {
  launch<4>(p, 1, "ilp4", stream);
}
void fma_ilp8(const Fma<float>& p, cudaStream_t stream) {
  launch<8>(p, 1, "ilp8", stream);
}
void fma_ilp1_warps8(const Fma<float>& p, cudaStream_t stream) {
  launch<1>(p, 8, "ilp1_warps8", stream);
}
void fma_ilp4_warps2(const Fma<float>& p, cudaStream_t stream) {
  launch<4>(p, 2, "ilp4_warps2", stream);
}

}  // namespace day16
