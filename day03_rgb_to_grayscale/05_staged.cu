// SPDX-License-Identifier: MIT
//
// Both ideas together: a warp fetches its 1,536 bytes of colour as three requests of 512 neighbouring bytes,
// lays them down in shared memory, and each lane picks up its own 48. Since vectors: a request's sectors are
// used whole. Lanes pick up 12 words apart, which takes the 32 banks in turn: no conflicts. The bytes stay
// within the warp, so __syncwarp is enough and no warp waits for another.
// Bound by: memory.
// Teaches: __syncwarp.

#include "common/check.h"
#include "common/util.h"
#include "day03_rgb_to_grayscale/quad.cuh"

namespace day03 {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / days::kWarpSize;

template <class T>
struct Staging {
  Four<T> warp[kWarps][3 * days::kWarpSize];
};

template <class T>
__global__ void staged_kernel(const T* rgb,  // (n, 3)
                              T* gray,       // (n)
                              int64_t n) {
  constexpr int kWarpPixels = kQuad<T> * days::kWarpSize;
  __shared__ Staging<T> staging;
  const int lane = threadIdx.x % days::kWarpSize;
  Four<T>* mine = staging.warp[threadIdx.x / days::kWarpSize];
  const int64_t start = (int64_t{blockIdx.x} * kWarps + threadIdx.x / days::kWarpSize) * kWarpPixels;
  if (start + kWarpPixels > n) {  // the same for the whole warp: the picture's last one, or nothing to do
    for (int64_t i = start + lane; i < n; i += days::kWarpSize) gray_of_rest(rgb, gray, i, i + 1);
    return;
  }
  const Four<T>* from = reinterpret_cast<const Four<T>*>(rgb + 3 * start);
#pragma unroll
  for (int i = 0; i < 3; ++i) mine[i * days::kWarpSize + lane] = from[i * days::kWarpSize + lane];
  __syncwarp();  // lanes read what others have laid down
  reinterpret_cast<Four<T>*>(gray + start)[lane] =
      gray_of_48_bytes(mine[3 * lane], mine[3 * lane + 1], mine[3 * lane + 2]);
}

}  // namespace

template <class T>
void grayscale_staged(const Grayscale<T>& p, cudaStream_t stream) {
  require_extents(p, "staged");
  days::require_needs(p, "staged", kAligned);
  const int64_t n = p.pixels(), blocks = days::ceil_div(n, kQuad<T> * kThreads);
  days::require(blocks <= days::kMaxGridX, "staged: too many pixels for one grid:", n);
  staged_kernel<T><<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(p.rgb, p.gray, n);
  CUDA_CHECK_LAUNCH();
}
INSTANTIATE_LAUNCHER(grayscale_staged, Grayscale, uint8_t, float);

}  // namespace day03
