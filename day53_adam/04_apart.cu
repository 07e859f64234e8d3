// SPDX-License-Identifier: MIT
// A training step as a framework does it, an operation a launch: the norm of all gradients, the gradients scaled by the clip factor,
// the update, the weights rounded to 16 bits. The host learns the norm never: each kernel reads it.
// Bound by: memory, 46 bytes for each weight, of which 8 write and read scaled gradients.
#include <limits>

#include "day53_adam/adam.h"
#include "day53_adam/cast.cuh"
#include "day53_adam/norm.cuh"
#include "day53_adam/update.cuh"

namespace day53 {
namespace {

// To each tensor's w, which is scratch memory here.
__global__ void __launch_bounds__(kThreads)
    scale_kernel(const __grid_constant__ Table<AdamTensor<float>> table, const Clip clip) {
  float factor;
  if (!clip.gives(factor)) return;
  const int tensor = tensor_of(table, blockIdx.x);
  const AdamTensor<float>& t = table.tensors[tensor];
  const int64_t begin = int64_t{blockIdx.x - table.begins[tensor]} * kChunk, end = min(begin + kChunk, t.n);
  for (int64_t i = begin + threadIdx.x; i < end; i += kThreads) t.w[i] = t.g[i] * factor;
}

__global__ void __launch_bounds__(kThreads)
    apart_kernel(const __grid_constant__ Table<AdamTensor<float>> table, const Betas betas,
                 const AdamRates* rates, const Clip clip) {
  const int tensor = tensor_of(table, blockIdx.x);
  update_chunk(table.tensors[tensor], blockIdx.x - table.begins[tensor], betas, *rates, clip);
}

}  // namespace

template <class T>
void step_apart(const AdamStep<T>& p, cudaStream_t stream) {
  char* const memory = workspace_of(p, apart_workspace(p), "apart");
  gradient_norm(p.tensors, memory, p.norm, "apart", stream);
  float* scaled = reinterpret_cast<float*>(memory + norm_workspace(p));
  std::vector<AdamTensor<float>> tensors = without_copies(p.tensors), scaling = tensors;
  for (size_t i = 0; i < tensors.size(); ++i) {
    scaling[i].w = scaled;
    tensors[i].g = scaled;
    scaled += days::round_up(tensors[i].n, int64_t{4});
  }
  for_each_table(scaling, kChunk, "apart", [&](const Table<AdamTensor<float>>& table, unsigned blocks) {
    scale_kernel<<<blocks, kThreads, 0, stream>>>(table, Clip{p.norm, p.max_norm});
    CUDA_CHECK_LAUNCH();
  });
  for_each_table(tensors, kChunk, "apart", [&](const Table<AdamTensor<float>>& table, unsigned blocks) {
    apart_kernel<<<blocks, kThreads, 0, stream>>>(table, Betas(p.rule), p.rates,
                                                  Clip{p.norm, std::numeric_limits<float>::infinity()});
    CUDA_CHECK_LAUNCH();
  });
  cast_weights(p, "apart", stream);
}

INSTANTIATE_LAUNCHER(step_apart, AdamStep, float, days::half, days::bf16);

}  // namespace day53
