// SPDX-License-Identifier: MIT
// The 16-bit copy is stored by the thread that has the new weight in a register.
// Changed since clipped: no cast, which read all weights again.
// Bound by: memory, 34 bytes for each weight: g twice, w, m and v in and out, the copy out.
#include "day53_adam/adam.h"
#include "day53_adam/norm.cuh"
#include "day53_adam/table.cuh"
#include "day53_adam/update.cuh"

namespace day53 {
namespace {

template <class T>
__global__ void __launch_bounds__(kThreads)
    mixed_kernel(const __grid_constant__ Table<AdamTensor<T>> table, const Betas betas,
                 const AdamRates* rates, const Clip clip) {
  const int tensor = tensor_of(table, blockIdx.x);
  update_chunk(table.tensors[tensor], blockIdx.x - table.begins[tensor], betas, *rates, clip);
}

}  // namespace

template <class T>
void step_mixed(const AdamStep<T>& p, cudaStream_t stream) {
  char* const memory = workspace_of(p, norm_workspace(p), "mixed");
  gradient_norm(p.tensors, memory, p.norm, "mixed", stream);
  for_each_table(p.tensors, kChunk, "mixed", [&](const Table<AdamTensor<T>>& table, unsigned blocks) {
    mixed_kernel<<<blocks, kThreads, 0, stream>>>(table, Betas(p.rule), p.rates, Clip{p.norm, p.max_norm});
    CUDA_CHECK_LAUNCH();
  });
}

INSTANTIATE_LAUNCHER(step_mixed, AdamStep, float, days::half, days::bf16);

}  // namespace day53
