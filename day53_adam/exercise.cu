// SPDX-License-Identifier: MIT
//
// Exercise: all tensors in one launch. The table is the kernel's own parameter: `count` tensors, and the first block of each.
// Gates: right for every list; one launch; at least 450 bytes a request.
//   ./days check 53      tells how far you are        ./days hint 53      when you are stuck
#include "day53_adam/adam.h"
#include "day53_adam/table.cuh"
#include "day53_adam/update.cuh"

namespace day53 {
namespace {

template <class T>
__global__ void __launch_bounds__(kThreads)
    exercise_kernel(const __grid_constant__ Table<AdamTensor<T>> table, const Betas betas,
                    const AdamRates rates) {
  // 1. Which tensor is this block's? The last one whose first block, table.begins[i], is not beyond blockIdx.x.
  // 2. Which chunk of it? Its first block has chunk 0.
  // 3. update_chunk(table.tensors[i], chunk, betas, rates) does the rest.
  // your code
}

}  // namespace

template <class T>
void exercise(const Adam<T>& p, cudaStream_t stream) {
  require_problem(p, "exercise");
  const AdamRates rates = adam_rates(p.rule, p.lr, p.t);
  for_each_table(p.tensors, kChunk, "exercise", [&](const Table<AdamTensor<T>>& table, unsigned blocks) {
    exercise_kernel<<<blocks, kThreads, 0, stream>>>(table, Betas(p.rule), rates);
    CUDA_CHECK_LAUNCH();
  });
}

INSTANTIATE_LAUNCHER(exercise, Adam, float);

}  // namespace day53
