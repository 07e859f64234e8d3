// SPDX-License-Identifier: MIT
// The same function without a sum that cancels: 1 + erf(z) is erfc(-z), which the library knows to its last digits
// also where it is 1e-20.
// Changed since vectors: erfcf for erff. Each result has its digits, also far left of 0.
// Bound by: memory in fp32, where 55 instructions an element fit into the time of 63; their issue in 16 bits, where 31 do.
#include "common/elementwise.cuh"
#include "day07_gelu/gelu.h"

namespace day07 {
namespace {

struct ByErfc {
  __device__ float operator()(float x) const { return 0.5f * x * erfcf(-kHalfRoot * x); }
};

template <class T>
__global__ void __launch_bounds__(kThreads) erfc_kernel(const T* x, T* y, int64_t n) {  // (n), (n)
  days::map_vector(x, y, n, ByErfc{});
}

}  // namespace

template <class T>
void gelu_erfc(const Gelu<T>& p, cudaStream_t stream) {
  const unsigned blocks = blocks_of_vectors(p, "erfc");
  erfc_kernel<<<blocks, kThreads, 0, stream>>>(p.x, p.y, p.n);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(gelu_erfc, Gelu, float, days::half, days::bf16);

}  // namespace day07
