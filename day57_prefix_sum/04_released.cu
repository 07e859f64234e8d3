// SPDX-License-Identifier: MIT
// One kernel, one read. A tile publishes its own sum as soon as it has it, looks back for what is before it, and publishes the sum
// up to its end (day57_prefix_sum/look_back.cuh). A tile's number is a ticket: whoever has a smaller one has begun, so each wait
// ends. What is published is two words, a sum and a flag. What one block writes another sees in no order unless it is asked for:
// the flag is stored with a release, after which the sum is there for whoever loads the flag with an acquire.
// Changed since raked: 1 launch for 3, 8 bytes an element for 12. Teaches: st_release_gpu, ld_acquire_gpu.
// Bound by: waiting for the tiles before.
#include "common/check.h"
#include "common/ptx.h"
#include "common/util.h"
#include "day57_prefix_sum/look_back.cuh"
#include "day57_prefix_sum/prefix_sum.h"
#include "day57_prefix_sum/tile.cuh"

namespace day57 {
namespace {

enum Flag : uint32_t { kNothing, kOwnSum, kSumUpTo };  // what a tile has published; 0 before

// An array for each of the two sums: with one, somebody might see the first flag and the second sum.
template <class Sum>
struct Board {
  uint32_t* flag;  // (tiles)
  Sum *own, *up_to;

  __device__ void publish_own(int64_t tile, Sum sum) const {
    own[tile] = sum;
    days::ptx::st_release_gpu(&flag[tile], kOwnSum);
  }
  __device__ void publish_up_to(int64_t tile, Sum sum) const {
    up_to[tile] = sum;
    days::ptx::st_release_gpu(&flag[tile], kSumUpTo);
  }
  __device__ Seen<Sum> look(int64_t tile) const {
    uint32_t seen;
    do {
      seen = days::ptx::ld_acquire_gpu(&flag[tile]);
    } while (seen == kNothing);
    return {seen == kSumUpTo, seen == kSumUpTo ? up_to[tile] : own[tile]};
  }
};

template <class T>
__global__ void __launch_bounds__(kThreads)
    released_kernel(const T* x,        // (n)
                    T* y,              // (n)
                    uint32_t* ticket,  // (1), 0 before
                    const Board<Total<T>> board, int64_t n, bool exclusive) {
  using Sum = Total<T>;
  __shared__ uint32_t drawn;
  __shared__ Sum of_warps[kWarps], before;
  if (threadIdx.x == 0) drawn = atomicAdd(ticket, 1u);
  __syncthreads();
  const int64_t number = drawn, first = number * kTile<T>;
  const int count = count_of<T>(first, n);
  Tile<T> tile;
  tile.load(x + first, count);
  const Sum of_warp = tile.scan();
  if (threadIdx.x % days::kWarpSize == 0) of_warps[threadIdx.x / days::kWarpSize] = of_warp;
  __syncthreads();
  const WarpsBefore<Sum> warps = warps_before<kWarps>(of_warps);
  if (threadIdx.x < days::kWarpSize) {
    if (threadIdx.x == 0 && number > 0) board.publish_own(number, warps.total);
    const Sum found = look_back<Sum>(number, [&](int64_t other) { return board.look(other); });
    if (threadIdx.x == 0) {
      board.publish_up_to(number, found + warps.total);
      before = found;
    }
  }
  __syncthreads();
  tile.store(y + first, count, before + warps.before, exclusive);
}

}  // namespace

template <class T>
void scan_released(const Scan<T>& p, cudaStream_t stream) {
  using Sum = Total<T>;
  const int64_t tiles = tiles_of(p, kTile<T>, "released");
  char* const memory = workspace_of(p, released_workspace(p), "released");
  uint32_t* const flags = reinterpret_cast<uint32_t*>(memory + kTicketBytes);
  Sum* const sums = reinterpret_cast<Sum*>(flags + tiles);
  CUDA_CHECK(
      cudaMemsetAsync(memory, 0, kTicketBytes + sizeof(uint32_t) * static_cast<size_t>(tiles), stream));
  released_kernel<<<static_cast<unsigned>(tiles), kThreads, 0, stream>>>(
      p.x, p.y, reinterpret_cast<uint32_t*>(memory), Board<Sum>{flags, sums, sums + tiles}, p.n, p.exclusive);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(scan_released, Scan, float, days::half, days::bf16, int32_t);

}  // namespace day57
