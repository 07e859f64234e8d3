// SPDX-License-Identifier: MIT
//
// Kernels of day 65 with a bug in each, which its tests must reject.

#include <cuda_runtime.h>

#include <cstdint>

#include "common/check.h"
#include "common/must_reject.h"
#include "common/ptx.h"
#include "common/ring.cuh"
#include "common/util.h"
#include "day65_async_copy/march.cuh"
#include "day65_async_copy/stencil.h"

namespace day65 {
namespace {

// ---- the sum, an element a thread ----

template <class At>
__device__ float star(At at, int64_t row, int64_t col, int radius = kRadius) {
  float sum = weight(0) * at(row, col);
  for (int k = 1; k <= radius; ++k) {
    sum += weight(k) * (at(row - k, col) + at(row + k, col) + at(row, col - k) + at(row, col + k));
  }
  return sum;
}
template <void (*kKernel)(Stencil<float>)>
void launch(const Stencil<float>& p, cudaStream_t stream) {
  kKernel<<<static_cast<unsigned>(days::ceil_div(int64_t{p.rows} * p.cols, 256)), 256, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}
struct Place {
  int64_t i, row, col;
  bool inside;
  __device__ explicit Place(const Stencil<float>& p)
      : i(int64_t{blockIdx.x} * 256 + threadIdx.x), row(i / p.cols), col(i % p.cols), inside(row < p.rows) {}
};

// What is outside counts as 0 times the edge's element, which is no 0 where that is infinite or no number.
__global__ void zero_times(Stencil<float> p) {
  const Place at(p);
  if (!at.inside) return;
  const auto value = [&](int64_t r, int64_t c) {
    const bool inside = r >= 0 && r < p.rows && c >= 0 && c < p.cols;
    const int64_t row = min(max(r, int64_t{0}), int64_t{p.rows} - 1),
                  col = min(max(c, int64_t{0}), int64_t{p.cols} - 1);
    return (inside ? 1.0f : 0.0f) * p.in[row * p.cols + col];
  };
  p.out[at.i] = star(value, at.row, at.col);
}
MUST_REJECT(stencil, launch<zero_times>, "NaN, infinity, 1e30: out[");

// ---- the march, with cp.async into a ring of three stages ----

enum class Bug { kLateStart, kSeam, kNoWait, kWaitsForOneLess, kNoBarrier, kRefillsEarly, kSkipsEmptyGroups };

constexpr int kStages = 3;

template <Bug kBug>
__global__ void __launch_bounds__(kThreads)
    ring_kernel(const Stencil<float> p, const March march, int strip) {
  __shared__ Row ring[kStages];
  Part part(p, march);
  part.left = static_cast<int>(blockIdx.x % march.strips) * strip - kMargin;
  const int begin = part.first - (kBug == Bug::kLateStart ? 0 : kRadius), end = part.last + kRadius;
  const auto copy = [&](int row, int stage, int vector) {
    const bool there = part.has(p, row, vector);
    days::ptx::cp_async_cg(&ring[stage][vector], there ? part.find(p, row, vector) : p.in, there ? 16 : 0);
  };
  const auto fetch = [&](int row, int stage) {
    if (row < end) {
      copy(row, stage, part.own);
      if (part.has_margin()) copy(row, stage, part.margin);
    } else if (kBug == Bug::kSkipsEmptyGroups) {
      return;
    }
    days::ptx::cp_async_commit_group();
  };
  for (int s = 0; s < kStages - 1; ++s) fetch(begin + s, s);
  Sums<> sums;
  for (int row = begin; row < end; ++row) {
    const int now = (row - begin) % kStages, free = (now + kStages - 1) % kStages;
    if constexpr (kBug == Bug::kWaitsForOneLess) {
      days::ptx::cp_async_wait_group<kStages - 1>();
    } else if constexpr (kBug != Bug::kNoWait) {
      days::ptx::cp_async_wait_group<kStages - 2>();
    }
    if (kBug == Bug::kRefillsEarly) fetch(row + kStages - 1, free);
    if (kBug != Bug::kNoBarrier) __syncthreads();
    if (kBug != Bug::kRefillsEarly) fetch(row + kStages - 1, free);
    sums.add(Near(&ring[now][part.own]));
    part.store(p, row - kRadius, sums.take());
  }
}
template <Bug kBug>
void ring(const Stencil<float>& p, cudaStream_t stream) {
  require_problem(p, "ring");
  days::require_needs(p, "ring", kWholeVectors);
  const int strip = kBug == Bug::kSeam ? kStrip + kMargin / 2 : kStrip;
  const March march = march_of(p, strip, "ring");
  ring_kernel<kBug><<<static_cast<unsigned>(march.blocks), kThreads, 0, stream>>>(p, march, strip);
  CUDA_CHECK_LAUNCH();
}

// Strips that lie four columns too far apart: those four are nobody's.
void seam(const Stencil<float>& p, cudaStream_t stream) {
  ring<Bug::kSeam>(p, stream);
}
MUST_REJECT(stencil, seam, "9 x 1028 x 1: out[0,1024] is");

void no_wait(const Stencil<float>& p, cudaStream_t stream) {
  ring<Bug::kNoWait>(p, stream);
}
MUST_REJECT(stencil, no_wait, "1 x 4 x 1: out[0,0] is|simt-async-wait");

// All but the youngest two groups have landed: of three, that is one too few.
void waits_for_one_less(const Stencil<float>& p, cudaStream_t stream) {
  ring<Bug::kWaitsForOneLess>(p, stream);
}
MUST_REJECT(stencil, waits_for_one_less, "1 x 4 x 1: out[0,0] is|simt-async-wait");

// The stage of the row before is overwritten while some warp may still read it.
void refills_early(const Stencil<float>& p, cudaStream_t stream) {
  ring<Bug::kRefillsEarly>(p, stream);
}
MUST_REJECT(stencil, refills_early, "out[|simt-async-wait|simt-race-shared");

// ---- the copy engine ----

enum class Engine { kEarlyPhase, kNoZeros, kStalePhase };

// A thread asks for the next row in one bulk copy, into a ring of two stages.
template <Engine kBug>
__global__ void __launch_bounds__(kThreads) engine_kernel(const Stencil<float> p, const March march) {
  __shared__ days::Ring<Row, 2, kThreads / days::kWarpSize> ring;
  const Part part(p, march);
  const int begin = max(part.first - kRadius, 0), end = min(part.last + kRadius, p.rows);
  const int from = max(part.left, 0), to = min(part.left + kTile, p.cols);
  const uint32_t bytes = static_cast<uint32_t>(to - from) * sizeof(float);
  for (int v = static_cast<int>(threadIdx.x); v < kVectors; v += kThreads) {
    const int col = part.left + 4 * v;
    const bool inside = col >= 0 && col < p.cols;
    if (kBug != Engine::kNoZeros && !inside) {
      for (Row& row : ring.stage) row[v] = {};
    }
  }
  ring.init();
  days::Turn<2> fill, use;
  const auto fetch = [&](int row) {
    days::ptx::mbarrier_wait(&ring.empty[fill.stage], fill.phase ^ 1);
    days::ptx::mbarrier_arrive_expect_tx(&ring.full[fill.stage], bytes);
    days::ptx::cp_async_bulk(&ring.stage[fill.stage][(from - part.left) / 4],
                             p.in + int64_t{row} * p.cols + from, bytes, &ring.full[fill.stage]);
    fill.next();
  };
  if (threadIdx.x == 0) fetch(begin);
  Sums<> sums;
  for (int row = part.first - kRadius; row < part.last + kRadius; ++row) {
    if (row >= begin && row < end) {
      // kStalePhase never flips: from the second round on, the phase that it waits for has long ended.
      const uint32_t phase = kBug == Engine::kEarlyPhase   ? use.phase ^ 1
                             : kBug == Engine::kStalePhase ? 0
                                                           : use.phase;
      days::ptx::mbarrier_wait(&ring.full[use.stage], phase);
      const Near near(&ring.stage[use.stage][part.own]);
      ring.release(use.stage);
      use.next();
      if (threadIdx.x == 0 && row + 1 < end) fetch(row + 1);
      sums.add(near);
    }
    part.store(p, row - kRadius, sums.take());
  }
}
template <Engine kBug>
void engine(const Stencil<float>& p, cudaStream_t stream) {
  require_problem(p, "engine");
  days::require_needs(p, "engine", kWholeVectors);
  const March march = march_of(p, kStrip, "engine");
  engine_kernel<kBug><<<static_cast<unsigned>(march.blocks), kThreads, 0, stream>>>(p, march);
  CUDA_CHECK_LAUNCH();
}

void stale_phase(const Stencil<float>& p, cudaStream_t stream) {
  engine<Engine::kStalePhase>(p, stream);
}
MUST_REJECT(stencil, stale_phase, "out[|simt-async-wait");

}  // namespace
}  // namespace day65
