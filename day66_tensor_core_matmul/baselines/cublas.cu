// SPDX-License-Identifier: MIT
#include "common/cublas.h"
#include "common/ladder.h"
#include "common/problems/matmul_cublas.h"
#include "day66_tensor_core_matmul/matmul.h"

namespace day66 {
namespace {

// What cuBLAS is told: our row-major c = a * b is, by columns, c^T = b^T * a^T.
template <class T, class C>
void gemm(cublasOperation_t b_as, const T* a, const T* b, C* c, int m, int n, int k, cudaDataType type,
          cudaDataType type_c, cublasComputeType_t compute, const void* one, const void* zero,
          cudaStream_t stream) {
  const cublasHandle_t handle = days::cublas_handle(stream);
  // The handle's own mode is for plain fp32; here the call says by its types and `compute` what is wanted. By default
  // parts of k may be added in the type of c, which for halves is too inexact: at odd sizes cuBLAS does so.
  constexpr auto kMode =
      static_cast<cublasMath_t>(CUBLAS_DEFAULT_MATH | CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION);
  days::check_cublas(cublasSetMathMode(handle, kMode), "cublasSetMathMode");
  days::check_cublas(
      cublasGemmEx(handle, b_as, CUBLAS_OP_N, n, m, k, one, b, type, b_as == CUBLAS_OP_N ? n : k, a, type, k,
                   zero, c, type_c, n, compute, CUBLAS_GEMM_DEFAULT),
      "cublasGemmEx");
  days::check_cublas(cublasSetMathMode(handle, CUBLAS_PEDANTIC_MATH), "cublasSetMathMode");
}

// Halves and bfloat16, sums in float.
template <class T>
requires Half<T>
void cublas_half(const Matmul<T>& p, cudaStream_t stream) {
  const float one = 1, zero = 0;
  const cudaDataType type = std::is_same_v<T, days::half> ? CUDA_R_16F : CUDA_R_16BF;
  gemm(CUBLAS_OP_N, p.a, p.b, p.c, p.m, p.n, p.k, type, type, CUBLAS_COMPUTE_32F, &one, &zero, stream);
}

// Floats rounded to tf32, which this call alone asks for.
void cublas_tf32(const Matmul<float>& p, cudaStream_t stream) {
  const float one = 1, zero = 0;
  gemm(CUBLAS_OP_N, p.a, p.b, p.c, p.m, p.n, p.k, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32, &one,
       &zero, stream);
}

// Its int8 kernels want k and the rows of c in whole words, and pointers that are.
void cublas_bytes(const ByteMatmul<int8_t>& p, cudaStream_t stream) {
  require_bytes(p, "cuBLAS");
  days::require_needs(p, "cuBLAS", kWordsOfBytes, kAligned);
  const int32_t one = 1, zero = 0;
  gemm(CUBLAS_OP_T, p.a, p.b, p.c, p.m, p.n, p.k, CUDA_R_8I, CUDA_R_32I, CUBLAS_COMPUTE_32I, &one, &zero,
       stream);
}

REGISTER_BASELINE(Matmul, "half", "cuBLAS", LAUNCHER(cublas_half));
REGISTER_BASELINE(Matmul, "tf32", "cuBLAS TF32", LAUNCHER(cublas_tf32));
REGISTER_BASELINE(Matmul, "fp32", "cuBLAS fp32", LAUNCHER(days::matmul_cublas));
REGISTER_BASELINE(ByteMatmul, "int8", "cuBLAS int8", LAUNCHER(cublas_bytes));
REGISTER_BASELINE(DeepMatmul, "deep", "cuBLAS deep", LAUNCHER(cublas_half));

}  // namespace
}  // namespace day66
