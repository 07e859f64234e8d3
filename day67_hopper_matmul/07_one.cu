// SPDX-License-Identifier: MIT
//
// Numbers of 8 bits: twice as many a stage, and twice as many products a tick. All sums of a tile stay in the tensor cores to the end, which
// add them with some 13 bits.
// Changed since persistent: b lies along k, as a does. Teaches: wgmma of fp8.
// Bound by: L2, as `persistent`; and what the sums may be off by.

#include "day67_hopper_matmul/bytes.cuh"

namespace day67 {
namespace {

template <class T>
__global__ void __launch_bounds__(kByteThreads, 1)
    one_kernel(const Walk walk, const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
               const __grid_constant__ CUtensorMap c) {
  extern __shared__ __align__(1024) unsigned char memory[];
  auto& shared = *reinterpret_cast<ByteMemory<T>*>(memory);
  auto& ring = shared.ring;
  const int group = static_cast<int>(threadIdx.x) / kGroup;
  ring.init();
  if (group == 0) return ask_for_bytes(shared, walk, a, b);
  days::ptx::setmaxnreg_inc<232>();
  const int mine = (group - 1) * kRows;
  days::Turn<4> turn;
  for_tiles(walk, [&](Place place) {
    float sum[kByteN / 2] = {};
    int before = 0;
    for (int t = 0; t < walk.steps; ++t, turn.next()) {
      const auto& stage = ring.stage[turn.stage];
      days::ptx::mbarrier_wait(&ring.full[turn.stage], turn.phase);
      days::ptx::wgmma_fence();
      multiply_rows(sum, stage.a + mine * kAlong<T>, stage.b, true);
      days::ptx::wgmma_commit_group();
      days::ptx::wgmma_wait_group<1>();
      if (t > 0) ring.release(before);
      before = turn.stage;
    }
    days::ptx::wgmma_wait_group<0>();
    ring.release(before);
    store_slabs(shared.out[group - 1], c, place.row * kByteM + mine, place.col * kByteN, sum,
                static_cast<uint32_t>(group));
  });
  if (threadIdx.x % kGroup == 0)
    days::ptx::cp_async_bulk_wait_group_read<0>();  // shared memory ends with the block
}

}  // namespace

template <class T>
requires Byte<T>
void matmul_one(const ByteMatmul<T>& p, cudaStream_t stream) {
  launch_bytes(one_kernel<T>, p, "one", stream);
}

INSTANTIATE_LAUNCHER(matmul_one, ByteMatmul, days::fp8_e4m3, days::fp8_e5m2);

}  // namespace day67
