// SPDX-License-Identifier: MIT
//
// cuBLAS for the baselines: one handle a process, and its errors as exceptions. Only files of baselines/
// include this: they are built where the library is found.
#pragma once

#include <cublas_v2.h>

#include <stdexcept>
#include <string>

namespace days {

inline void check_cublas(cublasStatus_t status, const char* call) {
  if (status != CUBLAS_STATUS_SUCCESS) {
    throw std::runtime_error(std::string(call) + ": " + cublasGetStatusString(status));
  }
}

// In plain fp32: CUBLAS_PEDANTIC_MATH keeps it from TF32 tensor cores and from emulation, whatever the
// environment asks for, so it computes what our kernels compute. Made at the first call, which is a warm-up,
// and kept until the process ends: creating a handle allocates device memory and would be timed otherwise.
// One per process is enough, for the course uses one device in a process.
inline cublasHandle_t cublas_handle(cudaStream_t stream) {
  static const cublasHandle_t made = [] {
    cublasHandle_t h;
    check_cublas(cublasCreate(&h), "cublasCreate");
    check_cublas(cublasSetMathMode(h, CUBLAS_PEDANTIC_MATH), "cublasSetMathMode");
    return h;
  }();
  check_cublas(cublasSetStream(made, stream), "cublasSetStream");
  return made;
}

}  // namespace days
