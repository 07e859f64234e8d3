// SPDX-License-Identifier: MIT
#include "common/cublas.h"
#include "common/ladder.h"
#include "common/problems/matmul_cublas.h"
#include "day66_tensor_core_matmul/matmul.h"

namespace day66 {
namespace {

// What cuBLAS is told: our row-major c = a * b is, by columns, c^T = b^T * a^T.
template <class T>
void gemm(const Matmul<T>& p, cudaDataType type, cublasComputeType_t compute, cudaStream_t stream) {
  const float one = 1, zero = 0;
  const cublasHandle_t handle = days::cublas_handle(stream);
  // The handle's own mode is for plain fp32; here the call says by its types and `compute` what is wanted. By default
  // parts of k may be added in the type of c, which for halves is too inexact: at odd sizes cuBLAS does so.
  constexpr auto kMode =
      static_cast<cublasMath_t>(CUBLAS_DEFAULT_MATH | CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION);
  days::check_cublas(cublasSetMathMode(handle, kMode), "cublasSetMathMode");
  days::check_cublas(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, p.n, p.m, p.k, &one, p.b, type, p.n, p.a,
                                  type, p.k, &zero, p.c, type, p.n, compute, CUBLAS_GEMM_DEFAULT),
                     "cublasGemmEx");
  days::check_cublas(cublasSetMathMode(handle, CUBLAS_PEDANTIC_MATH), "cublasSetMathMode");
}

// Halves and bfloat16, sums in float.
template <class T>
requires Half<T>
void cublas_half(const Matmul<T>& p, cudaStream_t stream) {
  gemm(p, std::is_same_v<T, days::half> ? CUDA_R_16F : CUDA_R_16BF, CUBLAS_COMPUTE_32F, stream);
}

// Floats rounded to tf32, which this call alone asks for.
void cublas_tf32(const Matmul<float>& p, cudaStream_t stream) {
  gemm(p, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32, stream);
}

REGISTER_BASELINE(Matmul, "half", "cuBLAS", LAUNCHER(cublas_half));
REGISTER_BASELINE(Matmul, "tf32", "cuBLAS TF32", LAUNCHER(cublas_tf32));
REGISTER_BASELINE(Matmul, "fp32", "cuBLAS fp32", LAUNCHER(days::matmul_cublas));

}  // namespace
}  // namespace day66
