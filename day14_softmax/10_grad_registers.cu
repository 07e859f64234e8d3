// SPDX-License-Identifier: MIT
//
// The gradient with both rows in registers, 8 or 16 elements of each a thread. Changed since grad_warp: y and
// dy are read once, 16 bytes a load. Takes cols <= 8192. Bound by: the memory.

#include "common/check.h"
#include "common/reduce.cuh"
#include "common/row.cuh"
#include "common/util.h"
#include "day14_softmax/softmax.h"

namespace day14 {
namespace {

template <class T, int kThreads, int kElements, bool kEdge, int kBlock>
__global__ void __launch_bounds__(kBlock) grad_registers_kernel(const T* y,   // (rows, cols)
                                                                const T* dy,  // (rows, cols)
                                                                T* dx,        // (rows, cols)
                                                                int rows, int cols) {
  constexpr int kLanes = kThreads < days::kWarpSize ? kThreads : days::kWarpSize;
  const int64_t row = int64_t{blockIdx.x} * (kBlock / kThreads) + threadIdx.x / kThreads;
  const int thread = threadIdx.x % kThreads;
  y += row * cols;
  dy += row * cols;
  dx += row * cols;
  const days::RowParts<T, kEdge> parts(y, row < rows ? cols : 0);  // past the last row: an empty one

  constexpr int kVectors = kElements / days::kVector<T>;
  const T zero = days::from_float<T>(0.0f);
  const days::RowBits<T, kVectors> y_bits(y, parts, true, thread, kThreads, zero);
  const days::RowBits<T, kVectors> dy_bits(dy, parts, parts.fit(dy), thread, kThreads, zero);
  days::RowValues<T, kVectors, kEdge> of_y, of_dy;
  of_y.convert(y_bits);
  of_dy.convert(dy_bits);
  float sum = 0;
#pragma unroll
  for (int i = 0; i < of_y.kSize; ++i) sum += of_y.value[i] * of_dy.value[i];
  if constexpr (kThreads <= days::kWarpSize) {
    sum = days::warp_reduce<kLanes>(sum, days::Sum{});
  } else {
    sum = days::block_reduce(sum, days::Sum{}, 0.0f);
  }
#pragma unroll
  for (int i = 0; i < of_y.kSize; ++i) of_y.value[i] *= of_dy.value[i] - sum;
  of_y.store(dx, parts, parts.fit(dx), thread, kThreads);
}

// kThreads threads a row, each with kElements of it. Without kEdge only where no row has an edge.
template <int kThreads, int kElements, bool kEdge = true, class T>
void launch(const SoftmaxBackward<T>& p, cudaStream_t stream) {
  static_assert(!kEdge || kThreads >= 16, "an element of the edge each");
  constexpr int kBlock = kThreads < 128 ? 128 : kThreads;
  grad_registers_kernel<T, kThreads, kElements, kEdge, kBlock>
      <<<days::ceil_div(p.rows, kBlock / kThreads), kBlock, 0, stream>>>(p.y, p.dy, p.dx, p.rows, p.cols);
  CUDA_CHECK_LAUNCH();
}

}  // namespace

template <class T>
void softmax_grad_registers(const SoftmaxBackward<T>& p, cudaStream_t stream) {
  require_problem(p, "grad_registers");
  days::require_needs(p, "grad_registers", kColsOfBackward);
  const bool edges = p.cols % days::kVector<T> != 0 || !days::aligned16(p.y, p.dy, p.dx);  // some row has one
  if (!edges && p.cols <= 4 * 8) return launch<4, 8, false>(p, stream);
  if (!edges && p.cols <= 8 * 8) return launch<8, 8, false>(p, stream);
  if (!edges && p.cols <= 16 * 8) return launch<16, 8, false>(p, stream);
  if (p.cols <= 16 * 8) return launch<16, 8>(p, stream);
  if (p.cols <= 32 * 8) return launch<32, 8>(p, stream);
  if (p.cols <= 32 * 16) return launch<32, 16>(p, stream);
  if (p.cols <= 128 * 8) return launch<128, 8>(p, stream);
  if (p.cols <= 128 * 16) return launch<128, 16>(p, stream);
  if (p.cols <= 512 * 8) return launch<512, 8>(p, stream);
  static_assert(512 * 16 == kMaxColsBackward);
  launch<512, 16>(p, stream);
}

INSTANTIATE_LAUNCHER(softmax_grad_registers, SoftmaxBackward, float, days::half, days::bf16);

}  // namespace day14
