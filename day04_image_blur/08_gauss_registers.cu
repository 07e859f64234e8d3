// SPDX-License-Identifier: MIT
//
// Compiled once for each radius up to 8, so that every loop over weights is unrolled and each weight is part
// of an instruction. A thread blurs 8 neighbours at once: it loads and converts a pixel once and uses it for
// all of their sums. Since shared: 5 times fewer loads and conversions, tiles of whole words, 16-bit halves
// of a word between the passes, four pixels a store.
// Bound by: multiply-adds, with all that they need around them.

#include <algorithm>
#include <utility>

#include "common/check.h"
#include "common/util.h"
#include "day04_image_blur/border.cuh"
#include "day04_image_blur/weights.h"

namespace day04 {
namespace {

constexpr int kThreads = 256;
constexpr int kTileX = 128;
constexpr int kTileY = 64;
constexpr int kRun = 8;               // neighbours that a thread sums at once
constexpr float kTwo23 = 8388608.0f;  // from 2^23 to 2^24 a float's steps are 1: its low bits are the number

template <int kRadius>
struct Weights {
  float of[2 * kRadius + 1];
};

template <int kRadius>
struct Tile {
  static constexpr int kHalo = (kRadius + 3) / 4 * 4;  // columns on either side, whole words
  static constexpr int kPitch = kTileX + 2 * kHalo;    // bytes of a row
  static constexpr int kRows = kTileY + 2 * kRadius;
  alignas(16) uint32_t pixels[kRows][kPitch / 4];
  alignas(16) uint32_t between[kRows][kTileX / 2];  // pairs of neighbours, 16 bits each
};

// Byte or half `selector` of a word as a float, without a conversion, which is slow: put behind the upper
// bits of 2^23 it is the number 2^23 + value.
__device__ inline float unpacked(uint32_t word, uint32_t selector) {
  return __uint_as_float(__byte_perm(word, 0x4b000000u, selector)) - kTwo23;
}
// The whole part of sum * scale in the low bits, by the same means the other way round.
__device__ inline uint32_t packed(float sum, float scale) {
  return __float_as_uint(__fmaf_rz(sum, scale, kTwo23));
}

// Four neighbours in a row as a word, wherever they are.
__device__ inline uint32_t border_word(const uint8_t* plane, int height, int width, int y, int x,
                                       Border border) {
  uint32_t word = 0;
  for (int i = 0; i < 4; ++i)
    word |= static_cast<uint32_t>(pixel(plane, height, width, y, x + i, border)) << (8 * i);
  return word;
}

template <int kRadius>
__global__ void __launch_bounds__(kThreads)
    gauss_registers_kernel(const uint8_t* image,  // (planes, height, width)
                           uint8_t* blurred,      // (planes, height, width)
                           const __grid_constant__ Weights<kRadius> weights, int height, int width,
                           Border border,
                           bool words) {  // rows start at whole words
  using T = Tile<kRadius>;
  constexpr int kTaps = 2 * kRadius + 1;
  __shared__ T tile;
  const int x0 = blockIdx.x * kTileX, y0 = blockIdx.y * kTileY;
  const uint8_t* plane = image + int64_t{blockIdx.z} * height * width;

  // 1. The tile with its halo, as far down as the picture goes.
  const int left = (height - y0 + kRun - 1) / kRun * kRun + 2 * kRadius;
  const int rows = left < T::kRows ? left : T::kRows;
  const bool inside = words && x0 >= T::kHalo && x0 + kTileX + T::kHalo <= width && y0 >= kRadius &&
                      y0 + kTileY + kRadius <= height;
  constexpr int kWords = T::kPitch / 4;
  for (int i = threadIdx.x; i < rows * kWords; i += kThreads) {
    const int row = i / kWords, word = i % kWords;
    const int y = y0 - kRadius + row, x = x0 - T::kHalo + 4 * word;
    tile.pixels[row][word] = inside ? *reinterpret_cast<const uint32_t*>(plane + int64_t{y} * width + x)
                                    : border_word(plane, height, width, y, x, border);
  }
  __syncthreads();

  // 2. Along the rows: 8 sums from 8 + 2 radius bytes.
  constexpr int kSkip = T::kHalo - kRadius;                     // bytes before the first that counts
  constexpr int kLoads = (kSkip + kRun + 2 * kRadius + 7) / 8;  // of 8 bytes
  constexpr int kGroups = kTileX / kRun;
  for (int i = threadIdx.x; i < rows * kGroups; i += kThreads) {
    const int row = i / kGroups, group = i % kGroups;
    if (x0 + group * kRun >= width) continue;  // a narrow picture has no pixel here
    float sum[kRun];
#pragma unroll
    for (int j = 0; j < kRun; ++j) sum[j] = 128.0f;  // half of what is divided by: rounds
#pragma unroll
    for (int load = 0; load < kLoads; ++load) {
      const uint2 two = *reinterpret_cast<const uint2*>(&tile.pixels[row][2 * (group + load)]);
#pragma unroll
      for (int byte = 0; byte < 8; ++byte) {
        const int at = 8 * load + byte - kSkip;  // the pixel's place in the run's window
        if (at < 0 || at >= kRun + 2 * kRadius) continue;
        const float value = unpacked(byte < 4 ? two.x : two.y, 0x7650u | byte % 4);
#pragma unroll
        for (int j = 0; j < kRun; ++j) {
          if (at - j >= 0 && at - j < kTaps) sum[j] = fmaf(weights.of[at - j], value, sum[j]);
        }
      }
    }
    uint32_t pair[kRun / 2];
#pragma unroll
    for (int j = 0; j < kRun / 2; ++j)
      pair[j] = __byte_perm(packed(sum[2 * j], 1.0f / 256), packed(sum[2 * j + 1], 1.0f / 256), 0x5410);
    *reinterpret_cast<uint4*>(&tile.between[row][kRun / 2 * group]) =
        make_uint4(pair[0], pair[1], pair[2], pair[3]);
  }
  __syncthreads();

  // 3. Along the columns: 4 neighbours by 8 rows a thread, from 8 + 2 radius rows.
  const int quad = threadIdx.x % (kTileX / 4), first = threadIdx.x / (kTileX / 4) * kRun;
  const int x = x0 + 4 * quad;
  if (x >= width || y0 + first >= height) return;
  float sum[kRun][4];
#pragma unroll
  for (int j = 0; j < kRun; ++j) {
#pragma unroll
    for (int c = 0; c < 4; ++c) sum[j][c] = 32768.0f;
  }
#pragma unroll
  for (int at = 0; at < kRun + 2 * kRadius; ++at) {
    const uint2 two = *reinterpret_cast<const uint2*>(&tile.between[first + at][2 * quad]);
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      const float value = unpacked(c < 2 ? two.x : two.y, c % 2 == 0 ? 0x7610u : 0x7632u);
#pragma unroll
      for (int j = 0; j < kRun; ++j) {
        if (at - j >= 0 && at - j < kTaps) sum[j][c] = fmaf(weights.of[at - j], value, sum[j][c]);
      }
    }
  }
  uint8_t* to = blurred + int64_t{blockIdx.z} * height * width + x;
#pragma unroll
  for (int j = 0; j < kRun; ++j) {
    const int y = y0 + first + j;
    if (y >= height) break;
    const uint32_t low =
        __byte_perm(packed(sum[j][0], 1.0f / 65536), packed(sum[j][1], 1.0f / 65536), 0x0040);
    const uint32_t high =
        __byte_perm(packed(sum[j][2], 1.0f / 65536), packed(sum[j][3], 1.0f / 65536), 0x0040);
    const uint32_t four = __byte_perm(low, high, 0x5410);
    if (words && x + 4 <= width) {
      *reinterpret_cast<uint32_t*>(to + int64_t{y} * width) = four;
    } else {
      for (int c = 0; c < 4 && x + c < width; ++c)
        to[int64_t{y} * width + c] = static_cast<uint8_t>(four >> (8 * c));
    }
  }
}

template <int kRadius>
void launch(const Blur<uint8_t>& p, cudaStream_t stream) {
  Weights<kRadius> weights;
  const std::vector<float> all = gaussian_weights(kRadius);
  std::copy(all.begin(), all.end(), weights.of);
  const bool words = p.width % 4 == 0 && reinterpret_cast<uintptr_t>(p.image) % 4 == 0 &&
                     reinterpret_cast<uintptr_t>(p.blurred) % 4 == 0;
  const dim3 grid(days::ceil_div(p.width, kTileX), days::ceil_div(p.height, kTileY), p.planes);
  gauss_registers_kernel<kRadius>
      <<<grid, kThreads, 0, stream>>>(p.image, p.blurred, weights, p.height, p.width, p.border, words);
  CUDA_CHECK_LAUNCH();
}

// A radius of run time becomes one of compile time: 1, 2, ... are tried in turn.
template <int... kLess>
void launch_for(const Blur<uint8_t>& p, cudaStream_t stream, std::integer_sequence<int, kLess...>) {
  ((p.radius == kLess + 1 ? launch<kLess + 1>(p, stream) : void()), ...);
}

}  // namespace

void gauss_registers(const Blur<uint8_t>& p, cudaStream_t stream) {
  require_extents(p, "gauss_registers");
  days::require_needs(p, "gauss_registers", kRadiusOfRegisters);
  launch_for(p, stream, std::make_integer_sequence<int, kRegistersMaxRadius>{});
}

}  // namespace day04
