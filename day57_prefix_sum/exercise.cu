// SPDX-License-Identifier: MIT
//
// Exercise: the third launch of a scan, in which each tile scans its own elements, in registers and with one barrier.
// Gates: every sum right, inclusive and exclusive; no race; no bank conflicts, at most 10% wasted sectors, three launches.
//   ./days check 57     tells how far you are        ./days hint 57     when you are stuck
#include "common/check.h"
#include "common/reduce.cuh"
#include "common/util.h"
#include "common/vector.cuh"
#include "day57_prefix_sum/prefix_sum.h"

namespace day57 {
namespace {

// Step 1: the sum up to and with this lane. All 32 lanes call it. __shfl_up_sync(days::kFullWarp, value, distance) is the value of
// the lane `distance` below; all lanes ask for it, and those that have such a lane add it. Distances are 1, 2, 4, 8, 16.
template <class Sum>
__device__ Sum inclusive_in_warp(Sum value) {
  // your code
  return value;
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    exercise_kernel(const T* x,            // (n)
                    T* y,                  // (n)
                    const Total<T>* sums,  // (tiles): what is before each tile
                    int64_t n, bool exclusive) {
  // Load j of a warp takes 32 vectors in a row. Vector j of this thread begins at first + place(j).
  const int64_t first = int64_t{blockIdx.x} * kTile<T>;
  const int lane = static_cast<int>(threadIdx.x) % days::kWarpSize,
            warp = static_cast<int>(threadIdx.x) / days::kWarpSize;
  const auto place = [&](int j) { return ((warp * kVectors + j) * days::kWarpSize + lane) * kEach<T>; };
  const bool whole = n - first >= kTile<T> && days::aligned16(x, y);
  Total<T> own[kVectors][kEach<T>];
  for (int j = 0; j < kVectors; ++j) {
    days::Vec<T> vector = {};
    if (whole) vector = days::load16(x + first + place(j));
    for (int i = 0; i < kEach<T>; ++i) {
      if (!whole && first + place(j) + i < n) vector[i] = x[first + place(j) + i];
      own[j][i] = to_total(vector[i]);
    }
  }
  // Writes the results of vector j, where `before` is all that is before it.
  [[maybe_unused]] const auto write = [&](int j, Total<T> before) {
    Total<T> up_to = 0;
    days::Vec<T> vector;
    for (int i = 0; i < kEach<T>; ++i) {
      const Total<T> with = up_to + own[j][i];
      vector[i] = from_total<T>(before + (exclusive ? up_to : with));
      if (!whole && first + place(j) + i < n) y[first + place(j) + i] = vector[i];
      up_to = with;
    }
    if (whole) days::store16(y + first + place(j), vector);
  };

  // Step 2: what the warp's elements before each vector add up to: load 0 of all lanes comes first, then load 1, ...
  // Step 3: the warps leave their sums in shared memory, a word each; what is before a warp is the sum of those of earlier warps.
  // Step 4: write(j, ...) for each j. What is before the tile is sums[blockIdx.x].
  // your code
}

}  // namespace

template <class T>
void exercise(const Scan<T>& p, cudaStream_t stream) {
  const unsigned tiles = static_cast<unsigned>(tiles_of(p, kTile<T>, "exercise"));
  Total<T>* sums = reinterpret_cast<Total<T>*>(workspace_of(p, raked_workspace(p), "exercise"));
  sums_before_tiles<kTile<T>>(p, sums, stream);
  exercise_kernel<<<tiles, kThreads, 0, stream>>>(p.x, p.y, sums, p.n, p.exclusive);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(exercise, Scan, float, days::half, days::bf16, int32_t);

}  // namespace day57
