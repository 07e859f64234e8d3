// SPDX-License-Identifier: MIT
//
// Kernels of day 62 with a bug in each, which its tests must reject. They stay inside their buffers, so that
// it is the comparison that finds them and not a fault.

#include <algorithm>

#include "common/check.h"
#include "common/must_reject.h"
#include "common/reduce.cuh"
#include "common/scan.cuh"
#include "common/util.h"
#include "day62_histogram_and_sort/compaction.h"
#include "day62_histogram_and_sort/histogram.h"
#include "day62_histogram_and_sort/ordered.cuh"
#include "day62_histogram_and_sort/radix_sort.h"
#include "day62_histogram_and_sort/top_k.h"

namespace day62 {
namespace {

constexpr int kThreads = 256;

unsigned blocks_of(int64_t n, int64_t each) {
  return static_cast<unsigned>(days::ceil_div(n, each));
}

// Merges a bin when its own thread has counted, and not when all have.
__global__ void merges_early_kernel(const uint8_t* keys, uint32_t* counts, int64_t n) {
  __shared__ uint32_t mine[kBins];
  mine[threadIdx.x] = 0;
  __syncthreads();
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < n) atomicAdd(&mine[keys[i]], 1u);
  atomicAdd(&counts[threadIdx.x], mine[threadIdx.x]);
}

// A thread's private bins of one byte, without a carry: right up to 255 times the same key.
__global__ void byte_overflows_kernel(const uint8_t* keys, uint32_t* counts, int64_t n) {
  uint8_t mine[kBins] = {};
  for (int64_t i = threadIdx.x; i < n; i += kThreads) ++mine[keys[i]];
  for (int bin = 0; bin < kBins; ++bin) {
    if (mine[bin] != 0) atomicAdd(&counts[bin], static_cast<uint32_t>(mine[bin]));
  }
}

void clear(const Histogram<uint8_t>& p, cudaStream_t stream) {
  CUDA_CHECK(cudaMemsetAsync(p.counts, 0, kBins * sizeof(uint32_t), stream));
}

// Adds up the tile before alone, as if no tile came before that one.
__global__ void looks_back_once_kernel(const float* x, float* y, uint32_t* count, int64_t n,
                                       float threshold) {
  const int lane = threadIdx.x % days::kWarpSize;
  uint32_t before = 0, last = 0;
  for (int64_t first = 0; first < n; first += days::kWarpSize) {
    const int64_t i = first + lane;
    const bool keep = i < n && x[i] > threshold;
    const unsigned kept = __ballot_sync(days::kFullWarp, keep);
    before = last;
    if (keep) y[before + __popc(kept & ((1u << lane) - 1))] = x[i];
    last = static_cast<uint32_t>(__popc(kept));
  }
  if (lane == 0) *count = before + last;
}

// ---- radix sort: a block sorts its tile in shared memory ----

constexpr int kTile = 4096;

struct Tile {
  uint32_t keys[2][kTile];
  uint32_t starts[kDigits];
};

// Where each digit begins: its number in s.starts, once all threads have come.
template <class Digit>
__device__ void find_starts(Tile& s, const uint32_t* from, int count, Digit digit) {
  s.starts[threadIdx.x] = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < count; i += kThreads) atomicAdd(&s.starts[digit(from[i])], 1u);
  __syncthreads();
  uint32_t all;
  const uint32_t start = days::block_exclusive_scan<kThreads>(s.starts[threadIdx.x], all);
  s.starts[threadIdx.x] = start;
  __syncthreads();
}

// A key's rank is when it comes to its digit's counter, which is not the order of the keys.
__global__ void unstable_kernel(const uint32_t* in, uint32_t* out, int64_t n) {
  __shared__ Tile s;
  const int64_t first = int64_t{blockIdx.x} * kTile;
  const int count = n - first < kTile ? static_cast<int>(n - first) : kTile;
  const int each = days::ceil_div(count, kThreads), mine = static_cast<int>(threadIdx.x) * each;
  for (int i = threadIdx.x; i < count; i += kThreads) s.keys[0][i] = in[first + i];
  __syncthreads();
  for (int pass = 0; pass < kPasses; ++pass) {
    const auto digit = [pass](uint32_t key) { return digit_of(key, pass); };
    find_starts(s, s.keys[pass % 2], count, digit);
    for (int i = min(mine + each, count) - 1; i >= mine; --i) {
      const uint32_t key = s.keys[pass % 2][i];
      s.keys[1 - pass % 2][atomicAdd(&s.starts[digit(key)], 1u)] = key;
    }
    __syncthreads();
  }
  for (int i = threadIdx.x; i < count; i += kThreads) out[first + i] = s.keys[0][i];
}

