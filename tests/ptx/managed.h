// SPDX-License-Identifier: MIT
//
// Managed memory for the tests of common/ptx.h.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <stdexcept>

namespace ptx_tests {

// Throws where CUDA failed, which ends the test: after a kernel's fault there is no memory, and the next test fails as well.
inline void require(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

template <class T, class Count>
T* managed(Count n) {
  T* p = nullptr;
  require(cudaMallocManaged(&p, static_cast<std::size_t>(n) * sizeof(T)));
  return p;
}

}  // namespace ptx_tests
