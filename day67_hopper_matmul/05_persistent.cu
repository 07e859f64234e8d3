// SPDX-License-Identifier: MIT
//
// One block a multiprocessor, which takes tile after tile. The ring does not stop between two: while the sums of a tile leave, by way of
// shared memory and the copy engine, the stages of the next one come.
// Changed since roles: a loop over tiles in day 66's order, stmatrix, bulk stores. Teaches: a grid of the GPU's size.
// Bound by: L2, from which each block has 48 bytes a tick.

#include "day67_hopper_matmul/walk.cuh"

namespace day67 {
namespace {

constexpr int kM = 128, kN = 256, kReaders = kM / kRows * kGroup, kThreads = kGroup + kReaders, kStages = 4,
              kTogether = 16;

template <class T>
struct Memory {
  days::Ring<Stage<T, kM, kN>, kStages, kReaders / days::kWarpSize> ring;
  WayOut<T> out[kM / kRows];
};

template <class T>
__global__ void __launch_bounds__(kThreads, 1)
    persistent_kernel(const Matmul<T> p, const __grid_constant__ CUtensorMap a,
                      const __grid_constant__ CUtensorMap b, const __grid_constant__ CUtensorMap c, int down,
                      int across) {
  extern __shared__ __align__(1024) unsigned char memory[];
  auto& shared = *reinterpret_cast<Memory<T>*>(memory);
  auto& ring = shared.ring;
  const int group = static_cast<int>(threadIdx.x) / kGroup, steps = days::ceil_div(p.k, kDepth);
  ring.init();
  days::Turn<kStages> turn;
  if (group == 0) {
    days::ptx::setmaxnreg_dec<40>();
    if (threadIdx.x > 0) return;
    for (int tile = static_cast<int>(blockIdx.x); tile < down * across; tile += static_cast<int>(gridDim.x)) {
      const Place place = place_of(tile, down, across, kTogether);
      for (int t = 0; t < steps; ++t, turn.next()) {
        days::ptx::mbarrier_wait(&ring.empty[turn.stage], turn.phase ^ 1);
        copy_stage(ring.stage[turn.stage], a, b, place.row * kM, place.col * kN, t, &ring.full[turn.stage]);
      }
    }
    return;
  }
  days::ptx::setmaxnreg_inc<232>();
  const int mine = (group - 1) * kRows;
  for (int tile = static_cast<int>(blockIdx.x); tile < down * across; tile += static_cast<int>(gridDim.x)) {
    const Place place = place_of(tile, down, across, kTogether);
    float sum[kN / 2] = {};
    multiply_tile(sum, ring.stage, ring.full, mine, steps, turn, [&](int s) { ring.release(s); });
    store_slabs(shared.out[group - 1], c, place.row * kM + mine, place.col * kN, sum,
                static_cast<uint32_t>(group));
  }
  if (threadIdx.x % kGroup == 0)
    days::ptx::cp_async_bulk_wait_group_read<0>();  // shared memory ends with the block
}

}  // namespace

template <class T>
requires Half<T>
void matmul_persistent(const Matmul<T>& p, cudaStream_t stream) {
  require_problem(p, "persistent");
  const int tiles = tiles_of(p, kM, kN, "persistent");
  launch<Memory<T>>(persistent_kernel<T>, static_cast<unsigned>(std::min(tiles, multiprocessors())), kThreads,
                    stream, p, map_of_a(p, kM), map_of_b(p), map_of_c(p), days::ceil_div(p.m, kM),
                    days::ceil_div(p.n, kN));
}

INSTANTIATE_LAUNCHER(matmul_persistent, Matmul, days::half, days::bf16);

}  // namespace day67
