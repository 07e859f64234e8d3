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

  // 1. The sum of a warp's values up to and with each lane, in five steps of distance 1, 2, 4, 8, 16: all lanes ask for
  //    __shfl_up_sync(days::kFullWarp, value, distance), the value of the lane so far below, and those that have one add it.
  // 2. For each j: the sum of own[j], scanned so. What the warp's elements before vector j of this lane add up to are the vectors j
  //    of the lanes below, and all of the loads before.
  // 3. Each warp leaves its whole sum in shared memory; what is before a warp is the sum of those of the warps before it.
  // 4. write(j, ...) for each j. What is before the tile is sums[blockIdx.x].
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
