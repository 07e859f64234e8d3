// SPDX-License-Identifier: MIT
#include "common/ladder.h"
#include "common/problems/gemm_cublas.h"
#include "common/problems/matmul_cublas.h"

REGISTER_BASELINE(days::Matmul, "matmul", "cuBLAS", LAUNCHER(days::matmul_cublas));
REGISTER_BASELINE(days::Gemm, "gemm", "cuBLAS", LAUNCHER(days::gemm_cublas), float);
