// SPDX-License-Identifier: MIT
//
// The product on sm_90: day 67's `persistent`, for either op, any pitch that 8 divides, batches and parts of k. Tensor maps of three
// dimensions know where a row and a problem begin; a transposed operand comes as it lies, and wgmma is told along what. A block takes tile
// after tile, of all problems and parts; while a tile's sums leave, the ring fills with the next one's stages. Where it may, the copy engine
// brings them to memory, while the next tile is multiplied.
// Bound by: L2 and the tensor cores; with a short k by the epilogue, during which this block multiplies nothing.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

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
template <class T, Op kOpA, Op kOpB, bool kCopies>
struct Memory {
  days::Ring<Stage<T, kOpA, kOpB>, kStages, kReaders / days::kWarpSize> ring;
  std::conditional_t<kCopies, day67::WayOut<T>[kM / kRows], WayOut[kReaders / days::kWarpSize]> out;
};

// How a warpgroup's sums leave in 16 bits: slab by slab, as products leave them in lanes, by two pieces of shared memory in turn from where
// the copy engine takes them. A lane has 16 pairs of neighbours of a slab: pair i in row i % 2 * 8 of those below lane / 4, column i / 2 * 8.
template <class T>
struct Leaving {
  const Finish<T>& finish;
  const CUtensorMap &c, &kept;
  day67::WayOut<T>& out;
  uint32_t barrier;  // a number that the warpgroup has for itself
  int z;
  int turn = 0;

