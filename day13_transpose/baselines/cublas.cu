// SPDX-License-Identifier: MIT
//
// cuBLAS's geam, c = alpha * op(a) + beta * op(b), with beta = 0: b is not read. cuBLAS stores matrices by
// columns, so our (rows, cols) is its cols x rows with leading dimension cols, and out its rows x cols.
// It has no fp16 and no uint8.

#include "common/cublas.h"
#include "common/ladder.h"
#include "day13_transpose/transpose.h"

namespace day13 {
namespace {

void transpose_geam(const Transpose<float>& p, cudaStream_t stream) {
  const float one = 1.0f, zero = 0.0f;
  days::check_cublas(cublasSgeam(days::cublas_handle(stream), CUBLAS_OP_T, CUBLAS_OP_N, p.rows, p.cols, &one,
                                 p.in, p.cols, &zero, p.out, p.rows, p.out, p.rows),
                     "cublasSgeam");
}

}  // namespace

REGISTER_BASELINE(Transpose, "transpose", "cuBLAS geam", LAUNCHER(transpose_geam));

}  // namespace day13
