// SPDX-License-Identifier: MIT
//
// What CUDA_CHECK throws.
#pragma once

#include <cuda_runtime.h>

#include <stdexcept>
#include <string>

namespace days {

class CudaError : public std::runtime_error {
 public:
  CudaError(cudaError_t code, const char* expression, const char* file, int line)
      : std::runtime_error(std::string(file) + ":" + std::to_string(line) + ": " + expression + " returned " +
                           cudaGetErrorName(code) + ": " + cudaGetErrorString(code)),
        code_(code) {}
  cudaError_t code() const { return code_; }

 private:
  cudaError_t code_;
};

}  // namespace days
