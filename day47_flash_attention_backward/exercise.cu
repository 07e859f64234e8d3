// SPDX-License-Identifier: MIT
//
// Exercise: the gradients in tiles, so that a row is fetched once for many others. Two kernels are better than one that
// needs atomics, and they may well be one template.
// Gates: every element right for every shape; no race; at most 8 bytes asked for each byte of input (naive
// asks for far more); at most 10% of the moved bytes unasked for; at most 0.1 bank conflicts a request.
//   ./days check 47     tells how far you are        ./days hint 47     when you are stuck
#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "day47_flash_attention_backward/backward.h"
#include "day47_flash_attention_backward/rows.cuh"

namespace day47 {
namespace {

constexpr int kThreads = 256, kWalk = 16;  // 16 x 16 threads; rows of a tile
template <int kDim>
constexpr int kStay = 4096 / kDim;  // rows of a block

// 56,320 bytes at most: the 64 KiB of a T4 hold them.
template <int kDim>
struct Shared {
  float stays[2][kStay<kDim>][kDim + 4];  // k and v, or q and dout; what are the 4 for?
  float walks[2][kWalk][kDim + 4];        // q and dout, or k and v
  float weight[kStay<kDim>][kWalk + 256 / kStay<kDim>], ds[kStay<kDim>][kWalk + 256 / kStay<kDim>];
};

template <int kDim, bool kKeysStay>
__global__ void __launch_bounds__(kThreads)
    exercise_kernel(const AttentionBackward<float> p, RowData rows, int blocks_a_head) {
  extern __shared__ float4 memory[];
  [[maybe_unused]] Shared<kDim>& s = *reinterpret_cast<Shared<kDim>*>(memory);
  // 1. Which head is this block's, and which rows? Fetch them once from both arrays, zeros beyond the last.
  // 2. For each query head that reads these keys (where queries stay: for one), for each tile of 16 rows: fetch it.
  // 3. A thread makes the weights, e^(scale * score - lse), and dS = weight * (dout * v - D) of some rows and one column.
  //    Both are 0 for a key that the query does not see (days::visible_keys). They go to s.weight and s.ds.
  // 4. Add dS times the tile's rows to dk (or dq), and weights times its other rows to dv.
  // 5. After the last tile: dk and dq times scale.
  // Where does a thread rely on what another has written, or overwrite what another may still read?
  // your code
}

}  // namespace

void exercise(const AttentionBackward<float>& p, cudaStream_t stream) {
  days::require_attention_backward(p, "exercise");
  days::require_needs(p, "exercise", kAligned);
  require_workspace(p, "exercise", rows_workspace(p));
  for_dim(p.dim, [&](auto dim) {
    constexpr int kBytes = sizeof(Shared<dim>);
    const unsigned of_keys = days::attention_grid(p.batch, p.kv_heads, p.seq_k, kStay<dim>, "exercise");
    const unsigned of_queries = days::attention_grid(p.batch, p.heads, p.seq_q, kStay<dim>, "exercise");
    const auto keys = exercise_kernel<dim, true>, queries = exercise_kernel<dim, false>;
    CUDA_CHECK(cudaFuncSetAttribute(keys, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
    CUDA_CHECK(cudaFuncSetAttribute(queries, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
    const RowData rows = launch_rows(p, 1, stream);  // writes lse and D of each query
    keys<<<of_keys, kThreads, kBytes, stream>>>(p, rows, days::ceil_div(p.seq_k, kStay<dim>));
    CUDA_CHECK_LAUNCH();
    queries<<<of_queries, kThreads, kBytes, stream>>>(p, rows, days::ceil_div(p.seq_q, kStay<dim>));
    CUDA_CHECK_LAUNCH();
  });
}

}  // namespace day47
