// SPDX-License-Identifier: MIT
// Everybody at once: in step d = 1, 2, 4, ... each element adds what lies d before it, so that its sum reaches twice as far. A
// step needs all of the step before, so each is a launch of its own, from one array of sums to another.
// Bound by: memory, which moves all sums log2 n times.
#include "common/check.h"
#include "common/util.h"
#include "day57_prefix_sum/prefix_sum.h"

namespace day57 {
namespace {

constexpr int kBlock = 256;

// The last step writes the result, which the exclusive scan has one place further on.
template <bool kLast, class T, class From, class To>
__global__ void __launch_bounds__(kBlock) doubling_kernel(const From* from,  // (n)
                                                          To* to,            // (n)
                                                          int64_t n, int64_t distance, bool exclusive) {
  const int64_t i = int64_t{blockIdx.x} * kBlock + threadIdx.x;
  if (i >= n) return;
  Total<T> sum = to_total(from[i]);
  if (i >= distance) sum = to_total(from[i - distance]) + sum;
  if constexpr (kLast) {
    if (!exclusive) {
      to[i] = from_total<T>(sum);
    } else {
      if (i == 0) to[0] = from_total<T>(0);
      if (i + 1 < n) to[i + 1] = from_total<T>(sum);
    }
  } else {
    to[i] = sum;
  }
}

}  // namespace

template <class T>
void scan_doubling(const Scan<T>& p, cudaStream_t stream) {
  using Sum = Total<T>;
  const unsigned blocks = static_cast<unsigned>(tiles_of(p, kBlock, "doubling"));
  Sum* from = reinterpret_cast<Sum*>(workspace_of(p, doubling_workspace(p), "doubling"));
  Sum* to = from + p.n;
  // At least two launches, because y may be x: the first alone reads x, the last alone writes y.
  doubling_kernel<false, T><<<blocks, kBlock, 0, stream>>>(p.x, from, p.n, int64_t{1}, false);
  CUDA_CHECK_LAUNCH();
  int64_t distance = 2;
  for (; 2 * distance < p.n; distance *= 2) {
    doubling_kernel<false, T, Sum><<<blocks, kBlock, 0, stream>>>(from, to, p.n, distance, false);
    CUDA_CHECK_LAUNCH();
    Sum* const written = to;
    to = from;
    from = written;
  }
  doubling_kernel<true, T, Sum><<<blocks, kBlock, 0, stream>>>(from, p.y, p.n, distance, p.exclusive);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(scan_doubling, Scan, float, days::half, days::bf16, int32_t);

}  // namespace day57
