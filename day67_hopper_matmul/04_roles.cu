// SPDX-License-Identifier: MIT
//
// Who asks does nothing else: one warp of its own keeps the ring full, and two warpgroups multiply. The asking group gives most of its
// registers back, so that the others have enough for tiles of 64 x 256 each.
// Changed since ring: a tile of 128 x 256, a producer, setmaxnreg. Teaches: setmaxnreg, roles of warpgroups.
// Bound by: L2, and the last blocks, which leave most of the GPU idle.

#include "day67_hopper_matmul/copies.cuh"

namespace day67 {
namespace {

constexpr int kM = 128, kN = 256, kReaders = kM / kRows * kGroup, kThreads = kGroup + kReaders, kStages = 4;

template <class T>
using Memory = days::Ring<Stage<T, kM, kN>, kStages, kReaders / days::kWarpSize>;

template <class T>
__global__ void __launch_bounds__(kThreads, 1)
    roles_kernel(const Matmul<T> p, const __grid_constant__ CUtensorMap a,
                 const __grid_constant__ CUtensorMap b) {
  extern __shared__ __align__(1024) unsigned char memory[];
  auto& ring = *reinterpret_cast<Memory<T>*>(memory);
  const int across = days::ceil_div(p.n, kN), row = static_cast<int>(blockIdx.x) / across * kM,
            col = static_cast<int>(blockIdx.x) % across * kN;
  const int group = static_cast<int>(threadIdx.x) / kGroup, steps = days::ceil_div(p.k, kDepth);
  ring.init();
  days::Turn<kStages> turn;
  if (group == 0) {
    days::ptx::setmaxnreg_dec<40>();
    if (threadIdx.x > 0) return;
    for (int t = 0; t < steps; ++t, turn.next()) {
      days::ptx::mbarrier_wait(&ring.empty[turn.stage], turn.phase ^ 1);
      copy_stage(ring.stage[turn.stage], a, b, row, col, t, &ring.full[turn.stage]);
    }
    return;
  }
  days::ptx::setmaxnreg_inc<232>();
  const int mine = (group - 1) * kRows;
  float sum[kN / 2] = {};
  for (int t = 0, before = 0; t < steps; ++t, turn.next()) {
    days::ptx::mbarrier_wait(&ring.full[turn.stage], turn.phase);
    days::ptx::wgmma_fence();
    multiply_stage(sum, ring.stage[turn.stage], mine);
    days::ptx::wgmma_commit_group();
    days::ptx::wgmma_wait_group<1>();
    if (t > 0) ring.release(before);
    before = turn.stage;
  }
  days::ptx::wgmma_wait_group<0>();
  store_pairs(p, row + mine, col, sum);
}

}  // namespace

template <class T>
requires Half<T>
void matmul_roles(const Matmul<T>& p, cudaStream_t stream) {
  require_problem(p, "roles");
  const int tiles = tiles_of(p, kM, kN, "roles");
  launch<Memory<T>>(roles_kernel<T>, static_cast<unsigned>(tiles), kThreads, stream, p, map_of_a(p, kM),
                    map_of_b(p));
}

INSTANTIATE_LAUNCHER(matmul_roles, Matmul, days::half, days::bf16);

}  // namespace day67
