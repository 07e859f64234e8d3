// SPDX-License-Identifier: MIT
//
// Tensor cores add up 128 of k, four instructions, and what they have is added to sums of full floats by the ordinary adders. A thread has
// registers for its 128 sums and for half as many more, so a warpgroup takes one half of the columns after the other; while it adds, the
// other group multiplies.
// Changed since one: products of 64 x 128 that begin at 0, and an addition of each. Teaches: wgmma that does not add (scale-d).
// Bound by: L2; the additions, one for 128 products, hide behind the other group's.

#include "day67_hopper_matmul/bytes.cuh"

namespace day67 {
namespace {

constexpr int kHalf = kByteN / 2;  // columns at a time

template <class T>
__global__ void __launch_bounds__(kByteThreads, 1)
    promoted_kernel(const Walk walk, const __grid_constant__ CUtensorMap a,
                    const __grid_constant__ CUtensorMap b, const __grid_constant__ CUtensorMap c) {
  extern __shared__ __align__(1024) unsigned char memory[];
  auto& shared = *reinterpret_cast<ByteMemory<T>*>(memory);
  auto& ring = shared.ring;
  const int group = static_cast<int>(threadIdx.x) / kGroup;
  ring.init();
  if (group == 0) return ask_for_bytes(shared, walk, a, b);
  days::ptx::setmaxnreg_inc<232>();
  const int mine = (group - 1) * kRows;
  days::Turn<4> turn;
  float part[kHalf / 2] = {};
  for_tiles(walk, [&](Place place) {
    float sum[kByteN / 2] = {};
    for (int t = 0; t < walk.steps; ++t, turn.next()) {
      const auto& stage = ring.stage[turn.stage];
      days::ptx::mbarrier_wait(&ring.full[turn.stage], turn.phase);
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        days::ptx::wgmma_fence();
        multiply_rows(part, stage.a + mine * kAlong<T>, stage.b + half * kHalf * kAlong<T>, false);
        days::ptx::wgmma_commit_group();
        days::ptx::wgmma_wait_group<0>();
        if (half == 1) ring.release(turn.stage);
#pragma unroll
        for (int i = 0; i < kHalf / 2; ++i) sum[half * kHalf / 2 + i] += part[i];
      }
    }
    store_slabs(shared.out[group - 1], c, place.row * kByteM + mine, place.col * kByteN, sum,
                static_cast<uint32_t>(group));
  });
  if (threadIdx.x % kGroup == 0)
    days::ptx::cp_async_bulk_wait_group_read<0>();  // shared memory ends with the block
}

}  // namespace

template <class T>
requires Byte<T>
void matmul_promoted(const ByteMatmul<T>& p, cudaStream_t stream) {
  launch_bytes(promoted_kernel<T>, p, "promoted", stream);
}

INSTANTIATE_LAUNCHER(matmul_promoted, ByteMatmul, days::fp8_e4m3, days::fp8_e5m2);

}  // namespace day67
