// SPDX-License-Identifier: MIT
//
// What CUDA itself does to copy a matrix.

#include <cuda_runtime.h>

#include "common/check.h"
#include "common/ladder.h"
#include "day13_transpose/transpose.h"

namespace day13 {
namespace {

void copy_cudamemcpy2d(const Copy2D<float>& p, cudaStream_t stream) {
  const size_t pitch = static_cast<size_t>(p.cols) * sizeof(float);
  CUDA_CHECK(cudaMemcpy2DAsync(p.out, pitch, p.in, pitch, pitch, static_cast<size_t>(p.rows),
                               cudaMemcpyDeviceToDevice, stream));
}

}  // namespace

REGISTER_BASELINE(Copy2D, "copy", "cudaMemcpy2D", LAUNCHER(copy_cudamemcpy2d));

}  // namespace day13
