// SPDX-License-Identifier: MIT
//
// One thread a pixel: three loads of a byte, one store of a byte. Neighbouring threads read three bytes
// apart, so each of a warp's three load requests passes over the same 96 bytes and takes every third one.
// Bound by: bytes under way. 2,048 threads ask for 6 KiB at once, and a multiprocessor of an H200 needs
// 15 KiB to keep its share of memory busy.

#include "common/check.h"
#include "common/util.h"
#include "day03_rgb_to_grayscale/grayscale.h"

namespace day03 {
namespace {

constexpr int kThreads = 256;

template <class T>
__global__ void bytes_kernel(const T* rgb,  // (n, 3)
                             T* gray,       // (n)
                             int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) gray[i] = gray_of(rgb[3 * i], rgb[3 * i + 1], rgb[3 * i + 2]);
}

}  // namespace

template <class T>
void grayscale_bytes(const Grayscale<T>& p, cudaStream_t stream) {
  require_extents(p, "bytes");
  const int64_t n = p.pixels(), blocks = days::ceil_div(n, kThreads);
  days::require(blocks <= days::kMaxGridX,
                "bytes: a grid has at most 2^31 - 1 blocks of 256 pixels; there are", n);
  bytes_kernel<T><<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(p.rgb, p.gray, n);
  CUDA_CHECK_LAUNCH();
}
INSTANTIATE_LAUNCHER(grayscale_bytes, Grayscale, uint8_t, float);

}  // namespace day03
