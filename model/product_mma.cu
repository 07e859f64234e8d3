// SPDX-License-Identifier: MIT
//
// The product on tensor cores from sm_80 on: day 66's blocks of 128 x 256, for either op, any pitch that 8 divides and any part of k. A
// transposed operand is copied as it lies, and turned by ldmatrix on its way to the registers: .trans is for the other one of the two.
// Bound by: what binds day 66's `grouped`, waits and power; with a short k by the epilogue, which nothing overlaps but other blocks.

#include <algorithm>
#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "day66_tensor_core_matmul/block.cuh"
#include "model/epilogue.cuh"

namespace model {
namespace {

constexpr day66::Sizes kSizes = {.m = 128, .n = 256, .k = 32, .warp_m = 64, .warp_n = 64, .stages = 4};
constexpr int kThreads = kSizes.threads(), kWarps = kThreads / days::kWarpSize;
constexpr int kTogether = 16;  // rows of tiles
constexpr int kM = kSizes.warp_m / 16, kN = kSizes.warp_n / 8;
static_assert(kDepth % kSizes.k == 0);

// A tile of op(a), or of op(b), as its matrix lies: rows of it, columns of it.
template <class T, Op kOp>
using TileA =
    std::conditional_t<kOp == Op::kN, day66::Tile<T, kSizes.m, kSizes.k>, day66::Tile<T, kSizes.k, kSizes.m>>;
template <class T, Op kOp>
using TileB =
    std::conditional_t<kOp == Op::kN, day66::Tile<T, kSizes.k, kSizes.n>, day66::Tile<T, kSizes.n, kSizes.k>>;

template <class T, Op kOpA, Op kOpB>
struct Stage {
  TileA<T, kOpA> a;
  TileB<T, kOpB> b;
};

template <class T, Op kOpA, Op kOpB>
union Memory {
  Stage<T, kOpA, kOpB> stage[kSizes.stages];
  WayOut out[kWarps];  // each warp has its own, once nobody reads the stages any more
};

// A thread's share in copying tile after tile, as day66::Copies, with a pitch, and with rows that end within 16 bytes.
template <class To>
struct Copies {
  static constexpr int kStep = kThreads / To::kChunks;
  static_assert(kThreads % To::kChunks == 0 && To::kRows % kStep == 0 && kStep % To::kKeys == 0);
  const bf16* source;  // or half: bits are copied
  int64_t pitch;
  int rows, left;  // from there to the edge: rows, and elements of a row

