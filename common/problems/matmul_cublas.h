// SPDX-License-Identifier: MIT
//
// cuBLAS's matrix multiplication in plain fp32, the matmul days' baseline.
#pragma once

#include "common/cublas.h"
#include "common/problems/matmul.h"

namespace days {

// cuBLAS stores matrices by columns. Our row-major c = a * b read by columns is c^T = b^T * a^T, so handing
// it the operands in swapped order gives exactly our layout and nothing is transposed.
inline void matmul_cublas(const Matmul<float>& p, cudaStream_t stream) {
  const float one = 1.0f, zero = 0.0f;  // zero: c is written without being read, so poison in it does no harm
  check_cublas(cublasSgemm(cublas_handle(stream), CUBLAS_OP_N, CUBLAS_OP_N, p.n, p.m, p.k, &one, p.b, p.n,
                           p.a, p.k, &zero, p.c, p.n),
               "cublasSgemm");
}

}  // namespace days
