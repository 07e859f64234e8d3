// SPDX-License-Identifier: MIT
// Find the k-th largest element first, as a radix sort would, but from the highest digit down: the histogram
// of a digit tells which bin holds it, and only that bin's elements count in the next pass. One more read
// gathers what is larger, and as many of its equals as are wanted. k candidates are then sorted by counting
// which are larger. Since repeated_max: 5 reads of a row (3 of 16-bit types) whatever k is. Bound by: their
// instructions, and one block a row.
#include "common/check.h"
#include "common/util.h"
#include "day62_histogram_and_sort/ordered.cuh"
#include "day62_histogram_and_sort/select.cuh"
#include "day62_histogram_and_sort/top_k.h"

namespace day62 {
namespace {

constexpr int kThreads = 1024;

struct Shared {
  uint32_t counts[kSelectBins];
  Candidate chosen[kMaxK];
  uint32_t larger, equal;  // how many of each have been chosen
};

template <class T>
__global__ void __launch_bounds__(kThreads) radix_select_kernel(const T* x,        // (rows, cols)
                                                                T* values,         // (rows, k)
                                                                int32_t* indices,  // (rows, k)
                                                                int cols, int k) {
  __shared__ Shared s;
  x += int64_t{blockIdx.x} * cols;
  if (threadIdx.x < kSelectBins) s.counts[threadIdx.x] = 0;
  if (threadIdx.x == 0) s.larger = s.equal = 0;
  __syncthreads();

  Search search{0, k};
  uint32_t known = 0;  // the bits that earlier passes have found
  for (int shift = 32 - kSelectBits; shift >= 32 - 8 * int{sizeof(T)}; shift -= kSelectBits) {
    for (int64_t col = threadIdx.x; col < cols; col += kThreads) {
      const uint32_t bits = ordered_bits(x[col]);
      if ((bits & known) == search.prefix) atomicAdd(&s.counts[bits >> shift & (kSelectBins - 1)], 1u);
    }
    __syncthreads();
    find_digit<kThreads>(s.counts, shift, search);
    known |= uint32_t{kSelectBins - 1} << shift;
  }

  // search.prefix are now all bits of the k-th largest, and search.k of its equals belong to the k.
  for (int64_t col = threadIdx.x; col < cols; col += kThreads) {
    const uint32_t bits = ordered_bits(x[col]);
    if (bits < search.prefix) continue;
    const uint32_t equals = static_cast<uint32_t>(search.k);
    uint32_t place;
    if (bits > search.prefix) {
      place = atomicAdd(&s.larger, 1u);
    } else {
      const uint32_t among_equals = atomicAdd(&s.equal, 1u);
      if (among_equals >= equals) continue;
      place = static_cast<uint32_t>(k) - equals + among_equals;
    }
    s.chosen[place] = candidate(bits, static_cast<int>(col));
  }
  __syncthreads();
  if (static_cast<int>(threadIdx.x) >= k) return;
  const Candidate mine = s.chosen[threadIdx.x];
  const int64_t place = int64_t{blockIdx.x} * k + place_among(s.chosen, k, mine);
  values[place] = x[column(mine)];
  indices[place] = column(mine);
}

}  // namespace

template <class T>
void top_k_radix_select(const TopK<T>& p, cudaStream_t stream) {
  require_problem(p, "radix_select");
  radix_select_kernel<<<p.rows, kThreads, 0, stream>>>(p.x, p.values, p.indices, p.cols, p.k);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(top_k_radix_select, TopK, float, days::bf16);

}  // namespace day62
