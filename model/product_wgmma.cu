// SPDX-License-Identifier: MIT
//
// The product on sm_90: day 67's `persistent`, for either op, any pitch that 8 divides, batches and parts of k. Tensor maps of three
// dimensions know where a row and a problem begin; a transposed operand comes as it lies, and wgmma is told along what. A block takes tile
// after tile, of all problems and parts; while a tile's sums leave, the ring fills with the next one's stages.
// While a block's sums leave it multiplies nothing. With a short k that is half of its time, so two blocks, with tiles half as wide, share
// a multiprocessor: one multiplies while the other's sums leave. Each then asks L2 for a third more.
// Bound by: L2 and the tensor cores.

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

constexpr int kM = 128, kThreads = kM / kRows * kGroup, kTogether = 16;
// The blocks that share a multiprocessor, 1 or 2, decide the rest.
template <int kBlocks>
struct Shape {
  static constexpr int kN = kBlocks == 1 ? 256 : 128, kStages = kBlocks == 1 ? 4 : 3,
                       kOut = kBlocks == 1 ? 64 : 32;
};
static_assert(kDepth == day67::kDepth);

// A stage holds its operands as they lie: rows along k, 128 bytes each, or slabs of 64 rows or columns, 64 of k one under the other.
template <class T, bool kAlongK, int kExtent>
struct Piece {
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
template <class T, Op kOpA, Op kOpB, int kN>
struct Stage {
  using A = Piece<T, kOpA == Op::kN, kM>;
  using B = Piece<T, kOpB == Op::kT, kN>;
  A a;
  B b;
};
// A tile: its place, its part of which problem, and that part of k.
struct Tile {
  int row, col, z, first, steps;
};
template <class T, Op kOpA, Op kOpB, class S>
struct alignas(1024) Memory {  // the swizzle counts from multiples of 1,024 bytes, which all pieces are
  days::Ring<Stage<T, kOpA, kOpB, S::kN>, S::kStages, kThreads / days::kWarpSize> ring;
  WayOut<S::kOut> out[kThreads / days::kWarpSize];
  // What thread 0 asks for next: a step of a tile of this block. Here it takes no registers from those that multiply.
  struct {
    int index, step;
    Tile tile;
  } asked;
};

// Which matrices of a batch are one for all.
struct Problems {
  int a, b;  // 1, or 0 where problem 0's is everybody's
};

template <int kN, class T>
__device__ __forceinline__ Tile tile_at(const Task<T>& t, int index, int down, int across) {
  const int z = index / (down * across);
  const day67::Place place = day67::place_of(index % (down * across), down, across, kTogether);
  return {place.row * kM, place.col * kN, z, t.first(z), days::ceil_div(t.length(z), kDepth)};
}

template <class T, Op kOpA, Op kOpB, int kBlocks>
__global__ void __launch_bounds__(kThreads, kBlocks)
    wgmma_kernel(const Task<T> t, const __grid_constant__ CUtensorMap a,
                 const __grid_constant__ CUtensorMap b, const Problems problems, int down, int across,
                 int tiles) {
#if !defined(__SIMT__) && defined(__CUDA_ARCH__) && !defined(__CUDA_ARCH_FEAT_SM90_ALL)
  __trap();  // rather than products of nothing: what follows has no instructions in such code, which target_here() tells apart
#endif
  using S = Shape<kBlocks>;
  constexpr int kN = S::kN;
  extern __shared__ __align__(1024) unsigned char memory[];
  auto& shared = *reinterpret_cast<Memory<T, kOpA, kOpB, S>*>(memory);
  auto& ring = shared.ring;
  ring.init();
  auto& asked = shared.asked;
  if (threadIdx.x == 0)
    asked = {static_cast<int>(blockIdx.x), 0, tile_at<kN>(t, static_cast<int>(blockIdx.x), down, across)};
  days::Turn<S::kStages> asked_turn;
  const auto ask = [&] {  // always a whole ring ahead, also of the next tile
    if (threadIdx.x > 0 || asked.index >= tiles) return;
    const int problem = asked.tile.z / t.split, depth = asked.tile.first + asked.step * kDepth;
    uint64_t* const full = &ring.full[asked_turn.stage];
    auto& stage = ring.stage[asked_turn.stage];
    days::ptx::mbarrier_wait(&ring.empty[asked_turn.stage], asked_turn.phase ^ 1);
    days::ptx::mbarrier_arrive_expect_tx(full, sizeof stage);
    stage.a.ask(a, asked.tile.row, depth, problem * problems.a, full);
    stage.b.ask(b, asked.tile.col, depth, problem * problems.b, full);
    asked_turn.next();
    if (++asked.step < asked.tile.steps) return;
    asked.index += static_cast<int>(gridDim.x), asked.step = 0;
    if (asked.index < tiles) asked.tile = tile_at<kN>(t, asked.index, down, across);
  };
  for (int stage = 0; stage < S::kStages; ++stage) ask();
  days::Turn<S::kStages> turn;
  const int mine = static_cast<int>(threadIdx.x) / kGroup * kRows;
  const int warp = static_cast<int>(threadIdx.x) / days::kWarpSize;
  for (int index = static_cast<int>(blockIdx.x); index < tiles; index += static_cast<int>(gridDim.x)) {
    const Tile tile = tile_at<kN>(t, index, down, across);
    t.finish.prefetch(tile.z, tile.row + mine, kRows, tile.col, kN, static_cast<int>(threadIdx.x) % kGroup,
                      kGroup);
    float sum[kN / 2] = {};
    int before = 0;
    for (int s = 0; s < tile.steps; ++s, turn.next()) {  // the loop of day67::multiply_tile
      days::ptx::mbarrier_wait(&ring.full[turn.stage], turn.phase);
      days::ptx::wgmma_fence();
      const auto& stage = ring.stage[turn.stage];
      using Now = Stage<T, kOpA, kOpB, kN>;
      const uint64_t from_a = stage.a.descriptor(mine), from_b = stage.b.descriptor(0);
#pragma unroll
      for (int step = 0; step < kDepth / 16; ++step)
        days::ptx::wgmma<T, T, Now::A::kMajor, Now::B::kMajor>(sum, from_a + step * Now::A::kStep,
                                                               from_b + step * Now::B::kStep);
      days::ptx::wgmma_commit_group();
      days::ptx::wgmma_wait_group<1>();
      if (s > 0) {
        ring.release(before);
        ask();
      }
      before = turn.stage;
    }
    days::ptx::wgmma_wait_group<0>();
    ring.release(before);
    ask();
#pragma unroll
    for (int part = 0; part < kN / S::kOut; ++part)
      shared.out[warp].leave(t.finish, tile.z, tile.row + warp * 16, tile.col + part * S::kOut,
                             [&](int j, int element) { return sum[part * S::kOut / 2 + j * 4 + element]; });
  }
}

template <class T, Op kOpA, Op kOpB, int kBlocks>
void launch(const Task<T>& t, cudaStream_t stream) {
  using S = Shape<kBlocks>;
  using Now = Stage<T, kOpA, kOpB, S::kN>;
  const int down = days::ceil_div(t.m, kM), across = days::ceil_div(t.n, S::kN);
  const int64_t tiles = int64_t{down} * across * t.batch * t.split;
  days::require(tiles <= days::kMaxGridX, "multiply: wgmma has at most 2147483647 tiles of 128 x ", S::kN,
                ", not", tiles);
  const unsigned blocks = static_cast<unsigned>(std::min<int64_t>(tiles, kBlocks * days::multiprocessors()));
  constexpr int kBytes = sizeof(Memory<T, kOpA, kOpB, S>);
  static_assert(kBlocks * (kBytes + 1024) <= 228 * 1024);
  const auto kernel = wgmma_kernel<T, kOpA, kOpB, kBlocks>;
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
  const auto own = [&](int64_t stride) { return stride > 0 && t.batch > 1 ? 1 : 0; };
  kernel<<<blocks, kThreads, kBytes, stream>>>(t, Now::A::map(t.a, t.m, t.k, t.lda, t.stride_a, t.batch),
                                               Now::B::map(t.b, t.n, t.k, t.ldb, t.stride_b, t.batch),
                                               Problems{own(t.stride_a), own(t.stride_b)}, down, across,
                                               static_cast<int>(tiles));
  CUDA_CHECK_LAUNCH();
}

template <int kBlocks, class T>
void launch(const Task<T>& t, cudaStream_t stream) {
  if (t.op_a == Op::kN && t.op_b == Op::kN) return launch<T, Op::kN, Op::kN, kBlocks>(t, stream);
  if (t.op_a == Op::kN) return launch<T, Op::kN, Op::kT, kBlocks>(t, stream);
  if (t.op_b == Op::kN) return launch<T, Op::kT, Op::kN, kBlocks>(t, stream);
  launch<T, Op::kT, Op::kT, kBlocks>(t, stream);
}

}  // namespace

template <class In>
void launch_wgmma(const Task<In>& t, bool two, cudaStream_t stream) {
  two ? launch<2>(t, stream) : launch<1>(t, stream);
}

template void launch_wgmma(const Task<half>&, bool, cudaStream_t);
template void launch_wgmma(const Task<bf16>&, bool, cudaStream_t);

}  // namespace model
