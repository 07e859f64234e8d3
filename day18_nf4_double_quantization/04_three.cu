// SPDX-License-Identifier: MIT
// Sums of scales; then all scales less their mean, in a workspace; then their codes.
// Bound by: launches, and scales that are read three times and written once in between.
#include "day18_nf4_double_quantization/mean.cuh"

namespace day18 {
namespace {

template <class T>
__global__ void __launch_bounds__(kThreads) centre_kernel(const T* absmax,  // (b)
                                                          const T* sums,    // (count)
                                                          T* centred,       // (b)
                                                          T* offset,        // (1)
                                                          int64_t b, int count) {
  const T mean = mean_of(sums, count, b);
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < b) centred[i] = absmax[i] - mean;
  if (i == 0) *offset = mean;
}

template <class T>
__global__ void __launch_bounds__(kThreads) code_kernel(const T* centred,  // (b)
                                                        const T* map,      // (256)
                                                        uint8_t* codes8,   // (b)
                                                        T* absmax2,        // (groups)
                                                        int64_t b) {
  __shared__ T shared_map[kMap];
  shared_map[threadIdx.x] = map[threadIdx.x];
  __syncthreads();
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  code_group(i < b ? centred[i] : T{0}, i, b, shared_map, codes8, absmax2);
}

}  // namespace

template <class T>
void quantize_three(const DoubleQuantize<T>& p, cudaStream_t stream) {
  static_assert(kThreads == kGroup && kThreads == kMap,
                "a thread has a scale of a group, and an entry of the map");
  const unsigned groups = groups_of(p, "three", three_workspace(p)), count = sums_of(p.b);
  T* sums = static_cast<T*>(p.workspace.data);
  T* centred = sums + kMostSums;
  sums_kernel<<<count, kThreads, 0, stream>>>(p.absmax, sums, p.b);
  CUDA_CHECK_LAUNCH();
  centre_kernel<<<groups, kThreads, 0, stream>>>(p.absmax, sums, centred, p.offset, p.b,
                                                 static_cast<int>(count));
  CUDA_CHECK_LAUNCH();
  code_kernel<<<groups, kThreads, 0, stream>>>(centred, p.map, p.codes8, p.absmax2, p.b);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(quantize_three, DoubleQuantize, float);

}  // namespace day18
