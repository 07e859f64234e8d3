// SPDX-License-Identifier: MIT
//
// A row is read once: it stays in shared memory between its two loops. One block a multiprocessor has a ring of 28 stages of 8 KiB; a
// warp of its own asks the copy engine to fill them, row after row. What the second loop has read is free at once, so the next row
// comes while this one is being written, and no barrier stops that.
// Changed since vectors: one read for two; up to 224 KiB of bytes under way, and not what registers hold.
// Bound by: the memory, one read and one write; behind it two exponentials an element.
// Teaches: cp_async_bulk, mbarrier_wait.
#include <algorithm>

#include "common/ring.cuh"
#include "day74_cross_entropy/gradient.cuh"

namespace day74 {
namespace {

constexpr int kThreads = kStageBytes / 16;  // that compute: each has a vector of every stage
constexpr int kWarps = kThreads / days::kWarpSize;
constexpr uint32_t kBarrier = 1;  // of those that compute

template <class T>
struct Shared {
  struct Stage {
    days::Vec<T> vector[kThreads];
  };
  days::Ring<Stage, kStages, kWarps> ring;
  // By turns, a row each: who is early may write the next row's while others still read this one's.
  Partial partials[2][kWarps];
  float below[2][kWarps];
};

// For one thread: asks for the rows of this block, stage after stage. A row without a class is not read.
template <class T>
__device__ void fetch_rows(const CrossEntropy<T>& p, Shared<T>& shared) {
  days::Turn<kStages> turn;
  for (int64_t row = blockIdx.x; row < p.rows; row += gridDim.x) {
    if (kind_of(p.targets[row], p.classes, p.ignore_index) != Target::kClass) continue;
    const T* const x = p.logits + row * p.cols;
    const days::RowParts<T> parts(x, p.classes);
    for (int first = 0; first < parts.vectors; first += kThreads) {
      const uint32_t bytes = 16 * static_cast<uint32_t>(min(kThreads, parts.vectors - first));
      uint64_t* const full = &shared.ring.full[turn.stage];
      days::ptx::mbarrier_wait(&shared.ring.empty[turn.stage], turn.phase ^ 1);
      days::ptx::mbarrier_arrive_expect_tx(full, bytes);
      days::ptx::cp_async_bulk(shared.ring.stage[turn.stage].vector, x + parts.vector_col(first), bytes,
                               full);
      turn.next();
    }
  }
}

template <class T>
__global__ void __launch_bounds__(kThreads + days::kWarpSize) resident_kernel(const CrossEntropy<T> p) {
  constexpr int kVector = days::kVector<T>;
  extern __shared__ uint4 memory[];
  Shared<T>& shared = *reinterpret_cast<Shared<T>*>(memory);
  shared.ring.init();
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % days::kWarpSize, warp = thread / days::kWarpSize;
  if (warp == kWarps) {
    if (lane == 0) fetch_rows(p, shared);
    return;
  }

  days::Turn<kStages> turn;
  int set = 0;
  int32_t next_target = p.targets[blockIdx.x];
  for (int64_t row = blockIdx.x; row < p.rows; row += gridDim.x) {
    const int32_t target = next_target;
    if (row + gridDim.x < p.rows) next_target = p.targets[row + gridDim.x];  // a row ahead of its use
    T* const x = p.logits + row * p.cols;                                    // (cols)
    fill_row(x, p.classes, p.cols, 0, thread, kThreads);
    if (without_class(p, row, target, thread, kThreads)) continue;
    const float x_target = days::to_float(x[target]), dloss = p.dloss[row];
    const days::RowParts<T> parts(x, p.classes);
    const float edge = thread < parts.edge ? days::to_float(x[parts.edge_col(thread)]) : -INFINITY;

    Partial mine;
    mine.add(edge);
    days::Turn<kStages> again = turn;
    for (int first = 0; first < parts.vectors; first += kThreads) {
      days::ptx::mbarrier_wait(&shared.ring.full[turn.stage], turn.phase);
      if (first + thread < parts.vectors) {
        const days::Vec<T> vec = shared.ring.stage[turn.stage].vector[thread];
        float values[kVector];
#pragma unroll
        for (int j = 0; j < kVector; ++j) values[j] = days::to_float(vec[j]);
        add_all<T>(mine, values);
      }
      turn.next();
    }
    set ^= 1;
    const Partial of_warp = warp_merge(mine);
    if (lane == 0) shared.partials[set][warp] = of_warp;
    days::ptx::bar_sync(kBarrier, kThreads);
    const Partial all = days::warp_merge<kWarps>(shared.partials[set][lane % kWarps]);

    const Gradient gradient(p, all, dloss);
    const Place place(parts, target);
    float below = thread < parts.edge ? all.max - edge : 0;
    for (int first = 0; first < parts.vectors; first += kThreads) {
      const bool mine_too = first + thread < parts.vectors;
      days::Vec<T> vec;
      if (mine_too) vec = shared.ring.stage[again.stage].vector[thread];
      shared.ring.release(again.stage);
      again.next();
      if (!mine_too) continue;
      float values[kVector];
#pragma unroll
      for (int j = 0; j < kVector; ++j) values[j] = days::to_float(vec[j]);
      if (p.smoothing != 0) {
#pragma unroll
        for (const float value : values) below += all.max - value;
      }
#pragma unroll
      for (float& value : values) value = gradient.template of<T>(value);
      if (first + thread == place.vector) {
#pragma unroll
        for (int j = 0; j < kVector; ++j)
          if (j == place.lane) values[j] -= gradient.at_target;
      }
#pragma unroll
      for (int j = 0; j < kVector; ++j) vec[j] = days::from_float<T>(values[j]);
      days::store_vector(x + parts.vector_col(first + thread), vec, true);
    }
    if (thread < parts.edge) {
      const float dx = gradient.template of<T>(edge);
      x[parts.edge_col(thread)] = days::from_float<T>(thread == place.edge ? dx - gradient.at_target : dx);
    }
    if (p.smoothing != 0) {
      below = days::warp_reduce(below, days::Sum{});
      if (lane == 0) shared.below[set][warp] = below;
      days::ptx::bar_sync(kBarrier, kThreads);
      below = days::warp_reduce<kWarps>(shared.below[set][lane % kWarps], days::Sum{});
    }
    if (thread == 0) p.loss[row] = loss_of(p, all, x_target, below);
  }
}

}  // namespace

template <class T>
void cross_entropy_resident(const CrossEntropy<T>& p, cudaStream_t stream) {
  require_problem(p, "resident");
  days::require_needs(p, "resident", kRowFits);
  constexpr int kBytes = sizeof(Shared<T>);
  const auto kernel = resident_kernel<T>;
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
  const unsigned blocks = static_cast<unsigned>(std::min(p.rows, days::multiprocessors()));
  kernel<<<blocks, kThreads + days::kWarpSize, kBytes, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(cross_entropy_resident, CrossEntropy, float, days::half, days::bf16);

}  // namespace day74
