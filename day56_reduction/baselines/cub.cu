// SPDX-License-Identifier: MIT
// CUB's sum of fp32 and of whole numbers, in 64 bits. Its argmax is no contestant: it leaves NaN to chance.
#include <cub/cub.cuh>

#include "common/check.h"
#include "common/ladder.h"
#include "day56_reduction/reduction.h"

namespace day56 {

template <class T>
void sum_cub(const Sum<T>& p, cudaStream_t stream) {
  days::require(p.n > 0, "CUB: n must be positive, not", p.n);
  const size_t promised = sum_cub_workspace(p);
  days::require(p.workspace.bytes >= promised, "CUB: needs a workspace of", promised, " bytes, not",
                p.workspace.bytes);
  size_t bytes = 0;  // without memory CUB says how many bytes it needs
  CUDA_CHECK(cub::DeviceReduce::Sum(nullptr, bytes, p.x, p.sum, p.n, stream));
  days::require(promised >= bytes, "CUB: this version needs a workspace of", bytes, " bytes, not", promised);
  CUDA_CHECK(cub::DeviceReduce::Sum(p.workspace.data, bytes, p.x, p.sum, p.n, stream));
}

REGISTER_BASELINE(Sum, "sum", "CUB", LAUNCHER(sum_cub), float, int32_t);

}  // namespace day56
