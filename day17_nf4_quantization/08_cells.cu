// SPDX-License-Identifier: MIT
// No search: a multiplication finds which of 31 cells a number is in, two shuffles fetch the cell's threshold and code, and one
// comparison chooses between the code and the next.
// Changed since vectors: two shuffles and a comparison for the search's four comparisons and eight choices; the largest size is
// found in whole numbers, since floats of one sign are ordered as their bits are, NaN last; two vectors under way a thread.
// Bound by: memory.
// Teaches: __shfl_sync.
#include "common/nf4.cuh"
#include "day17_nf4_quantization/cells.h"

namespace day17 {
namespace {

constexpr int kAhead = 2;
constexpr unsigned kInfinity = 0x7f800000u;

__constant__ Cells cells = make_cells();

// The bits of |x|.
template <class T>
__device__ inline unsigned bits_of_size(T x) {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint16_t>;
  Bits bits;
  memcpy(&bits, &x, sizeof bits);
  return bits & (sizeof(T) == 4 ? 0x7fffffffu : 0x7fffu);
}
template <class T>
__device__ inline float size_of_bits(unsigned bits) {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint16_t>;
  const Bits narrow = static_cast<Bits>(bits);
  T x;
  memcpy(static_cast<void*>(&x), &narrow, sizeof x);
  return days::to_float(x);
}

// The codes of a vector whose numbers are from -1 to 1 once they are scaled.
template <class T>
__device__ inline unsigned codes_by_cells(const days::Vec<T>& v, float scale, const Cell& cell) {
  unsigned word = 0;
#pragma unroll
  for (int i = 0; i < days::kNf4Each<T>; ++i) {
    const float scaled = days::to_float(v[i]) * scale;
    // Around 1.5 * 2^23 floats are 1 apart, so the sum is rounded to a whole number, whose lowest bits are the cell's lane.
    const int lane = __float_as_int(fmaf(scaled, kCells, 12582912.0f));
    const float threshold = __shfl_sync(days::kFullWarp, cell.threshold, lane);
    const unsigned code = __shfl_sync(days::kFullWarp, cell.code, lane);
    word += code << days::nf4_shift(i);
    if (scaled > threshold) word += 1u << days::nf4_shift(i);
  }
  return word;
}

template <class T>
__global__ void __launch_bounds__(kThreads) cells_kernel(const T* x,      // (n)
                                                         uint8_t* codes,  // (bytes)
                                                         float* absmax,   // (blocks)
                                                         int64_t n) {
  constexpr int kLanes = static_cast<int>(days::kNf4Block) / days::kNf4Each<T>;
  const Cell cell = cells.of_lane[threadIdx.x % days::kWarpSize];
  const int64_t first = days::kNf4Each<T> * (int64_t{blockIdx.x} * kThreads * kAhead + threadIdx.x);
  days::Vec<T> v[kAhead];
#pragma unroll
  for (int ahead = 0; ahead < kAhead; ++ahead)
    v[ahead] = days::load16_up_to(x, first + ahead * kThreads * days::kNf4Each<T>, n);
#pragma unroll
  for (int ahead = 0; ahead < kAhead; ++ahead) {
    unsigned bits = 0;
#pragma unroll
    for (int i = 0; i < days::kNf4Each<T>; ++i) bits = max(bits, bits_of_size(v[ahead][i]));
#pragma unroll
    for (int distance = kLanes / 2; distance > 0; distance /= 2)
      bits = max(bits, __shfl_xor_sync(days::kFullWarp, bits, distance));
    const float largest = size_of_bits<T>(bits), scale = days::nf4_scale(largest);
    unsigned word = codes_by_cells(v[ahead], scale, cell);
    const int64_t at = first + ahead * kThreads * days::kNf4Each<T>;
    if (at >= n) continue;
    if (__float_as_uint(largest) >= kInfinity) {  // no cell: 0, or NaN
      word = 0;
#pragma unroll
      for (int i = 0; i < days::kNf4Each<T>; ++i)
        word |= days::nf4_code(days::to_float(v[ahead][i]) * scale) << days::nf4_shift(i);
    }
    if (threadIdx.x % kLanes == 0) absmax[at / days::kNf4Block] = largest;
    days::store_nf4<T>(codes, at, n, word);
  }
}

}  // namespace

template <class T>
void quantize_cells(const Nf4Quantize<T>& p, cudaStream_t stream) {
  const unsigned blocks = grid_for(p, "cells", int64_t{kThreads} * kAhead * days::kNf4Each<T>);
  days::require_needs(p, "cells", kAlignedX);
  cells_kernel<<<blocks, kThreads, 0, stream>>>(p.x, p.codes, p.absmax, p.n);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(quantize_cells, Nf4Quantize, float, days::half, days::bf16);

}  // namespace day17
