// SPDX-License-Identifier: MIT
//
// Exercise: the tiles of `warpgroup`, brought by the copy engine.
// Gates: every element right for every shape that is taken; no race, no wait that nobody ends; at least 30,000 bytes under way when a
// block waits for copies (warpgroup has none).
//   ./days check 67     tells how far you are        ./days hint 67     when you are stuck
#include "day67_hopper_matmul/tiles.cuh"

namespace day67 {
namespace {

constexpr int kM = 128, kN = 128, kThreads = kM / kRows * kGroup;

template <class T>
struct Memory {
  Stage<T, kM, kN> stage;
  uint64_t full;  // the barrier that counts the stage's bytes
};

template <class T>
__global__ void __launch_bounds__(kThreads, 1)
    exercise_kernel(const Matmul<T> p, const __grid_constant__ CUtensorMap a,
                    const __grid_constant__ CUtensorMap b) {
  extern __shared__ __align__(1024) unsigned char memory[];
  [[maybe_unused]] auto& shared = *reinterpret_cast<Memory<T>*>(memory);
  // 1. row and col of this block's tile, and the group's number, as in warpgroup.
  // 2. One thread: mbarrier_init for one arrival, and fence_proxy_async_shared, which shows the barrier to the copy engine. Then everybody
  //    has to know of it.
  // 3. For each 64 of k: one thread says by mbarrier_arrive_expect_tx how many bytes will come, and asks by cp_async_bulk_tensor for a box
  //    of a and for a box of b for each slab. Coordinates come innermost first.
  // 4. Everybody waits for the phase that ends with these bytes. Then products as in warpgroup. When may the stage be filled again?
  // your code
}

}  // namespace

template <class T>
requires Half<T>
void exercise(const Matmul<T>& p, cudaStream_t stream) {
  require_problem(p, "exercise");
  const int tiles = tiles_of(p, kM, kN, "exercise");
  launch<Memory<T>>(exercise_kernel<T>, static_cast<unsigned>(tiles), kThreads, stream, p, map_of_a(p, kM),
                    map_of_b(p));
}

INSTANTIATE_LAUNCHER(exercise, Matmul, days::half, days::bf16);

}  // namespace day67
