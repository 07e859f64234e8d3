// SPDX-License-Identifier: MIT
//
// Exercise: attention whose scores never leave the chip, and whose keys are fetched once for many queries.
// Gates: every element right for every shape; no race; at most 8 bytes asked for each byte of input (naive
// asks for 256); at most 10% of the moved bytes unasked for; at most 0.1 bank conflicts a request.
//   ./days check 43     tells how far you are        ./days hint 43     when you are stuck
#include <cstdint>

#include "common/check.h"
#include "common/util.h"
#include "day43_flash_attention/attention.h"

namespace day43 {
namespace {

constexpr int kQueries = 64, kKeys = 32;  // of a block, of a tile
constexpr int kThreads = 256;

// 58,880 bytes for 128 columns: the 64 KiB of a T4 hold them.
template <int kDim>
struct Shared {
  float q[kQueries][kDim];
  float kv[kKeys][kDim + 4];  // a tile of keys, later of values; what are the 4 for?
  float weights[kQueries][kKeys + 4];
};

template <int kDim>
__global__ void __launch_bounds__(kThreads) exercise_kernel(const Attention<float> p, int blocks_a_head) {
  extern __shared__ float4 memory[];
  [[maybe_unused]] Shared<kDim>& s = *reinterpret_cast<Shared<kDim>*>(memory);
  // 1. Which head is this block's, and which 64 queries? Fetch them once, zeros beyond the last.
  // 2. For each tile of 32 keys: fetch it, compute 64 x 32 scores, 8 a thread.
  // 3. Keys that are not there, or not visible (days::visible_keys), score -INFINITY.
  // 4. The 16 threads of a row agree on its largest score so far; sum and o shrink; weights go to s.weights.
  // 5. Fetch the tile's values where its keys were, and add weights times values to o.
  // 6. After the last tile: o over the sum, and lse. A query that saw no key has o = 0.
  // Where does a thread rely on what another has written, or overwrite what another may still read?
  // your code
}

}  // namespace

void exercise(const Attention<float>& p, cudaStream_t stream) {
  days::require_attention(p, "exercise");
  days::require_needs(p, "exercise", kAligned);
  const unsigned blocks = days::attention_blocks(p, kQueries, "exercise");
  for_dim(p.dim, [&](auto dim) {
    constexpr int kBytes = sizeof(Shared<dim>);
    const auto kernel = exercise_kernel<dim>;
    CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
    kernel<<<blocks, kThreads, kBytes, stream>>>(p, days::ceil_div(p.seq_q, kQueries));
    CUDA_CHECK_LAUNCH();
  });
}

}  // namespace day43