  __device__ __forceinline__ Copies(const void* data, int64_t pitch_, int row, int col, int end_row,
                                    int end_col)
      : pitch(pitch_) {
    row += static_cast<int>(threadIdx.x) / To::kChunks;
    col += static_cast<int>(threadIdx.x) % To::kChunks * To::kPer;
    source = static_cast<const bf16*>(data) + row * pitch + col;
    rows = end_row - row;
    left = end_col - col;
  }
  __device__ __forceinline__ void next(To& tile, int down, int across) {
    const int thread = static_cast<int>(threadIdx.x);
    auto* const to = tile.at(thread / To::kChunks, thread % To::kChunks);
    const uint32_t bytes = static_cast<uint32_t>(min(max(2 * left, 0), 16));
#pragma unroll
    for (int i = 0; i < To::kRows; i += kStep)
      days::ptx::cp_async_cg(to + i * To::kCols, source + i * pitch, i < rows ? bytes : 0u);
    source += down * pitch + across;
    rows -= down;
    left -= across;
  }
};

// What a warp needs of a step of 16 along k, of its rows and columns in the stage's tiles.
template <class T, Op kOpA, Op kOpB>
struct Operands : day66::OneProduct::Operands<T, kSizes> {
  __device__ __forceinline__ void load(Stage<T, kOpA, kOpB>& stage, int row, int col, int step) {
    const int lane = static_cast<int>(threadIdx.x) % days::kWarpSize;
#pragma unroll
    for (int i = 0; i < kM; ++i) {
      if constexpr (kOpA == Op::kN) {
        days::ptx::ldmatrix(this->a[i], stage.a.at(row + lane % 16, lane / 16, 2 * step, 16 * i));
      } else {  // rows are k's: the second matrix has the next 8 columns, which are a's rows
        days::ptx::ldmatrix<true>(
            this->a[i], stage.a.at(lane % 8 + lane / 16 * 8, row / 8 + lane / 8 % 2, 2 * i, 16 * step));
      }
    }
#pragma unroll
    for (int j = 0; j < kN; j += 2) {
      uint32_t two[4];
      if constexpr (kOpB == Op::kN) {
        days::ptx::ldmatrix<true>(two, stage.b.at(lane % 16, col / 8 + lane / 16, j, 16 * step));
      } else {  // rows are n's: the second matrix has the next 8 of k
        days::ptx::ldmatrix(two, stage.b.at(col + lane % 8 + lane / 16 * 8, lane / 8 % 2, 2 * step, 8 * j));
      }
      this->b[j][0] = two[0];
      this->b[j][1] = two[1];
      this->b[j + 1][0] = two[2];
      this->b[j + 1][1] = two[3];
    }
  }
};

template <class T, Op kOpA, Op kOpB>
__global__ void __launch_bounds__(kThreads, 1) mma_kernel(const Task<T> t, int down, int across) {
  extern __shared__ uint4 raw[];
  auto& memory = *reinterpret_cast<Memory<T, kOpA, kOpB>*>(raw);
  const int z = static_cast<int>(blockIdx.x) / (down * across);
  const auto place =
      day66::grouped_place<kTogether>(static_cast<int>(blockIdx.x) % (down * across), down, across);
  const int row = place.row * kSizes.m, col = place.col * kSizes.n;
  const int first = t.first(z), end = first + t.length(z), last = days::ceil_div(end - first, kSizes.k);

  constexpr bool kA = kOpA == Op::kN, kB = kOpB == Op::kN;
  Copies<TileA<T, kOpA>> copy_a(t.a + z / t.split * t.stride_a, t.lda, kA ? row : first, kA ? first : row,
                                kA ? t.m : end, kA ? end : t.m);
  Copies<TileB<T, kOpB>> copy_b(t.b + z / t.split * t.stride_b, t.ldb, kB ? first : col, kB ? col : first,
                                kB ? end : t.n, kB ? t.n : end);
  const auto stage_of = [&](int s) -> Stage<T, kOpA, kOpB>& { return memory.stage[s % kSizes.stages]; };
  const auto fetch = [&](int s) {
    auto& stage = stage_of(s);
    copy_a.next(stage.a, kA ? 0 : kSizes.k, kA ? kSizes.k : 0);
    copy_b.next(stage.b, kB ? kSizes.k : 0, kB ? 0 : kSizes.k);
  };

  // The loop of day66::multiply_block.
  constexpr int kSteps = kSizes.k / 16, kAhead = kSizes.stages - 1;
  static_assert(kSteps % 2 == 0, "the two sets of operands take turns");
  const int my_row = day66::warp_row<kSizes>(), my_col = day66::warp_col<kSizes>();
  for (int s = 0; s < kAhead; ++s) {
    if (s < last) fetch(s);
    days::ptx::cp_async_commit_group();
  }
  t.finish.prefetch(z, row, kSizes.m, col, kSizes.n, static_cast<int>(threadIdx.x), kThreads);
  days::ptx::cp_async_wait_group<kAhead - 1>();
  __syncthreads();
  float sum[kM][kN][4] = {};
  Operands<T, kOpA, kOpB> operands[2];
  operands[0].load(stage_of(0), my_row, my_col, 0);
  const auto multiply_stage = [&](int s, bool fetches) {
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      auto& next = operands[(step + 1) % 2];
      if (step == kSteps - 1) {
        days::ptx::cp_async_wait_group<kAhead - 1>();
        __syncthreads();  // stage s + 1 is here, and nobody reads stage s from shared memory any more
        if (fetches || s + 1 < last) next.load(stage_of(s + 1), my_row, my_col, 0);
      } else {
        next.load(stage_of(s), my_row, my_col, step + 1);
      }
      if (step == 0) {
        if (fetches) fetch(s + kAhead);  // where stage s - 1 was
        days::ptx::cp_async_commit_group();
      }
      day66::OneProduct::add<T, kSizes>(sum, operands[step % 2]);
    }
  };
  int s = 0;
#pragma unroll 1
  for (; s < last - kAhead; ++s) multiply_stage(s, true);
#pragma unroll 1
  for (; s < last; ++s) multiply_stage(s, false);

#pragma unroll
  for (int i = 0; i < kM; ++i)
    memory.out[threadIdx.x / days::kWarpSize].leave(t.finish, z, row + my_row + 16 * i, col + my_col,
                                                    [&](int j, int element) { return sum[i][j][element]; });
}

template <class T>
auto kernel_of(const Task<T>& t) {
  if (t.op_a == Op::kN && t.op_b == Op::kN) return mma_kernel<T, Op::kN, Op::kN>;
  if (t.op_a == Op::kN) return mma_kernel<T, Op::kN, Op::kT>;
  if (t.op_b == Op::kN) return mma_kernel<T, Op::kT, Op::kN>;
  return mma_kernel<T, Op::kT, Op::kT>;
}

}  // namespace

template <class In>
void launch_mma(const Task<In>& t, cudaStream_t stream) {
  const int down = days::ceil_div(t.m, kSizes.m), across = days::ceil_div(t.n, kSizes.n);
  const int64_t blocks = int64_t{down} * across * t.batch * t.split;
  days::require(blocks <= days::kMaxGridX, "multiply: mma has at most 2147483647 blocks of 128 x 256, not",
                blocks);
  constexpr int kBytes = sizeof(Memory<In, Op::kN, Op::kN>);
  static_assert(kBytes == sizeof(Memory<In, Op::kT, Op::kT>));
  const auto kernel = kernel_of(t);
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
  kernel<<<static_cast<unsigned>(blocks), kThreads, kBytes, stream>>>(t, down, across);
  CUDA_CHECK_LAUNCH();
}

template void launch_mma(const Task<half>&, cudaStream_t);
template void launch_mma(const Task<bf16>&, cudaStream_t);

}  // namespace model
