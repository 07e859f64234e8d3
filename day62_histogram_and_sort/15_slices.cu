// SPDX-License-Identifier: MIT
// A row is cut into slices of 8,192 elements, a block each, and each slice's k largest are found as before,
// but in registers: x is read once. A second kernel merges a row's sorted lists, and a candidate's place is
// the number of larger ones, found in each list by halving. Since radix_select: one read instead of five, and
// as many blocks as the GPU has room for. Bound by: the instructions and barriers of a block's passes.
#include <algorithm>

#include "common/check.h"
#include "common/util.h"
#include "day62_histogram_and_sort/ordered.cuh"
#include "day62_histogram_and_sort/select.cuh"
#include "day62_histogram_and_sort/top_k.h"

namespace day62 {
namespace {

constexpr int kThreads = 512, kItems = 16;
constexpr int kSlice = kThreads * kItems;
constexpr int kMergeThreads = 256;
constexpr uint32_t kNoElement = 0;  // no element has these ordered bits: only a NaN's would be 0

struct Shared {
  uint32_t counts[kSelectBins];
  Candidate chosen[kMaxK];
  uint32_t larger, equal;
};

// The min(k, elements of the slice) largest of a slice, largest first; then zeros up to k.
template <class T>
__global__ void __launch_bounds__(kThreads) slice_kernel(const T* x,         // (rows, cols)
                                                         Candidate* sorted,  // (rows, slices, k)
                                                         int cols, int k) {
  __shared__ Shared s;
  const int64_t row = blockIdx.y;
  const int first = static_cast<int>(blockIdx.x) * kSlice, size = min(kSlice, cols - first);
  x += row * cols + first;
  if (threadIdx.x < kSelectBins) s.counts[threadIdx.x] = 0;
  if (threadIdx.x < kMaxK) s.chosen[threadIdx.x] = 0;
  if (threadIdx.x == 0) s.larger = s.equal = 0;
  uint32_t bits[kItems];
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    const int col = i * kThreads + static_cast<int>(threadIdx.x);
    bits[i] = col < size ? ordered_bits(x[col]) : kNoElement;
  }
  __syncthreads();

  Search search{0, min(k, size)};
  uint32_t known = 0;
#pragma unroll
  for (int shift = 32 - kSelectBits; shift >= 32 - 8 * int{sizeof(T)}; shift -= kSelectBits) {
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      const bool counts = (bits[i] & known) == search.prefix && bits[i] != kNoElement;
      if (counts) atomicAdd(&s.counts[bits[i] >> shift & (kSelectBins - 1)], 1u);
    }
    __syncthreads();
    find_digit<kThreads>(s.counts, shift, search);
    known |= uint32_t{kSelectBins - 1} << shift;
  }

  const uint32_t equals = static_cast<uint32_t>(search.k);
  const uint32_t wanted = static_cast<uint32_t>(min(k, size));
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    if (bits[i] < search.prefix || bits[i] == kNoElement) continue;
    uint32_t place;
    if (bits[i] > search.prefix) {
      place = atomicAdd(&s.larger, 1u);
    } else {
      const uint32_t among_equals = atomicAdd(&s.equal, 1u);
      if (among_equals >= equals) continue;
      place = wanted - equals + among_equals;
    }
    s.chosen[place] = candidate(bits[i], first + i * kThreads + static_cast<int>(threadIdx.x));
  }
  __syncthreads();
  if (static_cast<int>(threadIdx.x) >= k) return;
  const Candidate mine = s.chosen[threadIdx.x];
  const int place = threadIdx.x < wanted ? place_among(s.chosen, k, mine) : static_cast<int>(threadIdx.x);
  sorted[(row * gridDim.x + blockIdx.x) * k + place] = mine;
}

// One thread a candidate of the row. Those that have k or more larger ones are not among the k.
template <class T>
__global__ void __launch_bounds__(kMergeThreads) merge_kernel(const T* x,               // (rows, cols)
                                                              const Candidate* sorted,  // (rows, slices, k)
                                                              T* values,                // (rows, k)
                                                              int32_t* indices,         // (rows, k)
                                                              int cols, int k, int slices) {
  const int64_t row = blockIdx.y;
  const int thread = static_cast<int>(blockIdx.x) * kMergeThreads + static_cast<int>(threadIdx.x);
  if (thread >= slices * k) return;
  sorted += row * slices * k;
  const Candidate mine = sorted[thread];
  if (mine == 0) return;
  int place = 0;
  for (int slice = 0; slice < slices && place < k; ++slice) {
    const Candidate* list = sorted + slice * k;
    int low = 0, high = k;  // list[0 .. low) are larger, list[high ..) are not
    while (low < high) {
      const int middle = (low + high) / 2;
      if (list[middle] > mine) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    place += low;
  }
  if (place >= k) return;
  values[row * k + place] = x[row * cols + column(mine)];
  indices[row * k + place] = column(mine);
}

}  // namespace

template <class T>
size_t slices_workspace(const TopK<T>& p) {
  return sizeof(Candidate) * static_cast<size_t>(p.rows) *
         static_cast<size_t>(days::ceil_div(p.cols, kSlice)) * static_cast<size_t>(p.k);
}

template <class T>
void top_k_slices(const TopK<T>& p, cudaStream_t stream) {
  require_problem(p, "slices");
  days::require_needs(p, "slices", kColsOfSlices, kRowsOfSlices);
  days::require(p.workspace.bytes >= slices_workspace(p), "slices: needs a workspace of", slices_workspace(p),
                " bytes, not", p.workspace.bytes);
  const int slices = days::ceil_div(p.cols, kSlice);
  Candidate* sorted = static_cast<Candidate*>(p.workspace.data);
  const unsigned rows = static_cast<unsigned>(p.rows);
  slice_kernel<<<dim3(static_cast<unsigned>(slices), rows), kThreads, 0, stream>>>(p.x, sorted, p.cols, p.k);
  CUDA_CHECK_LAUNCH();
  const unsigned merging = static_cast<unsigned>(days::ceil_div(slices * p.k, kMergeThreads));
  merge_kernel<<<dim3(merging, rows), kMergeThreads, 0, stream>>>(p.x, sorted, p.values, p.indices, p.cols,
                                                                  p.k, slices);
  CUDA_CHECK_LAUNCH();
}

template size_t slices_workspace(const TopK<float>&);
template size_t slices_workspace(const TopK<days::bf16>&);
INSTANTIATE_LAUNCHER(top_k_slices, TopK, float, days::bf16);

}  // namespace day62
