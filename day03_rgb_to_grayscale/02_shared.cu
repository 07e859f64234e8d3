// SPDX-License-Identifier: MIT
//
// A block fetches the colours of its pixels into shared memory first, 16 neighbouring bytes a thread, and
// picks them apart there. Since bytes: memory is read in whole sectors, each once; the walk in steps of three
// happens in shared memory, where it costs no bank conflict (3 and 32 have no common divisor).
// Bound by: the barrier, behind which a block loads nothing, and bytes picked and stored one at a time.
// Teaches: uint4.

#include "common/check.h"
#include "common/util.h"
#include "day03_rgb_to_grayscale/grayscale.h"

namespace day03 {
namespace {

constexpr int kThreads = 256;
constexpr int kTile = 4 * kThreads;  // pixels a block turns gray

template <class T>
struct Tile {
  alignas(16) T rgb[3 * kTile];
};

template <class T>
__global__ void shared_kernel(const T* rgb,  // (n, 3)
                              T* gray,       // (n)
                              int64_t n) {
  constexpr int kVector = 16 / sizeof(T);  // elements in 16 bytes
  __shared__ Tile<T> tile;
  const int64_t start = int64_t{blockIdx.x} * kTile;  // the block's first pixel
  const int count = n - start < kTile ? static_cast<int>(n - start) : kTile;
  const T* from = rgb + 3 * start;
  for (int i = kVector * threadIdx.x; i < 3 * count; i += kVector * kThreads) {
    if (i + kVector <= 3 * count) {
      *reinterpret_cast<uint4*>(tile.rgb + i) = *reinterpret_cast<const uint4*>(from + i);
    } else {
      for (int j = i; j < 3 * count; ++j) tile.rgb[j] = from[j];
    }
  }
  __syncthreads();  // a thread's pixels were fetched by others
  for (int i = threadIdx.x; i < count; i += kThreads) {
    gray[start + i] = gray_of(tile.rgb[3 * i], tile.rgb[3 * i + 1], tile.rgb[3 * i + 2]);
  }
}

}  // namespace

template <class T>
void grayscale_shared(const Grayscale<T>& p, cudaStream_t stream) {
  require_extents(p, "shared");
  days::require_needs(p, "shared", kAlignedRgb);
  const int64_t n = p.pixels(), blocks = days::ceil_div(n, kTile);
  days::require(blocks <= days::kMaxGridX,
                "shared: a grid has at most 2^31 - 1 blocks of 1024 pixels; there are", n);
  shared_kernel<T><<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(p.rgb, p.gray, n);
  CUDA_CHECK_LAUNCH();
}
INSTANTIATE_LAUNCHER(grayscale_shared, Grayscale, uint8_t, float);

}  // namespace day03
