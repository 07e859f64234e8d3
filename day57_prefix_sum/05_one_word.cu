// SPDX-License-Identifier: MIT
// What a tile publishes is one word of 64 bits, its upper half the flag and its lower half the sum. One store writes both and one
// load reads both, whole, so there is nothing between them to put in order: relaxed does.
// Changed since released: one load a look, which depends on no other. Teaches: st_relaxed_gpu, ld_relaxed_gpu.
// Bound by: waiting for the tiles before.
#include "common/check.h"
#include "common/ptx.h"
#include "common/util.h"
#include "day57_prefix_sum/look_back.cuh"
#include "day57_prefix_sum/prefix_sum.h"
#include "day57_prefix_sum/tile.cuh"
#include "day57_prefix_sum/word.cuh"

namespace day57 {
namespace {

template <class T>
__global__ void __launch_bounds__(kThreads) one_word_kernel(const T* x,        // (n)
                                                            T* y,              // (n)
                                                            uint32_t* ticket,  // (1), 0 before
                                                            Word* words,       // (tiles), 0 before
                                                            int64_t n, bool exclusive) {
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
    if (threadIdx.x == 0 && number > 0) days::ptx::st_relaxed_gpu(&words[number], word_of(kOwn, warps.total));
    const Sum found = look_back<Sum>(number, [&](int64_t other) -> Seen<Sum> {
      Word seen;
      do {
        seen = days::ptx::ld_relaxed_gpu(&words[other]);
      } while (seen == 0);
      return {seen >= kUpTo, sum_in<Sum>(seen)};
    });
    if (threadIdx.x == 0) {
      days::ptx::st_relaxed_gpu(&words[number], word_of(kUpTo, found + warps.total));
      before = found;
    }
  }
  __syncthreads();
  tile.store(y + first, count, before + warps.before, exclusive);
}

}  // namespace

template <class T>
void scan_one_word(const Scan<T>& p, cudaStream_t stream) {
  const int64_t tiles = tiles_of(p, kTile<T>, "one_word");
  char* const memory = workspace_of(p, words_workspace(p), "one_word");
  CUDA_CHECK(cudaMemsetAsync(memory, 0, words_workspace(p), stream));
  one_word_kernel<<<static_cast<unsigned>(tiles), kThreads, 0, stream>>>(
      p.x, p.y, reinterpret_cast<uint32_t*>(memory), reinterpret_cast<Word*>(memory + kTicketBytes), p.n,
      p.exclusive);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(scan_one_word, Scan, float, days::half, days::bf16, int32_t);

}  // namespace day57