  __device__ __forceinline__ static float2 floats(uint32_t pair) {
    T two[2];
    memcpy(two, &pair, sizeof pair);
    return {days::to_float(two[0]), days::to_float(two[1])};
  }
  // What the epilogue reads for a slab of 64 x 64 at (row, col); nothing where it reads nothing.
  __device__ __forceinline__ void load(uint32_t (&pairs)[16], int row, int col) const {
    const T* from = finish.kept + z * finish.stride_kept;
    int64_t pitch = finish.pitch_kept;
    if (has_residual(finish.epilogue)) {
      from = static_cast<const T*>(finish.residual) + z * finish.stride_residual;
      pitch = finish.pitch_residual;
    } else if (finish.epilogue != Epilogue::kGeluSlope) {
      return;
    }
    const int lane = static_cast<int>(threadIdx.x) % days::kWarpSize;
    row += static_cast<int>(threadIdx.x) % kGroup / days::kWarpSize * 16 + lane / 4, col += lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      const int down = row + i % 2 * 8, across = col + i / 2 * 8;
      pairs[i] = down < finish.m && across < finish.n
                     ? *reinterpret_cast<const uint32_t*>(from + down * pitch + across)
                     : 0;
    }
  }
  // A tile's 64 rows from `row` on; other: what load() brought for its first slab. The epilogue is asked for once: a branch for each element
  // would take longer than the products of a short k.
  __device__ __forceinline__ void tile(int row, int col, const float (&sum)[kN / 2], uint32_t (&other)[16]) {
    switch (finish.epilogue) {
      case Epilogue::kNone:
        return tile<Epilogue::kNone>(row, col, sum, other);
      case Epilogue::kBias:
        return tile<Epilogue::kBias>(row, col, sum, other);
      case Epilogue::kBiasGelu:
        return tile<Epilogue::kBiasGelu>(row, col, sum, other);
      case Epilogue::kGeluSlope:
        return tile<Epilogue::kGeluSlope>(row, col, sum, other);
      case Epilogue::kResidual:
        return tile<Epilogue::kResidual>(row, col, sum, other);
      case Epilogue::kBiasResidual:
        return tile<Epilogue::kBiasResidual>(row, col, sum, other);
    }
  }

 private:
  template <Epilogue kWhat>
  __device__ __forceinline__ void tile(int row, int col, const float (&sum)[kN / 2], uint32_t (&other)[16]) {
#pragma unroll
    for (int slab = 0; slab < kN / kSlab; ++slab) {
      uint32_t pairs[16];
      combine<kWhat>(pairs, col + slab * kSlab, sum + slab * 32, other);
      if constexpr (kWhat == Epilogue::kGeluSlope || has_residual(kWhat)) {
        if (slab + 1 < kN / kSlab) load(other, row, col + (slab + 1) * kSlab);
      }
      if constexpr (kWhat == Epilogue::kBiasGelu) {
        if (finish.kept != nullptr) leave(kept, row, col + slab * kSlab, pairs);
#pragma unroll
        for (int i = 0; i < 16; ++i) {
          const float2 z = floats(pairs[i]);
          pairs[i] = day67::pack<T>(gelu(z.x), gelu(z.y));
        }
      }
      leave(c, row, col + slab * kSlab, pairs);
    }
  }
  // sum: two of each pair. other: what load() brought.
  template <Epilogue kWhat>
  __device__ __forceinline__ void combine(uint32_t (&pairs)[16], int col, const float* sum,
                                          const uint32_t (&other)[16]) const {
    float2 bias[8] = {};
    if constexpr (has_bias(kWhat)) {
      const int lane = static_cast<int>(threadIdx.x) % days::kWarpSize;
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        const int across = col + lane % 4 * 2 + i * 8;
        bias[i] = floats(across < finish.n ? *reinterpret_cast<const uint32_t*>(finish.bias + across) : 0);
      }
    }
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      float2 x = {fmaf(finish.alpha, sum[i * 2], bias[i / 2].x),
                  fmaf(finish.alpha, sum[i * 2 + 1], bias[i / 2].y)};
      if constexpr (kWhat == Epilogue::kGeluSlope) {
        const float2 y = floats(other[i]);
        x.x *= gelu_slope(y.x), x.y *= gelu_slope(y.y);
      }
      if constexpr (has_residual(kWhat)) {
        const float2 y = floats(other[i]);
        x.x += y.x, x.y += y.y;
      }
      pairs[i] = day67::pack<T>(x.x, x.y);
    }
  }
  // It returns when the slab, and the one before, may still be being read.
  __device__ __forceinline__ void leave(const CUtensorMap& map, int row, int col,
                                        const uint32_t (&pairs)[16]) {
    const int thread = static_cast<int>(threadIdx.x) % kGroup, lane = thread % days::kWarpSize,
              warp = thread / days::kWarpSize;
    T* const to = out.slab[turn];
    turn ^= 1;
    if (thread == 0) days::ptx::cp_async_bulk_wait_group_read<1>();  // its last copy has read it
    days::ptx::bar_sync(barrier, kGroup);
#pragma unroll
    for (int four = 0; four < 4; ++four) {  // 16 columns, as day67::store_slabs
      const uint32_t matrices[4] = {pairs[four * 4], pairs[four * 4 + 1], pairs[four * 4 + 2],
                                    pairs[four * 4 + 3]};
      const int down = warp * 16 + lane / 8 % 2 * 8 + lane % 8, piece = four * 2 + lane / 16;
      days::ptx::stmatrix(to + down * kSlab + (piece ^ down % 8) * 8, matrices);
    }
    days::ptx::fence_proxy_async_shared();
    days::ptx::bar_sync(barrier, kGroup);
    if (thread == 0) {
      days::ptx::cp_async_bulk_tensor_store(&map, to, col, row, z);
      days::ptx::cp_async_bulk_commit_group();
    }
  }
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

