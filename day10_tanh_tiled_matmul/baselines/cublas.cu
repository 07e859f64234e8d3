// SPDX-License-Identifier: MIT
// cuBLAS's product in plain fp32, and what follows it as a kernel of this day's: cuBLAS has no tanh.
#include "common/ladder.h"
#include "common/problems/matmul_cublas.h"
#include "day10_tanh_tiled_matmul/matmul.h"

namespace day10 {
namespace {

void cublas_then_tanh(const TanhMatmul<float>& p, cudaStream_t stream) {
  days::matmul_cublas(p, stream);
  tanh_alone({p.c, p.c, int64_t{p.m} * p.n}, stream);
}

void cublas_then_pass(const Layer<float>& p, cudaStream_t stream) {
  days::require_needs(p, "cuBLAS, pass", kMAlongY);  // of the pass, whose tiles are the rungs'
  days::matmul_cublas(p, stream);
  finish_layer(p, stream);
}

REGISTER_BASELINE(TanhMatmul, "tanh_matmul", "cuBLAS, tanh", LAUNCHER(cublas_then_tanh));
REGISTER_BASELINE(Layer, "layer", "cuBLAS, pass", LAUNCHER(cublas_then_pass));

}  // namespace
}  // namespace day10
