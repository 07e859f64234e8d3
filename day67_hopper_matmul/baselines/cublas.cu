// SPDX-License-Identifier: MIT
#include "common/cublas.h"
#include "common/ladder.h"
#include "common/problems/matmul_cublas.h"
#include "day67_hopper_matmul/other_types.h"

namespace day67 {
namespace {

REGISTER_BASELINE(WideMatmul, "fp32", "cuBLAS fp32", LAUNCHER(days::matmul_cublas));

}  // namespace
}  // namespace day67
