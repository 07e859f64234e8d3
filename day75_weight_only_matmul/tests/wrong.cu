// SPDX-License-Identifier: MIT
//
// Kernels of day 75 with a bug in each, which its tests must reject.

#include <cstdint>

#include "common/check.h"
#include "common/must_reject.h"
#include "common/types.h"
#include "common/util.h"
#include "day75_weight_only_matmul/weight_only_matmul.h"

namespace day75 {
namespace {

using days::half;
using days::to_float;

// A thread for each element of y; kElement(p, token, row) is what it gets.
template <auto kElement, class Problem>
__global__ void elements_kernel(Problem p) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < int64_t{p.m} * p.n) p.y[i] = kElement(p, static_cast<int>(i / p.n), static_cast<int>(i % p.n));
}
template <auto kElement>
void launch(const Int4Matmul<half>& p, cudaStream_t stream) {
  elements_kernel<kElement><<<days::grid_of(int64_t{p.m} * p.n, 256, "wrong"), 256, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

__device__ int code_of(const Int4Matmul<half>& p, int row, int i) {
  const days::uint4x2 codes = p.w[(int64_t{row} * p.k + i) / 2];
  return i % 2 == 0 ? codes.lower() : codes.upper();
}
__device__ float x_of(const Int4Matmul<half>& p, int token, int i) {
  return to_float(p.x[int64_t{token} * p.k + i]);
}
__device__ float scale_of(const Int4Matmul<half>& p, int row, int i) {
  return to_float(p.scale[int64_t{row} * (p.k / kGroup) + i / kGroup]);
}

// The first of two codes is taken from the byte's upper half, as NF4 has it.
__device__ half other_nibble(const Int4Matmul<half>& p, int token, int row) {
  float sum = 0;
  for (int i = 0; i < p.k; ++i)
    sum += x_of(p, token, i) * static_cast<float>(code_of(p, row, i ^ 1) - 8) * scale_of(p, row, i);
  return __float2half(sum);
}
MUST_REJECT(int4, launch<other_nibble>, "y[0,0] is");

// Codes as signed numbers of 4 bits.
__device__ half signed_codes(const Int4Matmul<half>& p, int token, int row) {
  float sum = 0;
  for (int i = 0; i < p.k; ++i) {
    const int code = code_of(p, row, i);
    sum += x_of(p, token, i) * static_cast<float>(code < 8 ? code : code - 16) * scale_of(p, row, i);
  }
  return __float2half(sum);
}
MUST_REJECT(int4, launch<signed_codes>, "y[0,0] is");

// The scale of a row's first group for all of it: right where k is 128.
__device__ half first_scale(const Int4Matmul<half>& p, int token, int row) {
  float sum = 0;
  for (int i = 0; i < p.k; ++i)
    sum += x_of(p, token, i) * static_cast<float>(code_of(p, row, i) - 8) * scale_of(p, row, 0);
  return __float2half(sum);
}
MUST_REJECT(int4, launch<first_scale>, "2 x 8 x 256: y[");

// Weights are made in fp16, as large scales do not allow.
__device__ half weights_in_half(const Int4Matmul<half>& p, int token, int row) {
  float sum = 0;
  for (int i = 0; i < p.k; ++i) {
    const half weight = __float2half(static_cast<float>(code_of(p, row, i) - 8) * scale_of(p, row, i));
    sum += x_of(p, token, i) * to_float(weight);
  }
  return __float2half(sum);
}
MUST_REJECT(int4, launch<weights_in_half>, "y[0,0] is nan|y[0,0] is inf|y[0,0] is -inf");

// Sums of 16 bits.
__device__ half half_sums(const Int4Matmul<half>& p, int token, int row) {
  half sum = __float2half(0);
  for (int i = 0; i < p.k; ++i)
    sum = __float2half(to_float(sum) +
                       x_of(p, token, i) * static_cast<float>(code_of(p, row, i) - 8) * scale_of(p, row, i));
  return sum;
}
MUST_REJECT(int4, launch<half_sums>, "y[0,0] is");

}  // namespace
}  // namespace day75
