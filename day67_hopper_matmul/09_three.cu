// SPDX-License-Identifier: MIT
//
// fp32 from tensor cores, as day 66's `three`: a float is the nearest tf32, `big`, and what is left, `small`, and of the four products of such
// parts three are made. tf32 lies along k, too, so a kernel of its own turns b round once, and writes both parts. Those of a are made in
// registers, from which wgmma takes a as well: its small part lies in no memory.
// Changed since promoted: three products for one, a in registers, sums that leave as floats. Teaches: wgmma with a in registers.
// Bound by: wgmma, at a third of tf32's rate.

#include "day67_hopper_matmul/rows.cuh"

namespace day67 {
namespace {

constexpr int kM = 128, kN = 128, kReaders = kM / kRows * kGroup, kThreads = kGroup + kReaders, kStages = 4;
constexpr int kWide = kAlong<float>, kSteps = kWide / 8;  // 32 of k a stage, 8 an instruction

struct alignas(1024) Parts {
  float a[kM * kWide];
  float big[kN * kWide], small[kN * kWide];  // of b
};
using Memory = days::Ring<Parts, kStages, kReaders / days::kWarpSize>;

// x = big + small: the nearest tf32, and the rest, which is exact and has at most 12 bits. Of these tensor cores cut off the last.
__device__ __forceinline__ void split(float x, uint32_t& big, uint32_t& small) {
  big = days::ptx::cvt_rn_tf32(x);
  small = __float_as_uint(x - __uint_as_float(big));
}

constexpr int kTurned = 32, kTurnedRows = 8;  // of b, that a block turns round, and of its threads

// big + small (n, k) = b (k, n). A tile goes through shared memory, so that reads follow rows and writes follow columns.
__global__ void __launch_bounds__(kTurned* kTurnedRows)
    parts_of_b_kernel(const float* b, int k, int n, float* big, float* small) {
  __shared__ float tile[kTurned][kTurned + 1];  // a column's elements are in as many banks
  const int across = days::ceil_div(n, kTurned), row = static_cast<int>(blockIdx.x) / across * kTurned,
            col = static_cast<int>(blockIdx.x) % across * kTurned, x = static_cast<int>(threadIdx.x);
  for (int y = static_cast<int>(threadIdx.y); y < kTurned; y += kTurnedRows)
    if (row + y < k && col + x < n) tile[y][x] = b[int64_t{row + y} * n + col + x];
  __syncthreads();
  for (int y = static_cast<int>(threadIdx.y); y < kTurned; y += kTurnedRows) {
    if (col + y < n && row + x < k) {
      uint32_t first, rest;
      split(tile[x][y], first, rest);
      const int64_t to = int64_t{col + y} * k + row + x;
      big[to] = __uint_as_float(first);
      small[to] = __uint_as_float(rest);
    }
  }
}

// part (64 x kN) = the stage's rows of a from `row` on, times its b: the smallest products first.
__device__ __forceinline__ void multiply_three(float (&part)[kN / 2], const Parts& stage, int row,
                                               uint32_t (&big)[kSteps][4], uint32_t (&small)[kSteps][4]) {
  using days::ptx::Tf32;
  const int lane = static_cast<int>(threadIdx.x) % days::kWarpSize,
            warp = static_cast<int>(threadIdx.x) % kGroup / days::kWarpSize, down = lane % 16;
  const float* const mine = stage.a + (row + warp * 16 + down) * kWide;
#pragma unroll
  for (int step = 0; step < kSteps; ++step) {
    uint32_t whole[4];  // rows 0 and 8 of 4 floats, then of the next 4; 8 of 16 bits are 4 floats to ldmatrix
    days::ptx::ldmatrix(whole, mine + ((step * 2 + lane / 16) ^ down % 8) * 4);
#pragma unroll
    for (int i = 0; i < 4; ++i) split(__uint_as_float(whole[i]), big[step][i], small[step][i]);
  }
  const uint64_t big_b = days::ptx::wgmma_descriptor(stage.big),
                 small_b = days::ptx::wgmma_descriptor(stage.small);
  days::ptx::wgmma_fence();
#pragma unroll
  for (int step = 0; step < kSteps; ++step)
    days::ptx::wgmma<Tf32>(part, small[step], big_b + step * (32 >> 4), step > 0);
#pragma unroll
  for (int step = 0; step < kSteps; ++step)
    days::ptx::wgmma<Tf32>(part, big[step], small_b + step * (32 >> 4));
#pragma unroll
  for (int step = 0; step < kSteps; ++step) days::ptx::wgmma<Tf32>(part, big[step], big_b + step * (32 >> 4));
  days::ptx::wgmma_commit_group();
}

// Infinity is big and leaves NaN, and so does a float beyond the largest tf32; infinity times a small of 0 is NaN. A sum that is no number
// is therefore made again, product by product.
__device__ __forceinline__ void make_again(const Matmul<float>& p, int row, int col) {
  float sum = 0;
  for (int i = 0; i < p.k; ++i) sum += p.a[int64_t{row} * p.k + i] * p.b[int64_t{i} * p.n + col];
  p.c[int64_t{row} * p.n + col] = sum;
}

// A warpgroup's sums to c at (row, col): four lanes fill a sector.
__device__ __forceinline__ void store_floats(const Matmul<float>& p, int row, int col,
                                             const float (&sum)[kN / 2]) {
  const int lane = static_cast<int>(threadIdx.x) % days::kWarpSize;
  row += static_cast<int>(threadIdx.x) % kGroup / days::kWarpSize * 16 + lane / 4;
  col += lane % 4 * 2;
  bool numbers = true;
#pragma unroll
  for (int i = 0; i < kN / 2; i += 2) {
    const int down = row + i % 4 / 2 * 8, across = col + i / 4 * 8;
    if (down < p.m && across < p.n) {
      *reinterpret_cast<float2*>(p.c + int64_t{down} * p.n + across) = make_float2(sum[i], sum[i + 1]);
      numbers = numbers && isfinite(sum[i]) && isfinite(sum[i + 1]);
    }
  }
  if (numbers) return;
#pragma unroll 1
  for (int i = 0; i < kN / 2;
       ++i) {  // what this thread has just stored: its registers cannot be counted through
    const int down = row + i % 4 / 2 * 8, across = col + i / 4 * 8 + i % 2;
    if (down < p.m && across < p.n && !isfinite(p.c[int64_t{down} * p.n + across]))
      make_again(p, down, across);
  }
}

__global__ void __launch_bounds__(kThreads, 1)
    three_kernel(const Matmul<float> p, const Walk walk, const __grid_constant__ CUtensorMap a,
                 const __grid_constant__ CUtensorMap big, const __grid_constant__ CUtensorMap small) {
  extern __shared__ __align__(1024) unsigned char memory[];
  auto& ring = *reinterpret_cast<Memory*>(memory);
  const int group = static_cast<int>(threadIdx.x) / kGroup;
  ring.init();
  if (group == 0) {
    days::ptx::setmaxnreg_dec<40>();
    if (threadIdx.x > 0) return;
    ask(ring, walk, [&](Parts& stage, Place place, int t, uint64_t* full) {
      days::ptx::cp_async_bulk_tensor(stage.a, &a, t * kWide, place.row * kM, full);
      days::ptx::cp_async_bulk_tensor(stage.big, &big, t * kWide, place.col * kN, full);
      days::ptx::cp_async_bulk_tensor(stage.small, &small, t * kWide, place.col * kN, full);
    });
    return;
  }
  days::ptx::setmaxnreg_inc<232>();
  const int mine = (group - 1) * kRows;
  days::Turn<kStages> turn;
  float part[kN / 2] = {};
  for_tiles(walk, [&](Place place) {
    float sum[kN / 2] = {};
    for (int t = 0; t < walk.steps; ++t, turn.next()) {
      uint32_t big_a[kSteps][4], small_a[kSteps][4];  // the products' until they have ended
      days::ptx::mbarrier_wait(&ring.full[turn.stage], turn.phase);
      multiply_three(part, ring.stage[turn.stage], mine, big_a, small_a);
      days::ptx::wgmma_wait_group<0>();
      ring.release(turn.stage);
#pragma unroll
      for (int i = 0; i < kN / 2; ++i) sum[i] += part[i];
    }
    store_floats(p, place.row * kM + mine, place.col * kN, sum);
  });
}

}  // namespace

void matmul_three(const WideMatmul<float>& p, cudaStream_t stream) {
  days::require_matmul(p, "three");
  days::require_needs(p, "three", kWideN, kWideK, kByteAligned);
  const size_t bytes = three_workspace(p);
  days::require(p.workspace.bytes >= bytes && days::aligned16(p.workspace.data),
                "three: needs an aligned workspace of bytes", bytes);
  const Walk walk = walk_of(p, kM, kN, kWide, "three");
  const int64_t turned = int64_t{days::ceil_div(p.k, kTurned)} * days::ceil_div(p.n, kTurned);
  days::require(turned < int64_t{1} << 31, "three: a grid has at most 2147483647 blocks; tiles of b are",
                turned);
  float* const big = static_cast<float*>(p.workspace.data);
  float* const small = big + bytes / 2 / sizeof(float);
  parts_of_b_kernel<<<static_cast<unsigned>(turned), dim3(kTurned, kTurnedRows), 0, stream>>>(p.b, p.k, p.n,
                                                                                              big, small);
  CUDA_CHECK_LAUNCH();
  launch<Memory>(three_kernel, blocks_of(walk), kThreads, stream, static_cast<const Matmul<float>&>(p), walk,
                 map_of_rows(p.a, p.m, p.k, kM), map_of_rows(big, p.n, p.k, kN),
                 map_of_rows(small, p.n, p.k, kN));
}

}  // namespace day67
