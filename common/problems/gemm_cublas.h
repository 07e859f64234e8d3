// SPDX-License-Identifier: MIT
//
// cuBLAS's general matrix multiplication: fp32 without TF32, fp16 and bf16 with sums in fp32, int8 in int32.
#pragma once

#include <cublas_v2.h>

#include <type_traits>

#include "common/cublas.h"
#include "common/problems/gemm.h"
#include "common/types.h"

namespace days {
namespace detail {
template <class T>
constexpr cudaDataType_t cublas_type() {
  if constexpr (std::is_same_v<T, float>) {
    return CUDA_R_32F;
  } else if constexpr (std::is_same_v<T, half>) {
    return CUDA_R_16F;
  } else if constexpr (std::is_same_v<T, bf16>) {
    return CUDA_R_16BF;
  } else if constexpr (std::is_same_v<T, int8_t>) {
    return CUDA_R_8I;
  } else {
    static_assert(std::is_same_v<T, int32_t>, "cuBLAS has no such product here");
    return CUDA_R_32I;
  }
}
}  // namespace detail

// cuBLAS stores matrices by columns. Our row-major c = a * b read by columns is c^T = b^T * a^T, so handing it the
// operands in swapped order, each with its own op, gives exactly our layout and nothing is transposed.
template <class In, class Out, class Sum>
void gemm_cublas_as(const BasicGemm<In, Out, Sum>& p, cublasComputeType_t compute, cudaStream_t stream) {
  const auto op = [](Op which) { return which == Op::kN ? CUBLAS_OP_N : CUBLAS_OP_T; };
  check_cublas(
      cublasGemmEx(cublas_handle(stream), op(p.op_b), op(p.op_a), p.n, p.m, p.k, &p.alpha, p.b,
                   detail::cublas_type<In>(), static_cast<int>(p.ldb), p.a, detail::cublas_type<In>(),
                   static_cast<int>(p.lda), &p.beta, p.c, detail::cublas_type<Out>(), static_cast<int>(p.ldc),
                   compute, CUBLAS_GEMM_DEFAULT),
      "cublasGemmEx");
}

template <class In, class Out, class Sum>
void gemm_cublas(const BasicGemm<In, Out, Sum>& p, cudaStream_t stream) {
  constexpr cublasComputeType_t kCompute = std::is_same_v<Sum, int32_t> ? CUBLAS_COMPUTE_32I
                                           : std::is_same_v<In, float>  ? CUBLAS_COMPUTE_32F_PEDANTIC
                                                                        : CUBLAS_COMPUTE_32F;
  gemm_cublas_as(p, kCompute, stream);
}

}  // namespace days
