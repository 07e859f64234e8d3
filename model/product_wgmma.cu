// SPDX-License-Identifier: MIT
//
// The product on sm_90: day 67's `persistent`, for either op, any pitch that 8 divides, batches and parts of k. Tensor maps of three
// dimensions know where a row and a problem begin; a transposed operand comes as it lies, and wgmma is told along what. A block takes tile
// after tile, of all problems and parts; while a tile's sums leave, the ring fills with the next one's stages.
// Bound by: L2 and the tensor cores; with a short k by the epilogue, during which this block multiplies nothing.

#include <algorithm>
#include <cstdint>

#include "common/check.h"
#include "common/ptx/wgmma.h"
#include "common/ring.cuh"
#include "common/tensor_map.h"
#include "common/util.h"
#include "day67_hopper_matmul/walk.cuh"
#include "model/epilogue.cuh"

namespace model {
namespace {

using day67::kGroup, day67::kRows, day67::kSlab;
using days::ptx::Major;

constexpr int kM = 128, kN = 256, kReaders = kM / kRows * kGroup, kThreads = kGroup + kReaders, kStages = 4,
              kTogether = 16;
static_assert(kDepth == day67::kDepth);

// A stage holds its operands as they lie: rows along k, 128 bytes each, or slabs of 64 rows or columns, 64 of k one under the other.
template <class T, bool kAlongK, int kExtent>
struct alignas(1024) Piece {
  static constexpr Major kMajor = kAlongK ? Major::k : Major::rows;
  T data[kExtent * kDepth];

  // Of the rows or columns from `from` on, step `step` of 16 along k.
  __device__ __forceinline__ uint64_t descriptor(int from) const {
    if constexpr (kAlongK) return days::ptx::wgmma_descriptor(data + from * kDepth);
    return days::ptx::wgmma_descriptor(data + from * kDepth, kDepth * kSlab * sizeof(T), 1024);
  }
  static constexpr uint64_t kStep = (kAlongK ? 32 : 16 * 128) >> 4;

