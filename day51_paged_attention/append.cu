// SPDX-License-Identifier: MIT
//
// The new token's keys and values go to their pages: 16 bytes a thread, and a launch before the attention's.

#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "day51_paged_attention/paged_attention.h"

namespace day51 {
namespace {

constexpr int kThreads = 128;

template <class T>
__global__ void __launch_bounds__(kThreads) append_kernel(const PagedDecode<T> p) {
  constexpr int kVector = 16 / static_cast<int>(sizeof(T));
  const int vectors = p.dim / kVector;  // of a row
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x, row = i / vectors;
  if (row >= int64_t{p.sequences} * p.kv_heads) return;
  const int sequence = static_cast<int>(row / p.kv_heads), head = static_cast<int>(row % p.kv_heads);
  const int at = static_cast<int>(i % vectors) * kVector;
  const int key = keys_of(p, sequence) - 1;
  if (key < 0) return;
  const int32_t page = p.table[int64_t{sequence} * p.most_pages + key / p.page];
  const int64_t to = int64_t{row_in_page(p, page, head, key % p.page)} * p.dim + at,
                from = p.new_pitch.at(sequence, head) + at;
  *reinterpret_cast<uint4*>(p.k + to) = *reinterpret_cast<const uint4*>(p.k_new + from);
  *reinterpret_cast<uint4*>(p.v + to) = *reinterpret_cast<const uint4*>(p.v_new + from);
}

}  // namespace

template <class T>
void append(const PagedDecode<T>& p, cudaStream_t stream) {
  const int64_t vectors = int64_t{p.sequences} * p.kv_heads * p.dim / (16 / static_cast<int>(sizeof(T)));
  append_kernel<<<days::grid_of(vectors, kThreads, "append"), kThreads, 0, stream>>>(p);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(append, PagedDecode, days::half, days::bf16);

}  // namespace day51
