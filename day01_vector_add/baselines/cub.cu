// SPDX-License-Identifier: MIT
// CUB's DeviceTransform, which came with CUDA 12.8. With an older toolkit this file is empty and the table
// says so.
#if __has_include(<cub/device/device_transform.cuh>)
#include <cub/device/device_transform.cuh>

#include <cuda/std/tuple>
#include <stdexcept>
#include <string>

#include "common/check.h"
#include "common/ladder.h"
#include "common/util.h"
#include "day01_vector_add/vector_add.h"

namespace day01 {
namespace {

struct Plus {
  __device__ float operator()(float x, float y) const { return x + y; }
};

}  // namespace

void vector_add_cub(const VectorAdd<float>& p, cudaStream_t stream) {
  days::require(p.n > 0, "CUB: n must be positive, not", p.n);
  const auto inputs = cuda::std::make_tuple(p.a, p.b);
  // Counting in 32 bits is the faster of its two ways, by up to 3% (github.com/NVIDIA/cccl/issues/8805); from
  // 4 GiB an array on, its byte offsets then overflow in the versions of CUDA 13.0
  // (github.com/NVIDIA/cccl/issues/8800).
  if (p.n < (int64_t{1} << 30)) {
    CUDA_CHECK(cub::DeviceTransform::Transform(inputs, p.c, static_cast<int>(p.n), Plus{}, stream));
    return;
  }
#if CUB_VERSION >= 200800
  CUDA_CHECK(cub::DeviceTransform::Transform(inputs, p.c, p.n, Plus{}, stream));
#else
  throw std::invalid_argument("CUB: this version counts elements in an int; n is " + std::to_string(p.n));
#endif
}

REGISTER_BASELINE(VectorAdd, "vector_add", "CUB", LAUNCHER(vector_add_cub));

}  // namespace day01
#endif
