// SPDX-License-Identifier: MIT
//
// Kernels of day 10 with a bug in each, which its tests must reject: what goes wrong in an epilogue. They stay inside
// their buffers, so that it is the comparison that finds them and not a fault.

#include <cuda_runtime.h>

#include <cstdint>

#include "common/check.h"
#include "common/must_reject.h"
#include "common/util.h"
#include "day10_tanh_tiled_matmul/matmul.h"
#include "day10_tanh_tiled_matmul/tile.cuh"

namespace day10 {
namespace {

// finish(p, sum, row, col) is what is stored.
template <class Problem, class Finish>
__device__ void each(const Problem& p, Finish finish) {
  const Sums s = tile_product(p);
  for (int j = 0; j < kEach; ++j) {
    const int64_t row = s.row + kRows * j;
    if (row < p.m && s.col < p.n) p.c[row * p.n + s.col] = finish(s.sum[j], row, s.col);
  }
}
template <class Problem, void (*kKernel)(Problem)>
void launch_any(const Problem& p, cudaStream_t stream) {
  days::require_needs(p, "wrong", kMAlongY);
  kKernel<<<tile_grid(p.m, p.n), tile_block(), 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}
template <void (*kKernel)(TanhMatmul<float>)>
void launch(const TanhMatmul<float>& p, cudaStream_t stream) {
  launch_any<TanhMatmul<float>, kKernel>(p, stream);
}
template <void (*kKernel)(Layer<float>)>
void launch_layer(const Layer<float>& p, cudaStream_t stream) {
  launch_any<Layer<float>, kKernel>(p, stream);
}

// tanh of each piece's sum, not of the whole one: right for k up to 8.
__global__ void tanh_of_pieces(TanhMatmul<float> p) {
  const int64_t row0 = int64_t{blockIdx.y} * kTile + threadIdx.y,
                col = int64_t{blockIdx.x} * kTile + threadIdx.x;
  for (int64_t row = row0; row < row0 + kTile && row < p.m; row += kRows) {
    if (col >= p.n) continue;
    float sum = 0.0f;
    for (int64_t i = 0; i < p.k; ++i) {
      sum += p.a[row * p.k + i] * p.b[i * p.n + col];
      if (i % kDepth == kDepth - 1 || i == p.k - 1) sum = tanhf(sum);
    }
    p.c[row * p.n + col] = sum;
  }
}
MUST_REJECT(tanh_matmul, launch<tanh_of_pieces>, "1 x 37 x 70: c[0,0] is");

// By e^2x, which is infinite from 45 on: infinity over infinity is no number.
__global__ void overflows(TanhMatmul<float> p) {
  each(p, [](float sum, int64_t, int64_t) {
    if (fabsf(sum) < 1e-3f) return sum;  // right so far
    const float power = expf(2 * sum);
    return (power - 1) / (power + 1);
  });
}
MUST_REJECT(tanh_matmul, launch<overflows>, "is nan, expected 1");

// A polynomial that fits small sums alone.
__global__ void small_sums_alone(TanhMatmul<float> p) {
  each(p, [](float sum, int64_t, int64_t) { return fmaxf(-1.0f, fminf(1.0f, sum - sum * sum * sum / 3)); });
}
MUST_REJECT(tanh_matmul, launch<small_sums_alone>, "1 x 1 x 1: c[0,0] is");

// Clamps to -1 and 1 by comparisons, where a NaN becomes a number.
__global__ void swallows_nan(TanhMatmul<float> p) {
  each(p, [](float sum, int64_t, int64_t) { return tanhf(fmaxf(-20.0f, fminf(20.0f, sum))); });
}
MUST_REJECT(tanh_matmul, launch<swallows_nan>, "expected nan");

__global__ void bias_after_tanh(Layer<float> p) {
  each(p, [&](float sum, int64_t row, int64_t col) {
    return tanhf(sum) + p.bias[col] + p.residual[row * p.n + col];
  });
}
MUST_REJECT(layer, launch_layer<bias_after_tanh>, "1 x 1 x 1: c[0,0] is");

// The residual of the thread's first element, for all four of them.
__global__ void one_residual(Layer<float> p) {
  each(p, [&](float sum, int64_t row, int64_t col) {
    return tanhf(sum + p.bias[col]) + p.residual[(row - row % kTile + row % kRows) * p.n + col];
  });
}
MUST_REJECT(layer, launch_layer<one_residual>, "41 x 1 x 67: c[8,0] is");

}  // namespace
}  // namespace day10
