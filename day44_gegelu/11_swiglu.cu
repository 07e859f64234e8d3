// SPDX-License-Identifier: MIT
// swiglu: a third gate, silu(g) = g / (1 + e^-g), in the layout of halves. 16 bytes of gates and of values a thread, as halves has them;
// where halves of rows are no whole vectors, an element a thread, as fused. So it takes every shape.
// Bound by: memory, 3 elements for an output.
//
// swiglu_grad: both gradients, from gate, value and dy: grad_halves with this gate.
// Bound by: memory, 5 elements for an output.
#include "common/vector.cuh"
#include "day44_gegelu/gates.cuh"
#include "day44_gegelu/swiglu.h"

namespace day44 {
namespace {

__device__ inline float silu(float x) {
  return gated(x, -kLog2e * x);
}
// Beyond 128 a slope is 0 or 1 in fp32. (At -64, where the GELUs' are, it is 1e-26 yet, and that times infinity is no NaN.)
__device__ inline float silu_slope(float gate) {
  const float x = gate > 128 ? 128 : gate < -128 ? -128 : gate;  // NaN stays NaN
  return slope(x, x, 1.0f);
}

// kEach elements of T, in one load where they are 16 bytes.
template <class T, int kEach>
__device__ inline days::Vec<T, kEach> load(const T* from) {
  if constexpr (kEach == 1) {
    return {{*from}};
  } else {
    return days::load16(from);
  }
}
template <class T, int kEach>
__device__ inline void store(T* to, const days::Vec<T, kEach>& vec) {
  if constexpr (kEach == 1) {
    *to = vec[0];
  } else {
    days::store16_streaming(to, vec);
  }
}

template <int kEach, class T>
__global__ void __launch_bounds__(kThreads) swiglu_kernel(const T* x,  // (rows, 2 * cols)
                                                          T* y,        // (rows, cols)
                                                          int64_t cols, unsigned parts) {
  const int64_t row = blockIdx.x / parts;
  const int64_t first = kEach * (int64_t{blockIdx.x % parts} * kThreads + threadIdx.x);
  if (first >= cols) return;
  const T* gates = x + row * 2 * cols + first;
  const days::Vec<T, kEach> gate = load<T, kEach>(gates), value = load<T, kEach>(gates + cols);
  days::Vec<T, kEach> out;
#pragma unroll
  for (int i = 0; i < kEach; ++i)
    out[i] = days::from_float<T>(silu(days::to_float(gate[i])) * days::to_float(value[i]));
  store<T, kEach>(y + row * cols + first, out);
}

template <int kEach, class T>
__global__ void __launch_bounds__(kThreads) swiglu_grad_kernel(const T* x,   // (rows, 2 * cols)
                                                               const T* dy,  // (rows, cols)
                                                               T* dx,        // (rows, 2 * cols)
                                                               int64_t cols, unsigned parts) {
  const int64_t row = blockIdx.x / parts;
  const int64_t first = kEach * (int64_t{blockIdx.x % parts} * kThreads + threadIdx.x);
  if (first >= cols) return;
  const int64_t at = row * 2 * cols + first;
  days::Vec<T, kEach> gate = load<T, kEach>(x + at), value = load<T, kEach>(x + at + cols);
  const days::Vec<T, kEach> out = load<T, kEach>(dy + row * cols + first);
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const float g = days::to_float(gate[i]), v = days::to_float(value[i]), d = days::to_float(out[i]);
    gate[i] = days::from_float<T>(d * silu_slope(g) * v);
    value[i] = days::from_float<T>(d * silu(g));
  }
  store<T, kEach>(dx + at, gate);
  store<T, kEach>(dx + at + cols, value);
}

}  // namespace

template <class T>
void swiglu(const Swiglu<T>& p, cudaStream_t stream) {
  if (kAlignedHalves.holds(p)) {
    const RowBlocks grid = blocks_of_rows(p, "swiglu", days::Vec<T>::kSize);
    swiglu_kernel<days::Vec<T>::kSize><<<grid.blocks, kThreads, 0, stream>>>(p.x, p.y, p.cols, grid.parts);
    CUDA_CHECK_LAUNCH();
  } else {
    const RowBlocks grid = blocks_of_rows(p, "swiglu", 1);
    swiglu_kernel<1><<<grid.blocks, kThreads, 0, stream>>>(p.x, p.y, p.cols, grid.parts);
    CUDA_CHECK_LAUNCH();
  }
}
template <class T>
void swiglu_grad(const SwigluBackward<T>& p, cudaStream_t stream) {
  if (kAlignedGradHalves.holds(p)) {
    const RowBlocks grid = blocks_of_rows(p, "swiglu_grad", days::Vec<T>::kSize);
    swiglu_grad_kernel<days::Vec<T>::kSize>
        <<<grid.blocks, kThreads, 0, stream>>>(p.x, p.dy, p.dx, p.cols, grid.parts);
    CUDA_CHECK_LAUNCH();
  } else {
    const RowBlocks grid = blocks_of_rows(p, "swiglu_grad", 1);
    swiglu_grad_kernel<1><<<grid.blocks, kThreads, 0, stream>>>(p.x, p.dy, p.dx, p.cols, grid.parts);
    CUDA_CHECK_LAUNCH();
  }
}

INSTANTIATE_LAUNCHER(swiglu, Swiglu, float, days::half, days::bf16);
INSTANTIATE_LAUNCHER(swiglu_grad, SwigluBackward, float, days::half, days::bf16);

}  // namespace day44
