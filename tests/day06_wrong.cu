// SPDX-License-Identifier: MIT
//
// Kernels of day 06 with a bug in each, which its tests must reject: what goes wrong when loads are made
// wider or threads are numbered otherwise. They stay inside their buffers, so that it is the comparison that
// finds them and not a fault.

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "day06_matmul_coalesced/matmul.h"

namespace day06 {
namespace {

enum class Bug {
  kZeros,         // writes zeros
  kDropsTail,     // the loop over k takes four at a time and forgets what is left over
  kReadsPastRow,  // takes the last group whole: the next row's first products are added too
  kSameFloat,     // uses the first of the four floats that a broadcast brought four times
  kSwapsDivMod,   // / and % the wrong way round in the row, the right way in the column
  kDropsColumns,  // four columns a thread: the last one to three, where n % 4 != 0, are nobody's
  kAlignsDown,    // rounds a's address down to 16 bytes
  kLaneZeroOnly,  // lane 0 loads what all lanes need, and does not tell the others
  kHalfInputs,    // rounds the inputs to half first
};

__device__ float round_to_half_bits(float x) {
  return __uint_as_float((__float_as_uint(x) + 0x1000u) & 0xffffe000u);
}

template <Bug kBug>
__global__ void wrong_kernel(const float* a, const float* b, float* c, int m, int n, int k) {
  const int in_row = kBug == Bug::kSwapsDivMod ? threadIdx.x % 8 : threadIdx.x / 32;
  const int row = blockIdx.y * 8 + in_row;
  const int col = blockIdx.x * 32 + threadIdx.x % 32;
  if (row >= m || col >= (kBug == Bug::kDropsColumns && n > 3 ? n / 4 * 4 : n)) return;

  const int64_t size_a = int64_t{m} * k, size_b = int64_t{k} * n;
  const bool whole = kBug == Bug::kReadsPastRow;
  const int last = kBug == Bug::kDropsTail ? k / 4 * 4 : whole ? days::round_up(k, 4) : k;
  float sum = 0.0f, held = 0.0f;
  for (int i = 0; i < last; ++i) {
    int64_t at = int64_t{row} * k + i;
    if (kBug == Bug::kSameFloat) at = int64_t{row} * k + i / 4 * 4;
    if (kBug == Bug::kAlignsDown) at = at / 4 * 4 + i % 4;
    float x = a[at < size_a ? at : size_a - 1];
    float y = b[(int64_t{i} * n + col) % size_b];
    if (kBug == Bug::kLaneZeroOnly) {
      if (threadIdx.x % 32 == 0) held = x;
      x = held;
    }
    if (kBug == Bug::kHalfInputs) {
      x = round_to_half_bits(x);
      y = round_to_half_bits(y);
    }
    sum += x * y;
  }
  c[int64_t{row} * n + col] = kBug == Bug::kZeros ? 0.0f : sum;
}

template <Bug kBug>
void launch(const Matmul<float>& p, cudaStream_t stream) {
  const dim3 grid(days::ceil_div(p.n, 32), days::ceil_div(p.m, 8));
  wrong_kernel<kBug><<<grid, 256, 0, stream>>>(p.a, p.b, p.c, p.m, p.n, p.k);
  CUDA_CHECK_LAUNCH();
}

}  // namespace

void zeros(const Matmul<float>& p, cudaStream_t s) {
  launch<Bug::kZeros>(p, s);
}
void drops_tail(const Matmul<float>& p, cudaStream_t s) {
  launch<Bug::kDropsTail>(p, s);
}
void reads_past_row(const Matmul<float>& p, cudaStream_t s) {
  launch<Bug::kReadsPastRow>(p, s);
}
void same_float(const Matmul<float>& p, cudaStream_t s) {
  launch<Bug::kSameFloat>(p, s);
}
void swaps_div_mod(const Matmul<float>& p, cudaStream_t s) {
  launch<Bug::kSwapsDivMod>(p, s);
}
void drops_columns(const Matmul<float>& p, cudaStream_t s) {
  launch<Bug::kDropsColumns>(p, s);
}
void aligns_down(const Matmul<float>& p, cudaStream_t s) {
  launch<Bug::kAlignsDown>(p, s);
}
void lane_zero_only(const Matmul<float>& p, cudaStream_t s) {
  launch<Bug::kLaneZeroOnly>(p, s);
}
void half_inputs(const Matmul<float>& p, cudaStream_t s) {
  launch<Bug::kHalfInputs>(p, s);
}

}  // namespace day06
