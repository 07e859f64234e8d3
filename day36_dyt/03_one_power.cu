// SPDX-License-Identifier: MIT
//
// tanh(v) = 1 - 2 / (1 + e^(2v)): one power of two and one quotient, each an instruction.
// Changed since columns: a fraction of tanhf's instructions. Near 0 it has tanh to 1e-7, not to its last digit: that is
// all that a sum with beta keeps of it.
// Bound by: memory, also in 16 bits.
// Teaches: ex2_approx_ftz, rcp_approx_ftz.

#include "common/ptx.h"
#include "day36_dyt/forward.cuh"

namespace day36 {
namespace {

template <bool kWide, class T>
__global__ void __launch_bounds__(kStripThreads) one_power_kernel(const Dyt<T> p, int lanes) {
  forward_strip<kWide>(p, lanes, [](float v) {
    constexpr float kTwiceLog2e = 2.88539008f;  // e^(2v) = 2^(2v * log2 e)
    const float share = days::ptx::rcp_approx_ftz(1 + days::ptx::ex2_approx_ftz(kTwiceLog2e * v));
    return fmaf(-2.0f, share, 1.0f);
  });
}

}  // namespace

template <class T>
void dyt_one_power(const Dyt<T>& p, cudaStream_t stream) {
  require_problem(p, "one_power");
  const bool wide = whole_vectors<T>(p.cols, p.x, p.gamma, p.beta, p.y);
  const int width = wide ? kWidth<T, true> : 1, lanes = lanes_of(p.cols, width);
  const dim3 grid(days::ceil_div(p.cols, lanes * width), forward_blocks_y(p.rows, lanes));
  const auto kernel = wide ? one_power_kernel<true, T> : one_power_kernel<false, T>;
  kernel<<<grid, kStripThreads, 0, stream>>>(p, lanes);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(dyt_one_power, Dyt, float, days::half, days::bf16);

}  // namespace day36
