// SPDX-License-Identifier: MIT
// The clip factor is one multiplication in the update: scaled gradients are never stored.
// Changed since apart: no launch that scales; g is read twice, by the norm and by the update, and written by nobody.
// Bound by: memory, 38 bytes for each weight, of which 6 are the cast's.
#include "day53_adam/adam.h"
#include "day53_adam/cast.cuh"
#include "day53_adam/norm.cuh"
#include "day53_adam/update.cuh"

namespace day53 {
namespace {

__global__ void __launch_bounds__(kThreads)
    clipped_kernel(const __grid_constant__ Table<AdamTensor<float>> table, const Betas betas,
                   const AdamRates* rates, const Clip clip) {
  const int tensor = tensor_of(table, blockIdx.x);
  update_chunk(table.tensors[tensor], blockIdx.x - table.begins[tensor], betas, *rates, clip);
}

}  // namespace

template <class T>
void step_clipped(const AdamStep<T>& p, cudaStream_t stream) {
  char* const memory = workspace_of(p, norm_workspace(p), "clipped");
  gradient_norm(p.tensors, memory, p.norm, "clipped", stream);
  for_each_table(without_copies(p.tensors), kChunk, "clipped",
                 [&](const Table<AdamTensor<float>>& table, unsigned blocks) {
                   clipped_kernel<<<blocks, kThreads, 0, stream>>>(table, Betas(p.rule), p.rates,
                                                                   Clip{p.norm, p.max_norm});
                   CUDA_CHECK_LAUNCH();
                 });
  cast_weights(p, "clipped", stream);
}

INSTANTIATE_LAUNCHER(step_clipped, AdamStep, float, days::half, days::bf16);

}  // namespace day53
