// SPDX-License-Identifier: MIT
// TwoSum (Knuth): six additions give a + b, rounded, and what the rounding lost, exactly. A chain keeps both: its sum, and the sum
// of its losses; trees add up pairs of them (Ogita, Rump and Oishi, "Accurate Sum and Dot Product", 2005: as good as with twice
// the digits). One_launch's walk and ticket. No compiler flag may let additions be reordered, which would make each loss 0.
// Changed since one_launch: seven additions an element for one.
// Bound by: memory still.
#include "common/reduce.cuh"
#include "common/ticket.cuh"
#include "day56_reduction/share.cuh"

namespace day56 {
namespace {

struct Kept {
  float sum, lost;

  __device__ void add(float x) {
    const float next = sum + x, of_x = next - sum;
    lost += (sum - (next - of_x)) + (x - of_x);
    sum = next;
  }
  __device__ void add(Kept other) {
    add(other.sum);
    lost += other.lost;
  }
};

// A pair in one word, as shuffles and places take it.
using Word = unsigned long long;
__device__ inline Word word_of(Kept kept) {
  return Word{__float_as_uint(kept.sum)} << 32 | __float_as_uint(kept.lost);
}
__device__ inline Kept kept_of(Word word) {
  return {__uint_as_float(static_cast<unsigned>(word >> 32)), __uint_as_float(static_cast<unsigned>(word))};
}
// Both orders give the same bits: what an addition lost is exact, and so does not depend on which of the two comes first.
struct Merge {
  __device__ Word operator()(Word a, Word b) const {
    const Kept x = kept_of(a), y = kept_of(b);
    Kept sum = {x.sum, 0};
    sum.add(y.sum);
    return word_of({sum.sum, (x.lost + y.lost) + sum.lost});
  }
};

template <class T>
__global__ void __launch_bounds__(kShareThreads, 2)
    two_sum_kernel(const T* x,             // (n)
                   float* sum,             // (1)
                   volatile Word* places,  // (blocks)
                   unsigned* ticket, int64_t n, int64_t each) {
  constexpr int kEach = kOfVector<T>;
  const Share<T> share(n, each);
  Kept chain[kEach] = {};
  each_round(x, share, days::from_float<T>(0), [&](const auto& v, int64_t) {
#pragma unroll
    for (int ahead = 0; ahead < kAhead; ++ahead)
#pragma unroll
      for (int i = 0; i < kEach; ++i) chain[i].add(days::to_float(v[ahead][i]));
  });
  if (share.tail + threadIdx.x < n) chain[0].add(days::to_float(x[share.tail + threadIdx.x]));
#pragma unroll
  for (int i = 1; i < kEach; ++i) chain[0].add(chain[i]);
  Word mine = days::block_reduce(word_of(chain[0]), Merge{}, Word{0});
  if (threadIdx.x == 0) places[blockIdx.x] = mine;
  if (!days::draws_last_ticket(ticket)) return;
  mine = 0;
  for (unsigned i = threadIdx.x; i < gridDim.x; i += kShareThreads) mine = Merge{}(mine, places[i]);
  mine = days::block_reduce(mine, Merge{}, Word{0});
  if (threadIdx.x == 0) {
    const Kept all = kept_of(mine);
    // Where a sum is infinite, what it lost is NaN.
    *sum = all.lost == all.lost ? all.sum + all.lost : all.sum;
  }
}

}  // namespace

template <class T>
void sum_two_sum(const Sum<T>& p, cudaStream_t stream) {
  const Shares shares = shares_for(p, "two_sum", pairs_of_floats_workspace<T>);
  p.setup.template get<Ready>("two_sum");
  Scratch* scratch = static_cast<Scratch*>(p.workspace.data);
  two_sum_kernel<<<shares.blocks, kShareThreads, 0, stream>>>(
      p.x, p.sum, reinterpret_cast<Word*>(scratch + 1), &scratch->ticket, p.n, shares.each);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(sum_two_sum, Sum, float, days::half, days::bf16);

}  // namespace day56
