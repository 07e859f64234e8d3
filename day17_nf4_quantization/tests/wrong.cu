// SPDX-License-Identifier: MIT
//
// Kernels of day 17 with a bug in each, which its tests must reject.

#include "common/must_reject.h"
#include "common/reduce.cuh"
#include "day17_nf4_quantization/nf4_quantization.h"

namespace day17 {
namespace {

// One thread a block, right but for what Rule does.
template <class T, class Rule>
__global__ void quantize_kernel(const T* x, uint8_t* codes, float* absmax, int64_t n, Rule rule) {
  const int64_t block = int64_t{blockIdx.x} * kThreads + threadIdx.x, begin = block * 64;
  if (begin >= n) return;
  const int64_t end = begin + 64 < n ? begin + 64 : n;
  float largest = 0;
  for (int64_t i = begin; i < end; ++i) largest = days::Max{}(largest, rule.size(days::to_float(x[i])));
  absmax[block] = rule.stored(largest);
  for (int64_t i = begin; i < end; i += 2) {
    const unsigned first = days::nf4_code(rule.scaled(days::to_float(x[i]), largest));
    const unsigned second = days::nf4_code(rule.scaled(i + 1 < end ? days::to_float(x[i + 1]) : 0, largest));
    codes[i / 2] = static_cast<uint8_t>(rule.packed(first, second));
  }
}
struct Right {
  __device__ float size(float x) const { return fabsf(x); }
  __device__ float stored(float absmax) const { return absmax; }
  __device__ float scaled(float x, float absmax) const { return x * days::nf4_scale(absmax); }
  __device__ unsigned packed(unsigned first, unsigned second) const { return first << 4 | second; }
};
// The first element in the lower half, as in most formats.
struct Swapped : Right {
  __device__ unsigned packed(unsigned first, unsigned second) const { return first | second << 4; }
};
// A quotient for the product with the reciprocal: other last bits.
struct Divides : Right {
  __device__ float scaled(float x, float absmax) const { return x / (absmax < 1e-38f ? 1e-38f : absmax); }
};
// The reciprocal of 0 is infinite, and 0 times that NaN.
struct Zeros : Right {
  __device__ float scaled(float x, float absmax) const { return x * (1 / absmax); }
};
// The largest number, not the largest size.
struct Signed : Right {
  __device__ float size(float x) const { return x; }
};
template <class Rule, class T>
void launch_quantize(const Nf4Quantize<T>& p, cudaStream_t stream) {
  const unsigned blocks = days::grid_of(p.n, kThreads * 64, "wrong");
  quantize_kernel<<<blocks, kThreads, 0, stream>>>(p.x, p.codes, p.absmax, p.n, Rule{});
  CUDA_CHECK_LAUNCH();
}
void swapped(const Nf4Quantize<days::bf16>& p, cudaStream_t stream) {
  launch_quantize<Swapped>(p, stream);
}
MUST_REJECT(nf4_quantize, swapped, "codes[0] is");
void divides(const Nf4Quantize<float>& p, cudaStream_t stream) {
  launch_quantize<Divides>(p, stream);
}
MUST_REJECT(nf4_quantize, divides, "on the thresholds");
void zeros(const Nf4Quantize<days::half>& p, cudaStream_t stream) {
  launch_quantize<Zeros>(p, stream);
}
MUST_REJECT(nf4_quantize, zeros, "all 0");
void largest_number(const Nf4Quantize<float>& p, cudaStream_t stream) {
  launch_quantize<Signed>(p, stream);
}
MUST_REJECT(nf4_quantize, largest_number, "absmax[0] is");

__global__ void of_byte_kernel(const uint8_t* codes, const float* absmax, float* y, int64_t n) {
  const int64_t byte = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (2 * byte >= n) return;
  const float scale = absmax[byte / 64];  // 64 bytes are two blocks
  y[2 * byte] = days::nf4_value(codes[byte] >> 4) * scale;
  if (2 * byte + 1 < n) y[2 * byte + 1] = days::nf4_value(codes[byte] & 15) * scale;
}
void scale_of_byte(const Nf4Dequantize<float>& p, cudaStream_t stream) {
  of_byte_kernel<<<days::grid_of(p.n, 2 * kThreads, "wrong"), kThreads, 0, stream>>>(p.codes, p.absmax, p.y,
                                                                                     p.n);
  CUDA_CHECK_LAUNCH();
}
MUST_REJECT(nf4_dequantize, scale_of_byte, "65: y[64] is");

// Both halves of the last byte, also where n is odd.
__global__ void past_end_kernel(const uint8_t* codes, const float* absmax, days::bf16* y, int64_t n) {
  const int64_t byte = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (2 * byte >= n) return;
  const float scale = absmax[byte / 32];
  y[2 * byte] = days::from_float<days::bf16>(days::nf4_value(codes[byte] >> 4) * scale);
  y[2 * byte + 1] = days::from_float<days::bf16>(days::nf4_value(codes[byte] & 15) * scale);
}
void past_end(const Nf4Dequantize<days::bf16>& p, cudaStream_t stream) {
  past_end_kernel<<<days::grid_of(p.n, 2 * kThreads, "wrong"), kThreads, 0, stream>>>(p.codes, p.absmax, p.y,
                                                                                      p.n);
  CUDA_CHECK_LAUNCH();
}
MUST_REJECT(nf4_dequantize, past_end, "after its end|simt-oob-global");

}  // namespace
}  // namespace day17
