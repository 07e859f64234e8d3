// SPDX-License-Identifier: MIT
// As many blocks as the GPU holds at once, each with an equal share of x, so that there are few sums of blocks; and who draws
// the last ticket (day 41) adds them up. n alone shapes the tree: the bits are those of a C++ function (tests/test.cpp), on every GPU.
// Changed since vectors: one launch for two or three; a block starts once for all of its rounds, each of 64 KiB.
// Bound by: memory from 2^28 on, at 2^24 by a launch's start and end, too.
#include "common/reduce.cuh"
#include "common/ticket.cuh"
#include "day56_reduction/share.cuh"

namespace day56 {
namespace {

// A thread's sum over the block's share: a chain for each lane of a vector, and in a round the vectors as a tree.
template <class T>
__device__ inline Total<T> sum_of_thread(const T* x, const Share<T>& share) {
  using To = Total<T>;
  constexpr int kEach = kOfVector<T>;
  To chain[kEach] = {};
  each_round(x, share, days::from_float<T>(0), [&](const auto& v, int64_t) {
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      To tree[kAhead];
#pragma unroll
      for (int ahead = 0; ahead < kAhead; ++ahead) tree[ahead] = to_total<To>(v[ahead][i]);
#pragma unroll
      for (int half = kAhead / 2; half > 0; half /= 2)
#pragma unroll
        for (int ahead = 0; ahead < half; ++ahead) tree[ahead] += tree[ahead + half];
      chain[i] += tree[0];
    }
  });
  if (share.tail + threadIdx.x < share.n) chain[0] += to_total<To>(x[share.tail + threadIdx.x]);
#pragma unroll
  for (int half = kEach / 2; half > 0; half /= 2)
#pragma unroll
    for (int i = 0; i < half; ++i) chain[i] += chain[i + half];
  return chain[0];
}

template <class T>
__global__ void __launch_bounds__(kShareThreads, 2)
    one_launch_kernel(const T* x,                 // (n)
                      Total<T>* sum,              // (1)
                      volatile Total<T>* places,  // (blocks)
                      unsigned* ticket, int64_t n, int64_t each) {
  using To = Total<T>;
  To mine = days::block_reduce(sum_of_thread(x, Share<T>(n, each)), days::Sum{}, To{0});
  if (threadIdx.x == 0) places[blockIdx.x] = mine;
  if (!days::draws_last_ticket(ticket)) return;
  mine = To{0};
  for (unsigned i = threadIdx.x; i < gridDim.x; i += kShareThreads) mine += places[i];
  mine = days::block_reduce(mine, days::Sum{}, To{0});
  if (threadIdx.x == 0) *sum = mine;
}

}  // namespace

template <class T>
void sum_one_launch(const Sum<T>& p, cudaStream_t stream) {
  const Shares shares = shares_for(p, "one_launch", sums_workspace<T>);
  p.setup.template get<Ready>("one_launch");
  Scratch* scratch = static_cast<Scratch*>(p.workspace.data);
  one_launch_kernel<<<shares.blocks, kShareThreads, 0, stream>>>(
      p.x, p.sum, reinterpret_cast<Total<T>*>(scratch + 1), &scratch->ticket, p.n, shares.each);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(sum_one_launch, Sum, float, days::half, days::bf16, int32_t);

}  // namespace day56
