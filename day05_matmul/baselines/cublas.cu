// SPDX-License-Identifier: MIT
//
// cuBLAS in plain fp32: CUBLAS_PEDANTIC_MATH keeps it from TF32 tensor cores and from emulation, whatever the
// environment asks for, so it computes what our kernels compute.
// cuBLAS stores matrices by columns. Our row-major c = a * b read by columns is c^T = b^T * a^T, so handing
// it the operands in swapped order gives exactly our layout and nothing is transposed.

#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <stdexcept>
#include <string>

#include "common/ladder.h"
#include "common/problems/matmul.h"

namespace day05 {
namespace {

void check(cublasStatus_t status, const char* call) {
  if (status != CUBLAS_STATUS_SUCCESS) {
    throw std::runtime_error(std::string(call) + ": " + cublasGetStatusString(status));
  }
}

// Made at the first call, which is a warm-up, and kept until the process ends: creating a handle allocates
// device memory and would be timed otherwise. One per process is enough, for the course uses one device in a
// process.
cublasHandle_t handle() {
  static const cublasHandle_t made = [] {
    cublasHandle_t h;
    check(cublasCreate(&h), "cublasCreate");
    check(cublasSetMathMode(h, CUBLAS_PEDANTIC_MATH), "cublasSetMathMode");
    return h;
  }();
  return made;
}

void matmul_cublas(const days::Matmul<float>& p, cudaStream_t stream) {
  const float one = 1.0f, zero = 0.0f;  // zero: c is written without being read, so poison in it does no harm
  check(cublasSetStream(handle(), stream), "cublasSetStream");
  check(cublasSgemm(handle(), CUBLAS_OP_N, CUBLAS_OP_N, p.n, p.m, p.k, &one, p.b, p.n, p.a, p.k, &zero, p.c,
                    p.n),
        "cublasSgemm");
}

}  // namespace

REGISTER_BASELINE(days::Matmul, "matmul", "cuBLAS", LAUNCHER(matmul_cublas));

}  // namespace day05
