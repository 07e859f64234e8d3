// SPDX-License-Identifier: MIT
//
// Kernels of day 18 with a bug in each, which its tests must reject.

#include "common/must_reject.h"
#include "common/nf4.cuh"
#include "day18_nf4_double_quantization/mean.cuh"

namespace day18 {
namespace {

// A thread a number; Rule makes its block's scale.
template <class T, class Rule>
__global__ void dequantize_kernel(DoubleDequantize<T> p, Rule rule) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= p.n) return;
  const unsigned byte = p.codes[i / 2], code = i % 2 == 0 ? byte >> 4 : byte & 15;
  p.y[i] = days::from_float<T>(days::nf4_value(code) * rule(p, i / 64));
}
template <class Rule, class T>
void launch_dequantize(const DoubleDequantize<T>& p, cudaStream_t stream) {
  dequantize_kernel<<<days::grid_of(p.n, kThreads, "wrong"), kThreads, 0, stream>>>(p, Rule{});
  CUDA_CHECK_LAUNCH();
}

// The offset is multiplied, too.
struct OffsetFirst {
  template <class T>
  __device__ float operator()(const DoubleDequantize<T>& p, int64_t block) const {
    return (p.map[p.codes8[block]] + *p.offset) * p.absmax2[block / kGroup];
  }
};
void offset_first(const DoubleDequantize<float>& p, cudaStream_t stream) {
  launch_dequantize<OffsetFirst>(p, stream);
}
MUST_REJECT(double_dequantize, offset_first, "1: y[0] is");

// A map of both signs, so its codes are read as signed numbers.
struct SignedCodes {
  template <class T>
  __device__ float operator()(const DoubleDequantize<T>& p, int64_t block) const {
    return scale_of(p.map[static_cast<int8_t>(p.codes8[block]) + 128], p.absmax2[block / kGroup], *p.offset);
  }
};
void signed_codes(const DoubleDequantize<float>& p, cudaStream_t stream) {
  launch_dequantize<SignedCodes>(p, stream);
}
MUST_REJECT(double_dequantize, signed_codes, "y[0] is");

// One absmax2 for all: right for as many as 256 blocks.
struct OneGroup {
  template <class T>
  __device__ float operator()(const DoubleDequantize<T>& p, int64_t block) const {
    return scale_of(p.map[p.codes8[block]], p.absmax2[0], *p.offset);
  }
};
void one_group(const DoubleDequantize<float>& p, cudaStream_t stream) {
  launch_dequantize<OneGroup>(p, stream);
}
MUST_REJECT(double_dequantize, one_group, "16385: y[16384] is|33000: y[1638");

// The scale has the type of the numbers.
struct InType {
  template <class T>
  __device__ float operator()(const DoubleDequantize<T>& p, int64_t block) const {
    const float scale = scale_of(p.map[p.codes8[block]], p.absmax2[block / kGroup], *p.offset);
    return days::to_float(days::from_float<T>(scale));
  }
};
void scale_in_16_bits(const DoubleDequantize<days::bf16>& p, cudaStream_t stream) {
  launch_dequantize<InType>(p, stream);
}
MUST_REJECT(double_dequantize, scale_in_16_bits, "y[");

// A block a group, in one block of threads; Rule finds the mean's divisor and the code.
template <class Rule>
__global__ void quantize_kernel(DoubleQuantize<float> p, Rule rule) {
  float sum = 0;
  for (int64_t i = threadIdx.x; i < p.b; i += kThreads) sum += p.absmax[i];
  const float mean = days::block_reduce(sum, days::Sum{}, 0.0f) / static_cast<float>(rule.count(p.b));
  if (threadIdx.x == 0) *p.offset = mean;
  for (int64_t first = 0; first < p.b; first += kGroup) {
    const int64_t i = first + threadIdx.x;
    const float c = i < p.b ? p.absmax[i] - mean : 0;
    const float largest = days::block_reduce(fabsf(c), days::Max{}, 0.0f);
    if (threadIdx.x == 0) p.absmax2[first / kGroup] = largest;
    if (i < p.b) p.codes8[i] = rule.code(p.map, c * (1 / largest));
  }
}
struct Right {
  __device__ int64_t count(int64_t b) const { return b; }
  __device__ uint8_t code(const float* map, float x) const { return code8_of(map, x); }
};
// The mean over whole groups.
struct Padded : Right {
  __device__ int64_t count(int64_t b) const { return (b + kGroup - 1) / kGroup * kGroup; }
};
// The neighbour below, not the nearest.
struct Below : Right {
  __device__ uint8_t code(const float* map, float x) const {
    int at = 0;
    while (at + 1 < kMap && map[at + 1] <= x) ++at;
    return static_cast<uint8_t>(at);
  }
};
template <class Rule>
void launch_quantize(const DoubleQuantize<float>& p, cudaStream_t stream) {
  days::grid_of(p.b, kGroup, "wrong");
  quantize_kernel<<<1, kThreads, 0, stream>>>(p, Rule{});
  CUDA_CHECK_LAUNCH();
}
void padded_mean(const DoubleQuantize<float>& p, cudaStream_t stream) {
  launch_quantize<Padded>(p, stream);
}
MUST_REJECT(double_quantize, padded_mean, "offset[0] is");
void neighbour_below(const DoubleQuantize<float>& p, cudaStream_t stream) {
  launch_quantize<Below>(p, stream);
}
MUST_REJECT(double_quantize, neighbour_below, "codes8[");

}  // namespace
}  // namespace day18
