// SPDX-License-Identifier: MIT
//
// Split-K: as many blocks as the GPU has room for share each tile, a slice of k each. Every slice writes its float sums
// to the workspace, and a second kernel adds the slices and rounds. Changed since tiles: slices, and the second kernel.
// Bound by: blocks that are a whole number a tile, and so fit the GPU by luck; and all sums written and read again.

#include <algorithm>
#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "day66_tensor_core_matmul/block.cuh"

namespace day66 {
namespace {

constexpr Sizes kSizes = {.m = 128, .n = 128, .k = 32, .warp_m = 64, .warp_n = 64, .stages = 4};
constexpr int kThreads = kSizes.threads();
constexpr int kBlocksAMultiprocessor = 2;  // by registers and by shared memory
constexpr int kLeastStages = 4;            // of k, a slice
constexpr int kColumns = 4;                // a thread of the second kernel

int slices_of(int m, int n, int k) {
  const int64_t tiles = int64_t{days::ceil_div(m, kSizes.m)} * days::ceil_div(n, kSizes.n);
  const int64_t room = kBlocksAMultiprocessor * days::multiprocessors() / tiles;
  return static_cast<int>(
      std::max<int64_t>(1, std::min<int64_t>(room, days::ceil_div(k, kSizes.k) / kLeastStages)));
}

template <class T>
__global__ void __launch_bounds__(kThreads, kBlocksAMultiprocessor)
    slices_kernel(const DeepMatmul<T> p, float* slices, int tiles_across) {
  extern __shared__ uint4 memory[];
  auto& stages = *reinterpret_cast<Stages<T, kSizes>*>(memory);
  const int row = static_cast<int>(blockIdx.x) / tiles_across * kSizes.m;
  const int col = static_cast<int>(blockIdx.x) % tiles_across * kSizes.n;
  const int slice = static_cast<int>(blockIdx.y), count = static_cast<int>(gridDim.y);
  const int64_t tiles = days::ceil_div(p.k, kSizes.k);

  float sum[kSizes.warp_m / 16][kSizes.warp_n / 8][4] = {};
  multiply_block<OneProduct, false>(stages, Source<T>{p.a, p.m, p.k}, {p.b, p.k, p.n}, row, col,
                                    static_cast<int>(tiles * slice / count),
                                    static_cast<int>(tiles * (slice + 1) / count), sum);
  float* const to = slices + int64_t{slice} * p.m * p.n;
  for_pairs(
      sum, row + warp_row<kSizes>(), col + warp_col<kSizes>(),
      [&](int down, int across, float x, float y) { store_two<false>(to, p.m, p.n, down, across, x, y); });
}

template <class T>
__global__ void __launch_bounds__(256)
    add_slices_kernel(const float* slices, T* c, int64_t elements, int count) {
  const int64_t i = (int64_t{blockIdx.x} * blockDim.x + threadIdx.x) * kColumns;
  if (i >= elements) return;
  float4 sum = *reinterpret_cast<const float4*>(slices + i);
  for (int slice = 1; slice < count; ++slice) {
    const float4 more = *reinterpret_cast<const float4*>(slices + slice * elements + i);
    sum = make_float4(sum.x + more.x, sum.y + more.y, sum.z + more.z, sum.w + more.w);
  }
  *reinterpret_cast<uint2*>(c + i) = make_uint2(pack<T>(sum.x, sum.y), pack<T>(sum.z, sum.w));
}

}  // namespace

size_t split_bytes(int m, int n, int k) {
  return sizeof(float) * static_cast<size_t>(m) * static_cast<size_t>(n) *
         static_cast<size_t>(slices_of(m, n, k));
}

template <class T>
requires Half<T>
void matmul_split(const DeepMatmul<T>& p, cudaStream_t stream) {
  days::require_matmul(p, "split");
  days::require_needs(p, "split", kWholeN, kWholeK, kAligned);
  const size_t needed = split_bytes(p.m, p.n, p.k);
  days::require(p.workspace.bytes >= needed, "split: needs a workspace of bytes:", needed);
  auto* const slices = static_cast<float*>(p.workspace.data);
  const int count = slices_of(p.m, p.n, p.k);
  const dim3 grid(tile_blocks(p.m, p.n, kSizes.m, kSizes.n, "split"), static_cast<unsigned>(count));
  constexpr int kBytes = sizeof(Stages<T, kSizes>);
  const auto kernel = slices_kernel<T>;
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
  kernel<<<grid, kThreads, kBytes, stream>>>(p, slices, days::ceil_div(p.n, kSizes.n));
  CUDA_CHECK_LAUNCH();
  const int64_t elements = int64_t{p.m} * p.n;
  const unsigned blocks = static_cast<unsigned>(days::ceil_div(elements, int64_t{256} * kColumns));
  add_slices_kernel<T><<<blocks, 256, 0, stream>>>(slices, p.c, elements, count);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(matmul_split, DeepMatmul, days::half, days::bf16);

}  // namespace day66
