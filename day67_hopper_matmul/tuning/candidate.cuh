// SPDX-License-Identifier: MIT
//
// Day 67: a candidate of the tuner, in the exercise's place: `persistent` with other numbers. `./days tune 67` makes a file of two lines for
// each:
//
//   #define DAYS_CANDIDATE 128, 256, 4, 16
//   #include "day67_hopper_matmul/tuning/candidate.cuh"
#pragma once

#include "day67_hopper_matmul/walk.cuh"

namespace day67 {
namespace {

struct Numbers {
  int block_m, block_n;  // of c, a block; a warpgroup for each 64 rows
  int stages;            // in the ring
  int together;          // rows of tiles that are walked column by column
};
constexpr Numbers kNumbers{DAYS_CANDIDATE};
constexpr int kM = kNumbers.block_m, kN = kNumbers.block_n, kStages = kNumbers.stages,
              kReaders = kM / kRows * kGroup, kThreads = kGroup + kReaders;
// What a thread that asks keeps, and one that multiplies gets: together no more than 65,536 of a block.
constexpr int kFew = kM == 192 ? 32 : 40, kMany = kM == 192 ? 160 : 232;
static_assert(kM % kRows == 0 && kN % kSlab == 0 && kN <= 256 && kGroup * kFew + kReaders * kMany <= 65536,
              "tuning/space.json lets through what wgmma or the registers forbid");

template <class T>
struct Memory {
  days::Ring<Stage<T, kM, kN>, kStages, kReaders / days::kWarpSize> ring;
  WayOut<T> out[kM / kRows];
};

template <class T>
__global__ void __launch_bounds__(kThreads, 1)
    candidate_kernel(const Matmul<T> p, const __grid_constant__ CUtensorMap a,
                     const __grid_constant__ CUtensorMap b, const __grid_constant__ CUtensorMap c, int down,
                     int across) {
  extern __shared__ __align__(1024) unsigned char memory[];
  auto& shared = *reinterpret_cast<Memory<T>*>(memory);
  auto& ring = shared.ring;
  const int group = static_cast<int>(threadIdx.x) / kGroup, steps = days::ceil_div(p.k, kDepth);
  const auto for_tiles = [&](const auto& action) {
    for (int tile = static_cast<int>(blockIdx.x); tile < down * across; tile += static_cast<int>(gridDim.x))
      action(place_of(tile, down, across, kNumbers.together));
  };
  ring.init();
  days::Turn<kStages> turn;
  if (group == 0) {
    days::ptx::setmaxnreg_dec<kFew>();
    if (threadIdx.x > 0) return;
    for_tiles([&](Place place) {
      for (int t = 0; t < steps; ++t, turn.next()) {
        days::ptx::mbarrier_wait(&ring.empty[turn.stage], turn.phase ^ 1);
        copy_stage(ring.stage[turn.stage], a, b, place.row * kM, place.col * kN, t, &ring.full[turn.stage]);
      }
    });
    return;
  }
  days::ptx::setmaxnreg_inc<kMany>();
  const int mine = (group - 1) * kRows;
  for_tiles([&](Place place) {
    float sum[kN / 2] = {};
    multiply_tile(sum, ring.stage, ring.full, mine, steps, turn, [&](int s) { ring.release(s); });
    store_slabs(shared.out[group - 1], c, place.row * kM + mine, place.col * kN, sum,
                static_cast<uint32_t>(group));
  });
  if (threadIdx.x % kGroup == 0)
    days::ptx::cp_async_bulk_wait_group_read<0>();  // shared memory ends with the block
}

}  // namespace

template <class T>
requires Half<T>
void exercise(const Matmul<T>& p, cudaStream_t stream) {
  require_problem(p, "exercise");
  const int tiles = tiles_of(p, kM, kN, "exercise");
  launch<Memory<T>>(candidate_kernel<T>, static_cast<unsigned>(std::min(tiles, multiprocessors())), kThreads,
                    stream, p, map_of_a(p, kM), map_of_b(p), map_of_c(p), days::ceil_div(p.m, kM),
                    days::ceil_div(p.n, kN));
}

INSTANTIATE_LAUNCHER(exercise, Matmul, days::half, days::bf16);

}  // namespace day67
