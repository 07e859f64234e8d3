// SPDX-License-Identifier: MIT
// A block has one row, and finds its maximum k times, each time among what is smaller than the last one. An
// element's column breaks ties, so that each round finds another. Bound by: the instructions of k
// reads, 23 an element, and one block a row: with 64 rows, half of the multiprocessors have nothing to do.
#include "common/check.h"
#include "common/reduce.cuh"
#include "common/util.h"
#include "day62_histogram_and_sort/ordered.cuh"
#include "day62_histogram_and_sort/top_k.h"

namespace day62 {
namespace {

constexpr int kThreads = 1024;

template <class T>
__global__ void __launch_bounds__(kThreads) repeated_max_kernel(const T* x,        // (rows, cols)
                                                                T* values,         // (rows, k)
                                                                int32_t* indices,  // (rows, k)
                                                                int cols, int k) {
  x += int64_t{blockIdx.x} * cols;
  Candidate last = ~Candidate{0};
  for (int i = 0; i < k; ++i) {
    Candidate largest = 0;
    for (int64_t col = threadIdx.x; col < cols; col += kThreads) {
      const Candidate c = candidate(ordered_bits(x[col]), static_cast<int>(col));
      if (c < last && c > largest) largest = c;
    }
    last = days::block_reduce(largest, days::Max{}, Candidate{0});
    if (threadIdx.x == 0) {
      values[int64_t{blockIdx.x} * k + i] = x[column(last)];
      indices[int64_t{blockIdx.x} * k + i] = column(last);
    }
  }
}

}  // namespace

template <class T>
void top_k_repeated_max(const TopK<T>& p, cudaStream_t stream) {
  require_problem(p, "repeated_max");
  repeated_max_kernel<<<p.rows, kThreads, 0, stream>>>(p.x, p.values, p.indices, p.cols, p.k);
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(top_k_repeated_max, TopK, float, days::bf16);

}  // namespace day62
