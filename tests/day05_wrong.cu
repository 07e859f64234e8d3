// SPDX-License-Identifier: MIT
//
// Kernels of day 05 with a bug in each, which its tests must reject. They stay inside their buffers, so that
// it is the comparison that finds them and not a fault.

#include <cuda_runtime.h>

#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "day05_matmul/matmul.h"

namespace day05 {
namespace {

enum class Bug {
  kZeros,          // writes zeros: passes any tolerance that is too loose for cancelling sums
  kShortK,         // the loop over k ends one too early
  kDropsTail,      // the loop over k takes four at a time and forgets what is left over
  kStaleSum,       // starts from what c holds instead of from zero
  kTransposedB,    // reads b[col][i] instead of b[i][col]
  kTransposedC,    // writes c[col][row]: right where c is symmetric
  kPitchM,         // rows of b and c are m apart, not n: right for square matrices alone
  kShiftedColumn,  // reads b one column to the right
  kFlippedGuard,   // `<` and `<=` mixed up: the last row is never written
  kFlushes,        // products below 2^-126 are lost, as with -ftz=true
  kHidesNan,       // a NaN in the sum comes out as 0: fmaxf and fminf drop it
  kHalfInputs,     // rounds the inputs to half first, as a careless use of tensor cores would
};

__device__ float round_to_half_bits(float x) {  // 10 bits of fraction are left, as in half and TF32
  return __uint_as_float((__float_as_uint(x) + 0x1000u) & 0xffffe000u);
}

template <Bug kBug>
__global__ void wrong_kernel(const float* a, const float* b, float* c, int m, int n, int k) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= m - (kBug == Bug::kFlippedGuard ? 1 : 0) || col >= n) return;

  const int64_t pitch = kBug == Bug::kPitchM ? m : n;
  const int64_t size_b = int64_t{k} * n;
  const int64_t size_c = int64_t{m} * n;
  const int last = kBug == Bug::kShortK ? k - 1 : kBug == Bug::kDropsTail ? k / 4 * 4 : k;
  const int64_t out = kBug == Bug::kTransposedC ? int64_t{col} * m + row : row * pitch + col;
  if (out >= size_c) return;

  float sum = kBug == Bug::kStaleSum ? c[out] : 0.0f;
  for (int i = 0; i < last; ++i) {
    int64_t at = kBug == Bug::kTransposedB ? int64_t{col} * k + i : i * pitch + col;
    if (kBug == Bug::kShiftedColumn) at += 1;
    float x = a[int64_t{row} * k + i];
    float y = b[at % size_b];
    if (kBug == Bug::kHalfInputs) {
      x = round_to_half_bits(x);
      y = round_to_half_bits(y);
    }
    float product = x * y;
    if (kBug == Bug::kFlushes && fabsf(product) < 1.17549435e-38f) product = 0.0f;
    sum += product;
  }
  if (kBug == Bug::kHidesNan) sum = fmaxf(fminf(sum, 3.402823466e38f), -3.402823466e38f);
  c[out] = kBug == Bug::kZeros ? 0.0f : sum;
}

template <Bug kBug>
void launch(const Matmul<float>& p, cudaStream_t stream) {
  const dim3 block(32, 8);
  const dim3 grid(days::ceil_div(p.n, 32), days::ceil_div(p.m, 8));
  wrong_kernel<kBug><<<grid, block, 0, stream>>>(p.a, p.b, p.c, p.m, p.n, p.k);
  CUDA_CHECK_LAUNCH();
}

}  // namespace

void zeros(const Matmul<float>& p, cudaStream_t s) {
  launch<Bug::kZeros>(p, s);
}
void short_k(const Matmul<float>& p, cudaStream_t s) {
  launch<Bug::kShortK>(p, s);
}
void drops_tail(const Matmul<float>& p, cudaStream_t s) {
  launch<Bug::kDropsTail>(p, s);
}
void stale_sum(const Matmul<float>& p, cudaStream_t s) {
  launch<Bug::kStaleSum>(p, s);
}
void transposed_b(const Matmul<float>& p, cudaStream_t s) {
  launch<Bug::kTransposedB>(p, s);
}
void transposed_c(const Matmul<float>& p, cudaStream_t s) {
  launch<Bug::kTransposedC>(p, s);
}
void pitch_m(const Matmul<float>& p, cudaStream_t s) {
  launch<Bug::kPitchM>(p, s);
}
void shifted_column(const Matmul<float>& p, cudaStream_t s) {
  launch<Bug::kShiftedColumn>(p, s);
}
void flipped_guard(const Matmul<float>& p, cudaStream_t s) {
  launch<Bug::kFlippedGuard>(p, s);
}
void flushes(const Matmul<float>& p, cudaStream_t s) {
  launch<Bug::kFlushes>(p, s);
}
void hides_nan(const Matmul<float>& p, cudaStream_t s) {
  launch<Bug::kHidesNan>(p, s);
}
void half_inputs(const Matmul<float>& p, cudaStream_t s) {
  launch<Bug::kHalfInputs>(p, s);
}

}  // namespace day05
