// SPDX-License-Identifier: MIT
//
// The chunks' results become the sequence's: a block a row of o, a thread an element, chunks in order.

#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "day51_paged_attention/columns.cuh"
#include "day51_paged_attention/paged_attention.h"

namespace day51 {
namespace {

template <class T>
__global__ void __launch_bounds__(128) merge_kernel(const PagedDecode<T> p, const Partials all) {
  const int sequence = static_cast<int>(blockIdx.x) / p.heads, head = static_cast<int>(blockIdx.x) % p.heads;
  const int d = static_cast<int>(threadIdx.x);
  const int first = all.starts[sequence], count = all.starts[sequence + 1] - first;
  const float* const lse = all.lse + head * all.most + first;
  const float* const o = all.o + (head * all.most + first) * p.dim + d;
  Merged merged = merge_partials(
      count, [&](int i) { return lse[i]; }, [&](int i) { return o[int64_t{i} * p.dim]; });
  if (count == 0) merged = {NAN, NAN};  // no sequence, or no room
  p.o[p.o_pitch.at(sequence, head) + d] = days::from_float<T>(merged.o);
  if (d == 0) p.lse[int64_t{sequence} * p.heads + head] = merged.lse;
}

}  // namespace

template <class T>
void merge(const PagedDecode<T>& p, const Partials& all, cudaStream_t stream) {
  const unsigned rows = days::grid_of(int64_t{p.sequences} * p.heads, 1, "merge");
  merge_kernel<<<rows, static_cast<unsigned>(p.dim), 0, stream>>>(p, all);
  CUDA_CHECK_LAUNCH();
}

template void merge(const PagedDecode<days::half>&, const Partials&, cudaStream_t);
template void merge(const PagedDecode<days::bf16>&, const Partials&, cudaStream_t);

}  // namespace day51
