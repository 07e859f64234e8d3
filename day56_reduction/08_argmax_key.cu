// SPDX-License-Identifier: MIT
// A value and its index as one number of 64 bits whose order is argmax's: above, the value's bits, turned so that they rise with
// it; below, the index's complement, so that of equals the first is the largest. Then a largest number is all that is asked for,
// and order matters nowhere: an atomic maximum takes the place of a tree of blocks, and of their places.
// Changed since argmax_pairs: one launch for two, one barrier for nine, no places.
// Bound by: memory.
// Teaches: atomicMax.
#include "common/reduce.cuh"
#include "day56_reduction/largest.cuh"

namespace day56 {
namespace {

using Key = unsigned long long;

// 0 is below every element's key.
__device__ inline Key key_of(float value, int64_t index) {
  const unsigned bits = __float_as_uint(value + 0.0f);  // -0 + 0 is 0: zeros are equal
  const unsigned rising = bits >> 31 ? ~bits : bits | 0x80000000u;
  return Key{value != value ? 0xffffffffu : rising} << 32 | ~static_cast<unsigned>(index);
}

template <class T>
__global__ void __launch_bounds__(kShareThreads, 2) argmax_key_kernel(const T* x,        // (n)
                                                                      T* value,          // (1)
                                                                      int64_t* index,    // (1)
                                                                      Scratch* scratch,  //
                                                                      int64_t n, int64_t each) {
  const Share<T> share(n, each);
  const Found found = largest_of_thread(x, share);
  Key key = found.place == kNone ? 0 : key_of(found.value, share.begin * kOfVector<T> + found.place);
  key = days::block_reduce(key, days::Max{}, Key{0});
  if (threadIdx.x != 0) return;
  atomicMax(&scratch->key, key);
  __threadfence();  // who draws the last ticket sees all keys
  if (atomicInc(&scratch->ticket, gridDim.x - 1) != gridDim.x - 1) return;
  __threadfence();
  key = atomicExch(&scratch->key, Key{0});  // ready for the next launch
  const int64_t place = ~static_cast<unsigned>(key);
  *index = place;
  *value = x[place];
}

}  // namespace

template <class T>
void argmax_key(const Argmax<T>& p, cudaStream_t stream) {
  const Shares shares = shares_for(p, "argmax_key", argmax_key_workspace<T>);
  days::require_needs(p, "argmax_key", kKeyHoldsIndex);
  p.setup.template get<Ready>("argmax_key");
  argmax_key_kernel<<<shares.blocks, kShareThreads, 0, stream>>>(
      p.x, p.value, p.index, static_cast<Scratch*>(p.workspace.data), p.n, shares.each);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(argmax_key, Argmax, float, days::half, days::bf16);

}  // namespace day56
