// SPDX-License-Identifier: MIT
//
// The product for every device, type and address: tiles in shared memory as floats, 2 x 8 sums a thread. What it is for is to be right
// where the faster kernels do not run: before sm_80, without k, and of rows that begin anywhere.
// Bound by: shared memory, from which a thread loads 10 floats for 16 multiply-adds.

#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "model/epilogue.cuh"

namespace model {
namespace {

constexpr int kTile = 64, kStep = 16, kThreads = 256, kPitch = kTile + 4;
constexpr int kEach = kTile * kStep / kThreads;  // elements of a tile that a thread brings

// op(from)'s kStep of k from `depth` on, of kTile rows from `row` on: to[k][row]. along_k: neighbours in memory are neighbours along k, and
// so lanes go; what does not exist is 0.
template <class In>
__device__ __forceinline__ void bring(float (&to)[kStep][kPitch], const In* from, int64_t pitch, bool along_k,
                                      int row, int rows, int depth, int end) {
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const int at = static_cast<int>(threadIdx.x) + i * kThreads;
    const int r = along_k ? at / kStep : at % kTile, d = along_k ? at % kStep : at / kTile;
    const bool there = row + r < rows && depth + d < end;
    const int64_t place = along_k ? (row + r) * pitch + depth + d
                                  : (depth + d) * pitch + row + r;  // both fit: pitch is 64 bits
    to[d][r] = there ? days::to_float(from[place]) : 0.0f;
  }
}

template <class In>
__global__ void __launch_bounds__(kThreads) simple_kernel(const Task<In> t, int across, int tiles) {
  __shared__ __align__(16) float a[kStep][kPitch];
  __shared__ __align__(16) float b[kStep][kPitch];
  const int z = static_cast<int>(blockIdx.x) / tiles, tile = static_cast<int>(blockIdx.x) % tiles;
  const int row = tile / across * kTile, col = tile % across * kTile;
  const int my_row = static_cast<int>(threadIdx.x) / 8 * 2, my_col = static_cast<int>(threadIdx.x) % 8 * 8;
  const In* const from_a = t.a + z / t.split * t.stride_a;
  const In* const from_b = t.b + z / t.split * t.stride_b;
  const int first = t.first(z), end = first + t.length(z);
  float sum[2][8] = {};
  for (int depth = first; depth < end; depth += kStep) {
    bring(a, from_a, t.lda, t.op_a == Op::kN, row, t.m, depth, end);
    bring(b, from_b, t.ldb, t.op_b == Op::kT, col, t.n, depth, end);
    __syncthreads();
    if (row + my_row < t.m) {  // of few rows most threads have none: a step of a generator is that
#pragma unroll
      for (int d = 0; d < kStep; ++d) {
#pragma unroll
        for (int j = 0; j < 8; ++j) {
          sum[0][j] += a[d][my_row] * b[d][my_col + j];
          sum[1][j] += a[d][my_row + 1] * b[d][my_col + j];
        }
      }
    }
    __syncthreads();
  }
  t.finish(sum, z, row + my_row, 1, col + my_col);
}

}  // namespace

int compiled_for() {
#ifdef __SIMT__
  return 10 * days::device_attribute(cudaDevAttrComputeCapabilityMajor) +
         days::device_attribute(cudaDevAttrComputeCapabilityMinor);
#else
  cudaFuncAttributes attributes;
  CUDA_CHECK(cudaFuncGetAttributes(&attributes, simple_kernel<float>));
  return attributes.ptxVersion;
#endif
}

template <class In>
void launch_simple(const Task<In>& t, cudaStream_t stream) {
  const int across = days::ceil_div(t.n, kTile);
  const int64_t tiles = int64_t{days::ceil_div(t.m, kTile)} * across, blocks = tiles * t.batch * t.split;
  days::require(blocks <= days::kMaxGridX, "multiply: simple has at most 2147483647 blocks of 64 x 64, not",
                blocks);
  simple_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(t, across, static_cast<int>(tiles));
  CUDA_CHECK_LAUNCH();
}

template void launch_simple(const Task<float>&, cudaStream_t);
template void launch_simple(const Task<half>&, cudaStream_t);
template void launch_simple(const Task<bf16>&, cudaStream_t);

}  // namespace model
