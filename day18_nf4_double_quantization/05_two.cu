// SPDX-License-Identifier: MIT
// The mean must be known before the first code, so there is a launch before it. But nobody needs the centred scales twice: they
// stay in a register.
// Changed since three: two launches for three, scales are read twice and nothing is written in between.
// Bound by: launches, and the search's eight look-ups in shared memory.
#include "day18_nf4_double_quantization/mean.cuh"

namespace day18 {
namespace {

template <class T>
__global__ void __launch_bounds__(kThreads) two_kernel(const T* absmax,  // (b)
                                                       const T* sums,    // (count)
                                                       const T* map,     // (256)
                                                       uint8_t* codes8,  // (b)
                                                       T* absmax2,       // (groups)
                                                       T* offset,        // (1)
                                                       int64_t b, int count) {
  __shared__ T shared_map[kMap];
  shared_map[threadIdx.x] = map[threadIdx.x];
  const T mean = mean_of(sums, count, b);  // its barriers are the map's, too
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i == 0) *offset = mean;
  code_group(i < b ? absmax[i] - mean : T{0}, i, b, shared_map, codes8, absmax2);
}

}  // namespace

template <class T>
void quantize_two(const DoubleQuantize<T>& p, cudaStream_t stream) {
  static_assert(kThreads == kGroup && kThreads == kMap,
                "a thread has a scale of a group, and an entry of the map");
  const unsigned groups = groups_of(p, "two", two_workspace(p)), count = sums_of(p.b);
  T* sums = static_cast<T*>(p.workspace.data);
  sums_kernel<<<count, kThreads, 0, stream>>>(p.absmax, sums, p.b);
  CUDA_CHECK_LAUNCH();
  two_kernel<<<groups, kThreads, 0, stream>>>(p.absmax, sums, p.map, p.codes8, p.absmax2, p.offset, p.b,
                                              static_cast<int>(count));
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(quantize_two, DoubleQuantize, float);

}  // namespace day18
