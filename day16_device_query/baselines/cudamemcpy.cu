// SPDX-License-Identifier: MIT
//
// What CUDA itself does to copy within device memory.

#include <cuda_runtime.h>

#include "common/check.h"
#include "common/ladder.h"
#include "day16_device_query/device_query.h"

namespace day16 {
namespace {

void copy_cudamemcpy(const Copy<uint32_t>& p, cudaStream_t stream) {
  CUDA_CHECK(cudaMemcpyAsync(p.y, p.x, p.n * sizeof(uint32_t), cudaMemcpyDeviceToDevice, stream));
}

}  // namespace

REGISTER_BASELINE(Copy, "copy", "cudaMemcpy", LAUNCHER(copy_cudamemcpy));

}  // namespace day16
