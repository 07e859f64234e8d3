// SPDX-License-Identifier: MIT
//
// Sixteen bytes a load and a store, four loads under way in a thread, as in day 14. Rows of an odd vocabulary begin between two
// multiples of 16 bytes and have an edge of single elements.
// Changed since online: an eighth of the requests in 16 bits, a quarter in fp32.
// Bound by: the second read, which L2 serves: the rows that are being worked on are some tens of MB.
#include "day74_cross_entropy/gradient.cuh"

namespace day74 {
namespace {

constexpr int kThreads = 256;
constexpr int kVectors = 4;  // a batch

template <class T>
__global__ void __launch_bounds__(kThreads) vectors_kernel(const CrossEntropy<T> p) {
  constexpr int kVector = days::kVector<T>;
  __shared__ Partial partials[kThreads / days::kWarpSize];
  const int64_t row = blockIdx.x;
  const int thread = static_cast<int>(threadIdx.x);
  T* const x = p.logits + row * p.cols;  // (cols)
  fill_row(x, p.classes, p.cols, 0, thread, kThreads);
  const int32_t target = p.targets[row];
  if (without_class(p, row, target, thread, kThreads)) return;
  const float x_target = days::to_float(x[target]);  // before somebody writes there
  const days::RowParts<T> parts(x, p.classes);
  const T nothing = days::from_float<T>(-INFINITY);
  days::RowValues<T, kVectors> values;

  // The edge goes with the first batch: in later ones `first` is beyond it.
  Partial mine;
  for (int first = thread; first - thread < max(1, parts.vectors); first += kVectors * kThreads) {
    values.load(x, parts, true, first, kThreads, nothing);
    add_all<T>(mine, values.value);
  }
  const Partial all = block_merge(warp_merge(mine), partials);

  const Gradient gradient(p, all, p.dloss[row]);
  const Place place(parts, target);
  float below = 0;
  for (int first = thread; first - thread < max(1, parts.vectors); first += kVectors * kThreads) {
    values.load(x, parts, true, first, kThreads, nothing);
    if (p.smoothing != 0) {
#pragma unroll
      for (int i = 0; i < kVectors * kVector; ++i)
        if (first + i / kVector * kThreads < parts.vectors) below += all.max - values.value[i];
      if (first < parts.edge) below += all.max - values.value[values.kSize - 1];
    }
#pragma unroll
    for (float& value : values.value) value = gradient.template of<T>(value);
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      if (first + v * kThreads != place.vector) continue;
#pragma unroll
      for (int j = 0; j < kVector; ++j)
        if (j == place.lane) values.value[v * kVector + j] -= gradient.at_target;
    }
    if (first == place.edge) values.value[values.kSize - 1] -= gradient.at_target;
    values.store(x, parts, true, first, kThreads);
  }
  if (p.smoothing != 0) below = days::block_reduce(below, days::Sum{}, 0.0f);
  if (thread == 0) p.loss[row] = loss_of(p, all, x_target, below);
}

}  // namespace

template <class T>
void cross_entropy_vectors(const CrossEntropy<T>& p, cudaStream_t stream) {
  require_problem(p, "vectors");
  vectors_kernel<<<static_cast<unsigned>(p.rows), kThreads, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(cross_entropy_vectors, CrossEntropy, float, days::half, days::bf16);

}  // namespace day74
