// SPDX-License-Identifier: MIT
#include "common/ladder.h"
#include "common/problems/matmul_cublas.h"

REGISTER_BASELINE(days::Matmul, "matmul", "cuBLAS", LAUNCHER(days::matmul_cublas));
