// SPDX-License-Identifier: MIT
// Argmax is a tree of pairs, a value and its index: NaN before numbers, the larger before the smaller, of equals the smaller
// index. With this rule any order gives the same. A block's tree is that of halves; a second launch takes the blocks' pairs.
// Bound by: memory; at small n by its two launches.
#include "day56_reduction/largest.cuh"

namespace day56 {
namespace {

constexpr int64_t kNowhere = INT64_MAX;  // the index of a thread that has no element

// NaN = NaN is false, so a rule that begins with "equal values" would keep either of two NaNs.
__device__ inline bool comes_first(Largest a, Largest b) {
  const bool a_is_nan = a.value != a.value, b_is_nan = b.value != b.value;
  if (a_is_nan != b_is_nan) return a_is_nan;
  if (a.value > b.value || a.value < b.value) return a.value > b.value;
  return a.index < b.index;
}

// The first of a block's pairs, in thread 0.
__device__ inline Largest first_of_block(Largest mine) {
  __shared__ Largest partial[kShareThreads];
  const int t = threadIdx.x;
  partial[t] = mine;
  for (int half = kShareThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (t < half && comes_first(partial[t + half], partial[t])) partial[t] = partial[t + half];
  }
  return t == 0 ? partial[0] : mine;
}

template <class T>
__global__ void __launch_bounds__(kShareThreads, 2) argmax_pairs_kernel(const T* x,       // (n)
                                                                        Largest* places,  // (blocks)
                                                                        int64_t n, int64_t each) {
  const Share<T> share(n, each);
  const Found found = largest_of_thread(x, share);
  const int64_t index = found.place == kNone ? kNowhere : share.begin * kOfVector<T> + found.place;
  const Largest first = first_of_block({found.value, index});
  if (threadIdx.x == 0) places[blockIdx.x] = first;
}

template <class T>
__global__ void __launch_bounds__(kShareThreads) argmax_total_kernel(const T* x,             // (n)
                                                                     const Largest* places,  // (count)
                                                                     unsigned count,
                                                                     T* value,          // (1)
                                                                     int64_t* index) {  // (1)
  Largest mine = {-INFINITY, kNowhere};
  for (unsigned i = threadIdx.x; i < count; i += kShareThreads)
    if (comes_first(places[i], mine)) mine = places[i];
  mine = first_of_block(mine);
  if (threadIdx.x == 0) {
    *index = mine.index;
    *value = x[mine.index];
  }
}

}  // namespace

template <class T>
void argmax_pairs(const Argmax<T>& p, cudaStream_t stream) {
  const Shares shares = shares_for(p, "argmax_pairs", argmax_pairs_workspace<T>);
  Largest* places = static_cast<Largest*>(p.workspace.data);
  argmax_pairs_kernel<<<shares.blocks, kShareThreads, 0, stream>>>(p.x, places, p.n, shares.each);
  CUDA_CHECK_LAUNCH();
  argmax_total_kernel<<<1, kShareThreads, 0, stream>>>(p.x, places, shares.blocks, p.value, p.index);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(argmax_pairs, Argmax, float, days::half, days::bf16);

}  // namespace day56