// What `key` makes of an element decides, and the index is put through `index`.
template <class T, class Key, class Index>
__device__ void top_k_by(const T* x, T* values, int32_t* indices, int rows, int cols, int k, Key key,
                         Index index) {
  const int64_t row = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (row >= rows) return;
  Candidate last = ~Candidate{0};
  for (int i = 0; i < k; ++i) {
    Candidate largest = 0;
    for (int col = 0; col < cols; ++col) {
      const Candidate c = candidate(key(x[row * cols + col]), col);
      if (c < last && c > largest) largest = c;
    }
    last = largest;
    values[row * k + i] = x[row * cols + column(last)];
    indices[row * k + i] = index(row, column(last));
  }
}

// A NaN as the smallest of all.
__global__ void nan_last_kernel(const float* x, float* values, int32_t* indices, int rows, int cols, int k) {
  top_k_by(
      x, values, indices, rows, cols, k, [](float v) { return v != v ? 1u : ordered_bits(v); },
      [](int64_t, int col) { return col; });
}

// A bf16 has two digits of eight bits, and this one looks at the upper alone: 0.5 is as large as 1.9.
__global__ void one_digit_kernel(const days::bf16* x, days::bf16* values, int32_t* indices, int rows,
                                 int cols, int k) {
  top_k_by(
      x, values, indices, rows, cols, k, [](days::bf16 v) { return ordered_bits(v) & 0xff000000u; },
      [](int64_t, int col) { return col; });
}

}  // namespace

void merges_early(const Histogram<uint8_t>& p, cudaStream_t stream) {
  clear(p, stream);
  merges_early_kernel<<<blocks_of(p.n, kThreads), kThreads, 0, stream>>>(p.keys, p.counts, p.n);
  CUDA_CHECK_LAUNCH();
}
void byte_overflows(const Histogram<uint8_t>& p, cudaStream_t stream) {
  clear(p, stream);
  byte_overflows_kernel<<<1, kThreads, 0, stream>>>(p.keys, p.counts, p.n);
  CUDA_CHECK_LAUNCH();
}
MUST_REJECT(histogram, merges_early, "counts[|simt-race-shared");
MUST_REJECT(histogram, byte_overflows, "65537, all equal: counts[255] is 1, expected 65537");

void unstable(const RadixSort<uint32_t>& p, cudaStream_t stream) {
  unstable_kernel<<<blocks_of(p.n, kTile), kThreads, 0, stream>>>(p.in, p.out, p.n);
  CUDA_CHECK_LAUNCH();
}
MUST_REJECT(radix_sort, unstable, "out[");

void looks_back_once(const Compaction<float>& p, cudaStream_t stream) {
  looks_back_once_kernel<<<1, days::kWarpSize, 0, stream>>>(p.x, p.y, p.count, p.n, p.threshold);
  CUDA_CHECK_LAUNCH();
}
MUST_REJECT(compaction_stable, looks_back_once, "1000: count is|simt-race-global");

void nan_last(const TopK<float>& p, cudaStream_t stream) {
  nan_last_kernel<<<blocks_of(p.rows, kThreads), kThreads, 0, stream>>>(p.x, p.values, p.indices, p.rows,
                                                                        p.cols, p.k);
  CUDA_CHECK_LAUNCH();
}
void one_digit(const TopK<days::bf16>& p, cudaStream_t stream) {
  one_digit_kernel<<<blocks_of(p.rows, kThreads), kThreads, 0, stream>>>(p.x, p.values, p.indices, p.rows,
                                                                         p.cols, p.k);
  CUDA_CHECK_LAUNCH();
}
MUST_REJECT(top_k, nan_last, "special values: values[0,0] is 1, expected nan");
MUST_REJECT(top_k, one_digit, "3 x 5 x 5: values[0,0] is");

}  // namespace day62