  // Asks for it: rows or columns from `at` on, k from `depth` on, of problem z.
  __device__ __forceinline__ void ask(const CUtensorMap& map, int at, int depth, int z, uint64_t* full) {
    if constexpr (kAlongK) {
      days::ptx::cp_async_bulk_tensor(data, &map, depth, at, z, full);
    } else {
#pragma unroll
      for (int slab = 0; slab < kExtent / kSlab; ++slab)
        days::ptx::cp_async_bulk_tensor(data + slab * kSlab * kDepth, &map, at + slab * kSlab, depth, z,
                                        full);
    }
  }
  // The map of such boxes; the matrix is (extent, k) or (k, extent).
  static CUtensorMap map(const T* from, int extent, int k, int64_t pitch, int64_t stride, int batch) {
    const bool shared = stride == 0 || batch < 2;
    return days::batched_tensor_map(from, {kAlongK ? extent : k, kAlongK ? k : extent, pitch},
                                    shared ? 1 : batch, shared ? pitch : stride, kAlongK ? kExtent : kDepth,
                                    kAlongK ? kDepth : kSlab, CU_TENSOR_MAP_SWIZZLE_128B);
  }
};
template <class T, Op kOpA, Op kOpB>
struct Stage {
  using A = Piece<T, kOpA == Op::kN, kM>;
  using B = Piece<T, kOpB == Op::kT, kN>;
  A a;
  B b;
};
template <class T, Op kOpA, Op kOpB>
struct Memory {
  days::Ring<Stage<T, kOpA, kOpB>, kStages, kReaders / days::kWarpSize> ring;
  WayOut out[kReaders / days::kWarpSize];
};

// Which matrices of a batch are one for all.
struct Problems {
  int a, b;  // 1, or 0 where problem 0's is everybody's
};

// A tile: its place, its part of which problem, and that part of k.
struct Tile {
  int row, col, z, first, steps;
};
template <class T>
__device__ __forceinline__ Tile tile_at(const Task<T>& t, int index, int down, int across) {
  const int z = index / (down * across);
  const day67::Place place = day67::place_of(index % (down * across), down, across, kTogether);
  return {place.row * kM, place.col * kN, z, t.first(z), days::ceil_div(t.length(z), kDepth)};
}

template <class T, Op kOpA, Op kOpB>
__global__ void __launch_bounds__(kThreads, 1)
    wgmma_kernel(const Task<T> t, const __grid_constant__ CUtensorMap a,
                 const __grid_constant__ CUtensorMap b, const Problems problems, int down, int across,
                 int tiles) {
#if !defined(__SIMT__) && defined(__CUDA_ARCH__) && !defined(__CUDA_ARCH_FEAT_SM90_ALL)
  __trap();  // rather than products of nothing: what follows has no instructions in such code, which target_here() tells apart
#endif
  extern __shared__ __align__(1024) unsigned char memory[];
  auto& shared = *reinterpret_cast<Memory<T, kOpA, kOpB>*>(memory);
  auto& ring = shared.ring;
  const int group = static_cast<int>(threadIdx.x) / kGroup;
  ring.init();
  days::Turn<kStages> turn;
  if (group == 0) {
    days::ptx::setmaxnreg_dec<40>();
    if (threadIdx.x > 0) return;
    for (int index = static_cast<int>(blockIdx.x); index < tiles; index += static_cast<int>(gridDim.x)) {
      const Tile tile = tile_at(t, index, down, across);
      const int problem = tile.z / t.split;
      for (int s = 0; s < tile.steps; ++s, turn.next()) {
        uint64_t* const full = &ring.full[turn.stage];
        auto& stage = ring.stage[turn.stage];
        days::ptx::mbarrier_wait(&ring.empty[turn.stage], turn.phase ^ 1);
        days::ptx::mbarrier_arrive_expect_tx(full, sizeof stage);
        stage.a.ask(a, tile.row, tile.first + s * kDepth, problem * problems.a, full);
        stage.b.ask(b, tile.col, tile.first + s * kDepth, problem * problems.b, full);
      }
    }
    return;
  }
  days::ptx::setmaxnreg_inc<232>();
  const int mine = (group - 1) * kRows, warp = static_cast<int>(threadIdx.x) / days::kWarpSize - 4;
  for (int index = static_cast<int>(blockIdx.x); index < tiles; index += static_cast<int>(gridDim.x)) {
    const Tile tile = tile_at(t, index, down, across);
    t.finish.prefetch(tile.z, tile.row + mine, kRows, tile.col, kN, static_cast<int>(threadIdx.x) % kGroup,
                      kGroup);
    float sum[kN / 2] = {};
    int before = 0;
    for (int s = 0; s < tile.steps; ++s, turn.next()) {  // the loop of day67::multiply_tile
      days::ptx::mbarrier_wait(&ring.full[turn.stage], turn.phase);
      days::ptx::wgmma_fence();
      const auto& stage = ring.stage[turn.stage];
      using Now = Stage<T, kOpA, kOpB>;
      const uint64_t from_a = stage.a.descriptor(mine), from_b = stage.b.descriptor(0);
#pragma unroll
      for (int step = 0; step < kDepth / 16; ++step)
        days::ptx::wgmma<T, T, Now::A::kMajor, Now::B::kMajor>(sum, from_a + step * Now::A::kStep,
                                                               from_b + step * Now::B::kStep);
      days::ptx::wgmma_commit_group();
      days::ptx::wgmma_wait_group<1>();
      if (s > 0) ring.release(before);
      before = turn.stage;
    }
    days::ptx::wgmma_wait_group<0>();
    ring.release(before);
#pragma unroll
    for (int part = 0; part < kN / 64; ++part)
      shared.out[warp].leave(t.finish, tile.z, tile.row + warp * 16, tile.col + part * 64,
                             [&](int j, int element) { return sum[part * 32 + j * 4 + element]; });
  }
}

template <class T, Op kOpA, Op kOpB>
void launch(const Task<T>& t, cudaStream_t stream) {
  using Now = Stage<T, kOpA, kOpB>;
  const int down = days::ceil_div(t.m, kM), across = days::ceil_div(t.n, kN);
  const int64_t tiles = int64_t{down} * across * t.batch * t.split;
  days::require(tiles <= days::kMaxGridX, "multiply: wgmma has at most 2147483647 tiles of 128 x 256, not",
                tiles);
  const unsigned blocks = static_cast<unsigned>(std::min<int64_t>(tiles, days::multiprocessors()));
  constexpr int kBytes = sizeof(Memory<T, kOpA, kOpB>);
  static_assert(kBytes <= 227 * 1024);
  const auto kernel = wgmma_kernel<T, kOpA, kOpB>;
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
  const auto own = [&](int64_t stride) { return stride > 0 && t.batch > 1 ? 1 : 0; };
  kernel<<<blocks, kThreads, kBytes, stream>>>(t, Now::A::map(t.a, t.m, t.k, t.lda, t.stride_a, t.batch),
                                               Now::B::map(t.b, t.n, t.k, t.ldb, t.stride_b, t.batch),
                                               Problems{own(t.stride_a), own(t.stride_b)}, down, across,
                                               static_cast<int>(tiles));
  CUDA_CHECK_LAUNCH();
}

}  // namespace

template <class In>
void launch_wgmma(const Task<In>& t, cudaStream_t stream) {
  if (t.op_a == Op::kN && t.op_b == Op::kN) return launch<In, Op::kN, Op::kN>(t, stream);
  if (t.op_a == Op::kN) return launch<In, Op::kN, Op::kT>(t, stream);
  if (t.op_b == Op::kN) return launch<In, Op::kT, Op::kN>(t, stream);
  launch<In, Op::kT, Op::kT>(t, stream);
}

template void launch_wgmma(const Task<half>&, cudaStream_t);
template void launch_wgmma(const Task<bf16>&, cudaStream_t);

}  // namespace model
