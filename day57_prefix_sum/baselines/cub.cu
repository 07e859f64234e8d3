// SPDX-License-Identifier: MIT
// CUB's scans: of elements, by look-back; and of pairs of a head and a sum, with an addition that does not commute. Sums are of
// fp32, or of whole numbers that wrap, as ours: CUB reads through iterators that convert.
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/transform_output_iterator.h>
#include <cub/cub.cuh>

#include "common/check.h"
#include "common/ladder.h"
#include "day57_prefix_sum/prefix_sum.h"

namespace day57 {
namespace {

// call(memory, bytes) is one of CUB's functions: without memory it says how many bytes it needs.
template <class P, class Call>
void run_in(const P& p, const Call& call) {
  tiles_of(p, kThreads, "CUB");
  const size_t promised = cub_workspace(p);
  workspace_of(p, promised, "CUB");
  size_t bytes = 0;
  CUDA_CHECK(call(nullptr, bytes));
  days::require(promised >= bytes, "CUB: this version needs a workspace of", bytes, " bytes, not", promised);
  CUDA_CHECK(call(p.workspace.data, bytes));
}

template <class T>
struct Widen {
  __device__ Total<T> operator()(T x) const { return to_total(x); }
};
template <class T>
struct Narrow {
  __device__ T operator()(Total<T> sum) const { return from_total<T>(sum); }
};

template <class Sum>
struct Pair {
  Sum sum;
  uint32_t head;
};
struct Join {
  template <class Sum>
  __device__ Pair<Sum> operator()(const Pair<Sum>& left, const Pair<Sum>& right) const {
    return {right.head != 0 ? right.sum : left.sum + right.sum, left.head | right.head};
  }
};
template <class T>
struct PairOf {
  const T* x;
  const uint8_t* head;
  __device__ Pair<Total<T>> operator()(int64_t i) const {
    return {to_total(x[i]), static_cast<uint32_t>(head[i] != 0)};
  }
};
template <class T>
struct SumOf {
  __device__ T operator()(const Pair<Total<T>>& pair) const { return from_total<T>(pair.sum); }
};

template <class P, class In, class Out>
void scan_of(const P& p, In in, Out out, cudaStream_t stream) {
  run_in(p, [&](void* memory, size_t& bytes) {
    return p.exclusive ? cub::DeviceScan::ExclusiveSum(memory, bytes, in, out, p.n, stream)
                       : cub::DeviceScan::InclusiveSum(memory, bytes, in, out, p.n, stream);
  });
}

}  // namespace

template <class T>
void scan_cub(const Scan<T>& p, cudaStream_t stream) {
  if constexpr (sizeof(T) == 4) {
    scan_of(p, p.x, p.y, stream);
  } else {
    scan_of(p, thrust::make_transform_iterator(p.x, Widen<T>{}),
            thrust::make_transform_output_iterator(p.y, Narrow<T>{}), stream);
  }
}

template <class T>
void segmented_cub(const SegmentedScan<T>& p, cudaStream_t stream) {
  const auto in =
      thrust::make_transform_iterator(thrust::make_counting_iterator(int64_t{0}), PairOf<T>{p.x, p.head});
  const auto out = thrust::make_transform_output_iterator(p.y, SumOf<T>{});
  run_in(p, [&](void* memory, size_t& bytes) {
    return cub::DeviceScan::InclusiveScan(memory, bytes, in, out, Join{}, p.n, stream);
  });
}

REGISTER_BASELINE(Scan, "scan", "CUB", LAUNCHER(scan_cub), float, days::half, days::bf16, int32_t);
REGISTER_BASELINE(SegmentedScan, "segmented_scan", "CUB", LAUNCHER(segmented_cub), float, days::half,
                  days::bf16, int32_t);

}  // namespace day57
