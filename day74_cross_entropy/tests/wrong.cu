// SPDX-License-Identifier: MIT
//
// Kernels of day 74 with a bug in each, which its tests must reject.

#include <algorithm>

#include "common/buffer.h"
#include "common/check.h"
#include "common/must_reject.h"
#include "day74_cross_entropy/gradient.cuh"
#include "day74_cross_entropy/linear.h"

namespace day74 {
namespace {

enum Bug {
  kTargetReadLate,
  kMendsInItsType,
  kIgnoredStay,
  kSmoothsLossAlone,
  kMaxAddedFirst,
  kPaddingCounts
};

// A thread a row.
template <Bug kBug, class T>
__global__ void one_thread_kernel(const CrossEntropy<T> p) {
  T* const x = p.logits + int64_t{blockIdx.x} * p.cols;
  const int32_t target = p.targets[blockIdx.x];
  for (int col = p.classes; col < p.cols; ++col) x[col] = days::from_float<T>(0);
  const Target kind = kind_of(target, p.classes, p.ignore_index);
  if (kind != Target::kClass) {
    const float value = kind == Target::kIgnored ? 0 : NAN;
    if (kBug != kIgnoredStay || kind != Target::kIgnored)
      for (int col = 0; col < p.classes; ++col) x[col] = days::from_float<T>(value);
    p.loss[blockIdx.x] = value;
    return;
  }
  Partial all;
  float below = 0, x_target = days::to_float(x[target]);
  for (int col = 0; col < p.classes; ++col) all.add(days::to_float(x[col]));
  for (int col = 0; col < p.classes; ++col) below += all.max - days::to_float(x[col]);
  Gradient gradient(p, all, p.dloss[blockIdx.x]);
  if (kBug == kSmoothsLossAlone) gradient.everywhere = 0;
  for (int col = 0; col < p.classes; ++col) {
    const float dx = gradient.template of<T>(days::to_float(x[col]));
    x[col] = days::from_float<T>(col == target && kBug != kMendsInItsType ? dx - gradient.at_target : dx);
  }
  if (kBug == kMendsInItsType)
    x[target] = days::from_float<T>(days::to_float(x[target]) - gradient.at_target);
  if (kBug == kTargetReadLate) x_target = days::to_float(x[target]);
  p.loss[blockIdx.x] = kBug == kMaxAddedFirst && p.smoothing == 0 ? (all.max + logf(all.sum)) - x_target
                                                                  : loss_of(p, all, x_target, below);
}

template <Bug kBug, class T>
void one_thread(const CrossEntropy<T>& p, cudaStream_t stream) {
  one_thread_kernel<kBug><<<static_cast<unsigned>(p.rows), 1, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

}  // namespace

void target_read_late(const CrossEntropy<float>& p, cudaStream_t stream) {
  one_thread<kTargetReadLate>(p, stream);
}
MUST_REJECT(cross_entropy, target_read_late, "loss[0] is");

void mends_in_its_type(const CrossEntropy<days::bf16>& p, cudaStream_t stream) {
  one_thread<kMendsInItsType>(p, stream);
}
MUST_REJECT(cross_entropy, mends_in_its_type, "logits[0,0] is");

void ignored_stay(const CrossEntropy<float>& p, cudaStream_t stream) {
  one_thread<kIgnoredStay>(p, stream);
}
MUST_REJECT(cross_entropy, ignored_stay, "no class: logits[0,0] is");

void smooths_loss_alone(const CrossEntropy<float>& p, cudaStream_t stream) {
  one_thread<kSmoothsLossAlone>(p, stream);
}
MUST_REJECT(cross_entropy, smooths_loss_alone, "smoothing 0.1: logits[");

void max_added_first(const CrossEntropy<float>& p, cudaStream_t stream) {
  one_thread<kMaxAddedFirst>(p, stream);
}
MUST_REJECT(cross_entropy, max_added_first, "+-1e4: loss[");

// Each slice writes dw, and the last one's share is left.
void last_slice_alone(const LinearCrossEntropy<float>& p, cudaStream_t stream) {
  const int slice = slice_of(p);
  const size_t bytes = slices_workspace(p);
  const days::DeviceBuffer<unsigned char> memory(bytes);
  LinearCrossEntropy<float> q = p;
  q.workspace = {memory.data(), bytes};
  for (int first = 0; first < q.rows; first += slice) {
    const int count = std::min(slice, q.rows - first);
    multiply(q, slice, logits_of(q, first, count), stream);
    loss_and_gradient(cross_entropy_of(q, first, count), stream);
    multiply(q, slice, dx_of(q, first, count), stream);
    model::Product<float, float> dw = dw_of(q, first, count);
    dw.adds = false;
    multiply(q, slice, dw, stream);
  }
  CUDA_CHECK(cudaStreamSynchronize(stream));
}
MUST_REJECT(linear_cross_entropy, last_slice_alone, "dw[0,0] is");

}  // namespace day74
