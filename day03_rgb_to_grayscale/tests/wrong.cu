// SPDX-License-Identifier: MIT
//
// Kernels of day 03 with a bug in each, which its tests must reject. They stay inside their buffers, so that
// it is the comparison that finds them and not a fault.

#include <cuda_runtime.h>

#include <cstdint>

#include "common/check.h"
#include "common/must_reject.h"
#include "common/util.h"
#include "day03_rgb_to_grayscale/grayscale.h"

namespace day03 {
namespace {

constexpr int kThreads = 256;

// A thread a pixel: gray_of_pixel(rgb, i, n) for the i-th of n.
template <uint8_t (*kGray)(const uint8_t*, int64_t, int64_t)>
__global__ void each_pixel(const uint8_t* rgb, uint8_t* gray, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) gray[i] = kGray(rgb, i, n);
}
template <uint8_t (*kGray)(const uint8_t*, int64_t, int64_t)>
void launch(const Grayscale<uint8_t>& p, cudaStream_t stream) {
  const unsigned blocks = static_cast<unsigned>(days::ceil_div(p.pixels(), kThreads));
  each_pixel<kGray><<<blocks, kThreads, 0, stream>>>(p.rgb, p.gray, p.pixels());
  CUDA_CHECK_LAUNCH();
}

// >> 8 without the 128 that rounds.
__device__ uint8_t truncates(const uint8_t* rgb, int64_t i, int64_t) {
  return static_cast<uint8_t>((kRed * rgb[3 * i] + kGreen * rgb[3 * i + 1] + kBlue * rgb[3 * i + 2]) >> 8);
}
MUST_REJECT(grayscale, launch<truncates>, "1 x 2: gray[0,1] is 49, expected 50");

// A third of each colour.
__device__ uint8_t average(const uint8_t* rgb, int64_t i, int64_t) {
  return static_cast<uint8_t>((rgb[3 * i] + rgb[3 * i + 1] + rgb[3 * i + 2]) / 3);
}
MUST_REJECT(grayscale, launch<average>, "gray[0,0] is 157, expected 170");

// 0.299, 0.587, 0.114 in float: right to one step, and the day's formula is exact.
__device__ uint8_t luma_in_float(const uint8_t* rgb, int64_t i, int64_t) {
  return static_cast<uint8_t>(0.299f * rgb[3 * i] + 0.587f * rgb[3 * i + 1] + 0.114f * rgb[3 * i + 2] + 0.5f);
}
MUST_REJECT(grayscale, launch<luma_in_float>, "extremes: gray[0,0] is 150, expected 149");

// The sum kept in eight bits.
__device__ uint8_t overflows(const uint8_t* rgb, int64_t i, int64_t) {
  const uint8_t sum =
      static_cast<uint8_t>(kRed * rgb[3 * i] + kGreen * rgb[3 * i + 1] + kBlue * rgb[3 * i + 2] + 128);
  return static_cast<uint8_t>(sum >> 8);
}
MUST_REJECT(grayscale, launch<overflows>, "gray[0,0] is 0, expected 170");

// Pixel i at byte i, not at byte 3 i.
__device__ uint8_t overlapping(const uint8_t* rgb, int64_t i, int64_t) {
  return gray_of(rgb[i], rgb[i + 1], rgb[i + 2]);
}
MUST_REJECT(grayscale, launch<overlapping>, "1 x 2: gray[0,1] is");

// Threads stage pixels and read others', with no barrier between: right only where the others happened to come
// first. On the CPU backend the threads start in several orders, so some order shows it.
__global__ void no_barrier_kernel(const uint8_t* rgb, uint8_t* gray, int64_t n) {
  __shared__ uint8_t tile[3 * kThreads];
  const int64_t start = int64_t{blockIdx.x} * kThreads;
  for (int i = threadIdx.x; i < 3 * kThreads; i += kThreads) {
    if (3 * start + i < 3 * n) tile[i] = rgb[3 * start + i];
  }
  const int i = kThreads - 1 - threadIdx.x;
  if (start + i < n) gray[start + i] = gray_of(tile[3 * i], tile[3 * i + 1], tile[3 * i + 2]);
}
void no_barrier(const Grayscale<uint8_t>& p, cudaStream_t stream) {
  const unsigned blocks = static_cast<unsigned>(days::ceil_div(p.pixels(), kThreads));
  no_barrier_kernel<<<blocks, kThreads, 0, stream>>>(p.rgb, p.gray, p.pixels());
  CUDA_CHECK_LAUNCH();
}
MUST_REJECT(grayscale, no_barrier, "gray[|simt-race-shared");

}  // namespace
}  // namespace day03
