// SPDX-License-Identifier: MIT
//
// 180 degrees, one thread a pixel: pixel i of all goes to place n - 1 - i. Rows stay rows, only reversed, so lanes that read neighbours
// write neighbours, and nothing has to pass through a tile.
// Bound by: bytes in flight, 4 a thread (1 where pixels are bytes).

#include "common/check.h"
#include "common/util.h"
#include "day58_matrix_rotation/rotation.h"

namespace day58 {
namespace {

constexpr int kThreads = 256;

template <class T>
__global__ void half_pixels_kernel(const T* in,  // (n)
                                   T* out,       // (n)
                                   int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < n) out[n - 1 - i] = in[i];
}

}  // namespace

template <class T>
void half_pixels(const Rotate<T>& p, cudaStream_t stream) {
  require_half(p, "half_pixels");
  require_apart(p, "half_pixels");
  const unsigned blocks = days::grid_of(p.pixels(), kThreads, "half_pixels");
  half_pixels_kernel<<<blocks, kThreads, 0, stream>>>(p.in, p.out, p.pixels());
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(half_pixels, Rotate, uint32_t, uint8_t);

}  // namespace day58
