// SPDX-License-Identifier: MIT
//
// Four warps start a product together, and it reads both tiles from shared memory by itself: no ldmatrix, no fragments. The threads only
// bring the tiles, swizzled, and say by a fence that the tensor cores may look.
// Changed since day 66's grouped: wgmma of 64 x 128 x 16 for mma.sync of 16 x 8 x 16. Teaches: wgmma, its descriptors, its fences.
// Bound by: waits: copying and multiplying take turns.

#include "day67_hopper_matmul/tiles.cuh"

namespace day67 {
namespace {

constexpr int kM = 128, kN = 128, kThreads = kM / kRows * kGroup;

// A matrix's 64 x 64 part at (row, col), a piece of 16 bytes at a time, to `tile`. What lies beyond the edge comes as zeros.
template <class T>
__device__ void copy_part(const T* from, int rows, int cols, int row, int col, T* tile) {
  for (int i = static_cast<int>(threadIdx.x); i < 64 * 8; i += kThreads) {
    const int down = i / 8, piece = i % 8;
    const bool inside = row + down < rows && col + piece * 8 < cols;
    const uint4 value =
        inside ? *reinterpret_cast<const uint4*>(from + int64_t{row + down} * cols + col + piece * 8)
               : uint4{};
    *reinterpret_cast<uint4*>(tile + down * 64 + (piece ^ down % 8) * 8) = value;
  }
}

template <class T>
__global__ void __launch_bounds__(kThreads, 1) warpgroup_kernel(const Matmul<T> p) {
  extern __shared__ __align__(1024) unsigned char memory[];
  auto& stage = *reinterpret_cast<Stage<T, kM, kN>*>(memory);
  const int across = days::ceil_div(p.n, kN), row = static_cast<int>(blockIdx.x) / across * kM,
            col = static_cast<int>(blockIdx.x) % across * kN;
  const int group = static_cast<int>(threadIdx.x) / kGroup;
  float sum[kN / 2] = {};
  for (int k = 0; k < p.k; k += kDepth) {
    for (int part = 0; part < kM / 64; ++part)
      copy_part(p.a, p.m, p.k, row + part * 64, k, stage.a + part * 64 * kDepth);
    for (int slab = 0; slab < kN / kSlab; ++slab)
      copy_part(p.b, p.k, p.n, k, col + slab * kSlab, stage.b[slab]);
    days::ptx::fence_proxy_async_shared();  // what threads have written is seen by the tensor cores
    __syncthreads();
    days::ptx::wgmma_fence();
    multiply_stage(sum, stage, group * kRows);
    days::ptx::wgmma_commit_group();
    days::ptx::wgmma_wait_group<0>();
    __syncthreads();  // both groups have read the stage
  }
  store_pairs(p, row + group * kRows, col, sum);
}

}  // namespace

template <class T>
requires Half<T>
void matmul_warpgroup(const Matmul<T>& p, cudaStream_t stream) {
  require_problem(p, "warpgroup");
  const int tiles = tiles_of(p, kM, kN, "warpgroup");
  launch<Stage<T, kM, kN>>(warpgroup_kernel<T>, static_cast<unsigned>(tiles), kThreads, stream, p);
}

INSTANTIATE_LAUNCHER(matmul_warpgroup, Matmul, days::half, days::bf16);

}  // namespace day67
