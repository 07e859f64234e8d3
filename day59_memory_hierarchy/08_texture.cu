// SPDX-License-Identifier: MIT
// Changed since cached: the loads go through a texture. The data comes from the same L1, but the multiprocessor's texture
// units work out where it is, and could also look after borders and mix neighbours. Nobody needs that here.
// Bound by: the texture units, four lanes a turn, whatever the places are.
// Teaches: tex1Dfetch, cudaCreateTextureObject.
#include <utility>

#include "day59_memory_hierarchy/memory.h"

namespace day59 {
namespace {

__global__ void __launch_bounds__(kThreads) texture_kernel(cudaTextureObject_t table,  // kTable words
                                                           uint32_t* y,                // (n)
                                                           int64_t n, int stride, int steps) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= n) return;
  uint32_t place = static_cast<uint32_t>(stride * i % kTable);
  for (int step = 0; step < steps; ++step) place = tex1Dfetch<uint32_t>(table, static_cast<int>(place));
  y[i] = place;
}

}  // namespace

TableTexture::TableTexture() {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = words_.data();  // a multiple of 512, as cudaMalloc gives them
  resource.res.linear.desc = cudaCreateChannelDesc<uint32_t>();
  resource.res.linear.sizeInBytes = kTable * sizeof(uint32_t);
  cudaTextureDesc how = {};
  how.readMode = cudaReadModeElementType;  // the words as they are
  CUDA_CHECK(cudaCreateTextureObject(&object_, &resource, &how, nullptr));
}
TableTexture::TableTexture(TableTexture&& other) noexcept
    : words_(std::move(other.words_)), object_(std::exchange(other.object_, 0)) {}
TableTexture::~TableTexture() {
  if (object_ != 0) static_cast<void>(cudaDestroyTextureObject(object_));
}

TableTexture lookup_texture_setup(const Lookup<uint32_t>&, cudaStream_t) {
  return {};
}

void lookup_texture(const Lookup<uint32_t>& p, cudaStream_t stream) {
  const unsigned blocks = require_lookup(p, "texture");
  const TableTexture& table = p.setup.get<TableTexture>("texture");
  CUDA_CHECK(
      cudaMemcpyAsync(table.words(), p.table, kTable * sizeof(uint32_t), cudaMemcpyDeviceToDevice, stream));
  texture_kernel<<<blocks, kThreads, 0, stream>>>(table.object(), p.y, p.n, p.stride, p.steps);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day59
