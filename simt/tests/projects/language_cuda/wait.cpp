// SPDX-License-Identifier: MIT
#include <cuda_runtime.h>

bool done() {
  return cudaDeviceSynchronize() == cudaSuccess;
}
