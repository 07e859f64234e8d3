// SPDX-License-Identifier: MIT
// Thrust, which comes with CUB.
#include <thrust/execution_policy.h>
#include <thrust/reverse.h>
#include <thrust/swap.h>

#include "common/ladder.h"
#include "day42_swap/swap.h"

namespace day42 {

template <class T>
void swap_thrust(const Swap<T>& p, cudaStream_t stream) {
  require_problem(p, "Thrust");
  thrust::swap_ranges(thrust::cuda::par_nosync.on(stream), p.a, p.a + p.n, p.b);
}

template <class T>
void reverse_thrust(const Reverse<T>& p, cudaStream_t stream) {
  require_problem(p, "Thrust");
  thrust::reverse(thrust::cuda::par_nosync.on(stream), p.x, p.x + p.n);
}

REGISTER_BASELINE(Swap, "swap", "Thrust", LAUNCHER(swap_thrust));
REGISTER_BASELINE(Reverse, "reverse", "Thrust", LAUNCHER(reverse_thrust));

}  // namespace day42
