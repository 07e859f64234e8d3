// SPDX-License-Identifier: MIT
//
// Right and wrong launchers of common_rules_test.h.
#include <cmath>
#include <vector>

#include "common/check.h"
#include "common/types.h"
#include "tests/common_rules_test.h"

namespace rules_test {
namespace {

enum How { kForward, kBackward, kZero, kFirstTwice, kDropsLast, kOneMore };

// One thread: what is tested is not the kernel.
template <How kHow>
__global__ void keep_kernel(KeepFloat p) {
  int count = 0;
  for (int step = 0; step < p.n; ++step) {
    const int i = kHow == kBackward ? p.n - 1 - step : step;
    if (!(kHow == kZero ? p.x[i] >= 0 : p.x[i] > 0)) continue;
    if (kHow == kDropsLast && i == p.n - 1) continue;
    p.kept[count++] = p.x[i];
  }
  if (kHow == kFirstTwice && count > 1) p.kept[1] = p.kept[0];
  if (kHow == kOneMore && count < p.n) p.kept[count++] = 1;
  *p.count = count;
}
template <How kHow>
void launch(const KeepFloat& p, cudaStream_t stream) {
  keep_kernel<kHow><<<1, 1, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

__global__ void backward_kernel(int32_t* order, int n) {
  for (int i = 0; i < n; ++i) order[i] = n - 1 - i;
}
__global__ void in_order_kernel(KeepFloat p, const int32_t* order) {
  int count = 0;
  for (int step = 0; step < p.n; ++step)
    if (p.x[order[step]] > 0) p.kept[count++] = p.x[order[step]];
  *p.count = count;
}

__global__ void find_kernel(KeepFloat p) {
  int32_t* indices = static_cast<int32_t*>(p.workspace.data);
  int count = 0;
  for (int i = 0; i < p.n; ++i)
    if (p.x[i] > 0) indices[count++] = i;
  *p.count = count;  // and the outputs are overwritten
  for (int i = 0; i < count; ++i) p.kept[i] = p.x[indices[i]];
}
__global__ void gather_kernel(KeepFloat p, int count, bool once) {
  int32_t* indices = static_cast<int32_t*>(p.workspace.data);
  for (int i = 0; i < count; ++i) {
    p.kept[i] = p.x[indices[i]];
    if (once) indices[i] = 0;
  }
  *p.count = count;
}
void gather(const KeepFloat& p, const char* variant, bool once, cudaStream_t stream) {
  days::require(p.workspace.bytes >= sizeof(int32_t) * static_cast<size_t>(p.n), variant,
                ": needs n integers of workspace, not", p.workspace.bytes);
  gather_kernel<<<1, 1, 0, stream>>>(p, p.setup.get<Indices>(variant).count, once);
  CUDA_CHECK_LAUNCH();
}

template <class T>
__global__ void copy_kernel(Copied<T> p, bool leaves) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= p.n) return;
  const float value = days::to_float(p.x[i]);
  if (leaves && (sizeof(T) == 1 ? value == 165 : isnan(value))) return;
  p.y[i] = p.x[i];
}
template <class T>
void copy(const Copied<T>& p, bool leaves, cudaStream_t stream) {
  copy_kernel<<<(static_cast<unsigned>(p.n) + 127) / 128, 128, 0, stream>>>(p, leaves);
  CUDA_CHECK_LAUNCH();
}

}  // namespace

void keep_forward(const KeepFloat& p, cudaStream_t stream) {
  launch<kForward>(p, stream);
}
void keep_backward(const KeepFloat& p, cudaStream_t stream) {
  launch<kBackward>(p, stream);
}
void keeps_zero(const KeepFloat& p, cudaStream_t stream) {
  launch<kZero>(p, stream);
}
void keeps_first_twice(const KeepFloat& p, cudaStream_t stream) {
  launch<kFirstTwice>(p, stream);
}
void drops_last(const KeepFloat& p, cudaStream_t stream) {
  launch<kDropsLast>(p, stream);
}
void counts_one_more(const KeepFloat& p, cudaStream_t stream) {
  launch<kOneMore>(p, stream);
}
void keeps_nothing(const KeepFloat&, cudaStream_t) {}

Plan keep_plan_setup(const KeepFloat& p, cudaStream_t stream) {
  int32_t* order = nullptr;
  CUDA_CHECK(cudaMalloc(&order, sizeof(int32_t) * static_cast<size_t>(p.n)));
  backward_kernel<<<1, 1, 0, stream>>>(order, p.n);
  CUDA_CHECK_LAUNCH();
  return Plan(order);
}
void keep_plan(const KeepFloat& p, cudaStream_t stream) {
  in_order_kernel<<<1, 1, 0, stream>>>(p, p.setup.get<Plan>("plan").order);
  CUDA_CHECK_LAUNCH();
}

Indices keep_indices_setup(const KeepFloat& p, cudaStream_t stream) {
  days::require(p.workspace.bytes >= sizeof(int32_t) * static_cast<size_t>(p.n),
                "indices: needs n integers of workspace, not", p.workspace.bytes);
  find_kernel<<<1, 1, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
  int32_t count = 0;
  CUDA_CHECK(cudaMemcpyAsync(&count, p.count, sizeof count, cudaMemcpyDeviceToHost, stream));
  CUDA_CHECK(cudaStreamSynchronize(stream));
  return {count};
}
void keep_indices(const KeepFloat& p, cudaStream_t stream) {
  gather(p, "indices", false, stream);
}
void keep_indices_once(const KeepFloat& p, cudaStream_t stream) {
  gather(p, "once", true, stream);
}

template <class T>
void copied_right(const Copied<T>& p, cudaStream_t stream) {
  copy(p, false, stream);
}
template void copied_right(const Copied<float>&, cudaStream_t);
template void copied_right(const Copied<uint8_t>&, cudaStream_t);
void leaves_nan(const Copied<float>& p, cudaStream_t stream) {
  copy(p, true, stream);
}
void leaves_165(const Copied<uint8_t>& p, cudaStream_t stream) {
  copy(p, true, stream);
}

}  // namespace rules_test
