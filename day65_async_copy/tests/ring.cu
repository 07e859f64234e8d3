// SPDX-License-Identifier: MIT
//
// The ring of tensor, by itself: test.cpp looks at what these kernels say. Who fetches and who computes
// go by the same ring, so where it is wrong for both of them, what comes out may still be right.

#include "common/check.h"
#include "common/ptx.h"
#include "day65_async_copy/march.cuh"
#include "day65_async_copy/ring.cuh"
#include "day65_async_copy/stencil.h"

namespace day65 {
namespace {

__global__ void turns_kernel(int* out, int turns) {
  Turn<4> turn;
  for (int i = 0; i < turns; ++i, turn.next()) {
    out[2 * i] = turn.stage;
    out[2 * i + 1] = static_cast<int>(turn.phase);
  }
}

__global__ void stages_kernel(const Stencil<float> p, const March march, int* out) {
  Part part(p, march);
  part.last = part.first + 1 + static_cast<int>(threadIdx.x);
  out[threadIdx.x] = stages_of(part);
}

// Two warps read a stage, one after the other.
__global__ void releases_kernel(int* out) {
  constexpr int kReaders = 2, kStage = 1;
  __shared__ Ring<Vector, 3, kReaders> ring;
  ring.init();
  for (int reader = 0; reader < kReaders; ++reader) {
    if (static_cast<int>(threadIdx.x) / days::kWarpSize == reader) ring.release(kStage);
    __syncthreads();
    if (threadIdx.x == 0) out[reader] = days::ptx::mbarrier_test_wait_parity(&ring.empty[kStage], 0);
    __syncthreads();
  }
}

}  // namespace

// Stage and phase of so many turns in a ring of four stages.
void ring_turns(int* out, int turns) {
  turns_kernel<<<1, 1>>>(out, turns);
  CUDA_CHECK_LAUNCH();
}

// The stages of parts of 1, 2, ... rows.
void ring_stages(int* out, int parts) {
  stages_kernel<<<1, parts>>>({nullptr, nullptr, parts, 4, 1}, {1, parts, 1}, out);
  CUDA_CHECK_LAUNCH();
}

// Whether a stage of two readers is empty once one of them has read it, and once both have.
void ring_releases(int* out) {
  releases_kernel<<<1, 2 * days::kWarpSize>>>(out);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day65