template <class T, Op kOpA, Op kOpB, bool kCopies>
__global__ void __launch_bounds__(kThreads, 1)
    wgmma_kernel(const Task<T> t, const __grid_constant__ CUtensorMap a,
                 const __grid_constant__ CUtensorMap b, const __grid_constant__ CUtensorMap c,
                 const __grid_constant__ CUtensorMap kept, const Problems problems, int down, int across,
                 int tiles) {
#if !defined(__SIMT__) && defined(__CUDA_ARCH__) && !defined(__CUDA_ARCH_FEAT_SM90_ALL)
  __trap();  // rather than products of nothing: what follows has no instructions in such code, which target_here() tells apart
#endif
  extern __shared__ __align__(1024) unsigned char memory[];
  auto& shared = *reinterpret_cast<Memory<T, kOpA, kOpB, kCopies>*>(memory);
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
  const int mine = (group - 1) * kRows;
  [[maybe_unused]] const int warp = static_cast<int>(threadIdx.x) / days::kWarpSize - 4;
  [[maybe_unused]] int turn_out = 0;
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
    if constexpr (kCopies) {
      Leaving<T> leaving{t.finish, c,       kept, shared.out[group - 1], static_cast<uint32_t>(group),
                         tile.z,   turn_out};
      uint32_t other[16] = {};
      leaving.load(other, tile.row + mine, tile.col);
      days::ptx::wgmma_wait_group<0>();
      ring.release(before);
      leaving.tile(tile.row + mine, tile.col, sum, other);
      turn_out = leaving.turn;
    } else {
      days::ptx::wgmma_wait_group<0>();
      ring.release(before);
#pragma unroll
      for (int part = 0; part < kN / 64; ++part)
        shared.out[warp].leave(t.finish, tile.z, tile.row + warp * 16, tile.col + part * 64,
                               [&](int j, int element) { return sum[part * 32 + j * 4 + element]; });
    }
  }
  if constexpr (kCopies) {
    if (threadIdx.x % kGroup == 0)
      days::ptx::cp_async_bulk_wait_group_read<0>();  // shared memory ends with the block
  }
}

// Sums of 16 bits in rows of whole pieces leave by the copy engine.
template <class T>
bool copies(const Task<T>& t) {
  const Finish<T>& f = t.finish;
  constexpr int64_t kMostPitch = int64_t{1} << 39;
  return !f.floats && !f.adds && f.vectors && t.n % 8 == 0 && f.pitch_c < kMostPitch &&
         f.pitch_kept < kMostPitch;
}

template <class T, Op kOpA, Op kOpB, bool kCopies>
void launch(const Task<T>& t, cudaStream_t stream) {
  using Now = Stage<T, kOpA, kOpB>;
  const int down = days::ceil_div(t.m, kM), across = days::ceil_div(t.n, kN);
  const int64_t tiles = int64_t{down} * across * t.batch * t.split;
  days::require(tiles <= days::kMaxGridX, "multiply: wgmma has at most 2147483647 tiles of 128 x 256, not",
                tiles);
  const unsigned blocks = static_cast<unsigned>(std::min<int64_t>(tiles, days::multiprocessors()));
  constexpr int kBytes = sizeof(Memory<T, kOpA, kOpB, kCopies>);
  static_assert(kBytes <= 227 * 1024);
  const auto kernel = wgmma_kernel<T, kOpA, kOpB, kCopies>;
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
  CUtensorMap c{}, kept{};
  if constexpr (kCopies) {
    const auto map = [&](const T* data, int64_t pitch, int64_t stride) {
      return days::batched_tensor_map(data, {t.m, t.n, pitch}, t.batch, t.batch > 1 ? stride : pitch, kRows,
                                      kSlab, CU_TENSOR_MAP_SWIZZLE_128B);
    };
    const Finish<T>& f = t.finish;
    c = map(static_cast<const T*>(f.c), f.pitch_c, f.stride_c);
    kept =
        f.epilogue == Epilogue::kBiasGelu && f.kept != nullptr ? map(f.kept, f.pitch_kept, f.stride_kept) : c;
  }
  const auto own = [&](int64_t stride) { return stride > 0 && t.batch > 1 ? 1 : 0; };
  kernel<<<blocks, kThreads, kBytes, stream>>>(t, Now::A::map(t.a, t.m, t.k, t.lda, t.stride_a, t.batch),
                                               Now::B::map(t.b, t.n, t.k, t.ldb, t.stride_b, t.batch), c,
                                               kept, Problems{own(t.stride_a), own(t.stride_b)}, down, across,
                                               static_cast<int>(tiles));
  CUDA_CHECK_LAUNCH();
}

template <class T, Op kOpA, Op kOpB>
void launch(const Task<T>& t, cudaStream_t stream) {
  copies(t) ? launch<T, kOpA, kOpB, true>(t, stream) : launch<T, kOpA, kOpB, false>(t, stream);
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
