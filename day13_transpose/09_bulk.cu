// SPDX-License-Identifier: MIT
//
// The copy engine moves the tiles: one thread asks for a box of in, and later for a box of out to be written.
// Changed since vectorised: no thread computes a global address or guards an edge; the engine swizzles, clips
// what is outside, and the threads only turn squares of 16 bytes a side within shared memory, in place.
// Needs compute capability 9.0 and rows of 16-byte multiples in both matrices. Bound by: the memory.
// Teaches: cp_async_bulk_tensor, cp_async_bulk_tensor_store, cp_async_bulk_commit_group,
// cp_async_bulk_wait_group_read, fence_proxy_async_shared.

#include <cstdint>

#include "common/check.h"
#include "common/ptx.h"
#include "common/tensor_map.h"
#include "common/util.h"
#include "common/vector.cuh"
#include "day13_transpose/transpose.h"

namespace day13 {
namespace {

template <class T>
struct Boxes {
  static constexpr int kSide = 16 / int{sizeof(T)};  // of a thread's square: 16 bytes
  static constexpr int kStrip = 8 * kSide;           // elements in 128 bytes, the widest row that is swizzled
  static constexpr int kAcross = sizeof(T) == 1 ? 1 : 2;  // strips a tile; the tile is a square
  static constexpr int kTile = kAcross * kStrip;
  static constexpr int kThreads = kTile / kSide * (kTile / kSide);
};

// A matrix of kTile x kTile in strips of 128 bytes, as the engine lays them out: the eight 16-byte pieces of
// a row are permuted by the row's number. A row of a strip is 128 bytes, so a strip begins at a multiple of
// 1,024 bytes, where the permutation begins.
template <class T>
struct alignas(1024) Tile {
  days::Vec<T> piece[Boxes<T>::kAcross][Boxes<T>::kTile][8];

  __device__ days::Vec<T>& at(int row, int square) { return piece[square / 8][row][square % 8 ^ row % 8]; }
};

template <class T>
__global__ void __launch_bounds__(Boxes<T>::kThreads)
    bulk_kernel(const __grid_constant__ CUtensorMap in_map,   // (rows, cols)
                const __grid_constant__ CUtensorMap out_map,  // (cols, rows)
                int tiles_down) {
  using B = Boxes<T>;
  constexpr int kSide = B::kSide;
  __shared__ Tile<T> tile;
  __shared__ uint64_t arrived;
  const int row0 = static_cast<int>(blockIdx.x % tiles_down) * B::kTile;
  const int col0 = static_cast<int>(blockIdx.x / tiles_down) * B::kTile;
  if (threadIdx.x == 0) {
    days::ptx::mbarrier_init(&arrived, 1);
    days::ptx::fence_proxy_async_shared();
    days::ptx::mbarrier_arrive_expect_tx(&arrived, sizeof(tile));
    for (int s = 0; s < B::kAcross; ++s) {
      days::ptx::cp_async_bulk_tensor(tile.piece[s], &in_map, col0 + s * B::kStrip, row0, &arrived);
    }
  }
  __syncthreads();  // nobody waits on a barrier that is not there yet

  // Two warps share 8 x 8 squares, and a lane's square lies on a diagonal of them: eight neighbouring lanes
  // have eight different columns and eight different rows of squares, so that neither the reads nor the
  // writes below meet in a bank.
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, group = warp / 2;
  const int across = lane % 8, down = (lane + lane / 8 + warp % 2 * 4) % 8;
  const int square_col = group % B::kAcross * 8 + across, square_row = group / B::kAcross * 8 + down;

  days::ptx::mbarrier_wait(&arrived, 0);
  days::Vec<T> square[kSide];
#pragma unroll
  for (int i = 0; i < kSide; ++i) square[i] = tile.at(square_row * kSide + i, square_col);
  __syncthreads();  // all have read: now the same memory takes the rows of out
#pragma unroll
  for (int j = 0; j < kSide; ++j) {
    days::Vec<T> turned;
#pragma unroll
    for (int i = 0; i < kSide; ++i) turned[i] = square[i][j];
    tile.at(square_col * kSide + j, square_row) = turned;
  }
  days::ptx::fence_proxy_async_shared();  // what this thread wrote is the engine's to read
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int s = 0; s < B::kAcross; ++s) {
      days::ptx::cp_async_bulk_tensor_store(&out_map, tile.piece[s], row0 + s * B::kStrip, col0);
    }
    days::ptx::cp_async_bulk_commit_group();
    days::ptx::cp_async_bulk_wait_group_read<0>();  // shared memory is given up when the block ends
  }
}

}  // namespace

template <class T>
void transpose_bulk(const Transpose<T>& p, cudaStream_t stream) {
  using B = Boxes<T>;
  require_problem(p, "bulk");
  days::require_needs(p, "bulk", kWholeBulks);
  const int tiles_down = days::ceil_div(p.rows, B::kTile);
  const int64_t blocks = int64_t{tiles_down} * days::ceil_div(p.cols, B::kTile);
  days::require(blocks <= days::kMaxGridX, "bulk: a grid has at most 2^31 - 1 blocks, not", blocks);
  const CUtensorMap in_map =
      days::tensor_map(p.in, p.rows, p.cols, B::kTile, B::kStrip, CU_TENSOR_MAP_SWIZZLE_128B);
  const CUtensorMap out_map =
      days::tensor_map(p.out, p.cols, p.rows, B::kTile, B::kStrip, CU_TENSOR_MAP_SWIZZLE_128B);
  bulk_kernel<T><<<static_cast<unsigned>(blocks), B::kThreads, 0, stream>>>(in_map, out_map, tiles_down);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(transpose_bulk, Transpose, float, days::half, uint8_t);

}  // namespace day13
