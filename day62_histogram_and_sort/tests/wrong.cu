// SPDX-License-Identifier: MIT
//
// Kernels of day 62 with a bug in each, which its tests must reject. They stay inside their buffers, so that
// it is the comparison that finds them and not a fault.

#include <algorithm>

#include "common/check.h"
#include "common/must_reject.h"
#include "common/reduce.cuh"
#include "common/util.h"
#include "day62_histogram_and_sort/compaction.h"
#include "day62_histogram_and_sort/histogram.h"
#include "day62_histogram_and_sort/ordered.cuh"
#include "day62_histogram_and_sort/radix_sort.h"
#include "day62_histogram_and_sort/scan.cuh"
#include "day62_histogram_and_sort/top_k.h"

namespace day62 {
namespace {

constexpr int kThreads = 256;

unsigned blocks_of(int64_t n, int64_t each) {
  return static_cast<unsigned>(days::ceil_div(n, each));
}

// ---- histogram ----

// Reads, adds and writes in three steps: lanes with the same key all write the same sum.
__global__ void lost_updates_kernel(const uint8_t* keys, uint32_t* counts, int64_t n) {
  for (int64_t first = 0; first < n; first += days::kWarpSize) {
    const int64_t i = first + threadIdx.x;
    const uint32_t before = i < n ? counts[keys[i]] : 0;
    __syncwarp();
    if (i < n) counts[keys[i]] = before + 1;
    __syncwarp();
  }
}

// Adds to what was in `counts` before.
__global__ void not_cleared_kernel(const uint8_t* keys, uint32_t* counts, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < n) atomicAdd(&counts[keys[i]], 1u);
}

// Merges all bins but the last.
__global__ void last_bin_kernel(const uint8_t* keys, uint32_t* counts, int64_t n) {
  __shared__ uint32_t mine[kBins];
  mine[threadIdx.x] = 0;
  __syncthreads();
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < n) atomicAdd(&mine[keys[i]], 1u);
  __syncthreads();
  if (threadIdx.x < kBins - 1) atomicAdd(&counts[threadIdx.x], mine[threadIdx.x]);
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

// Sixteen keys a thread, and none of what is left of n.
__global__ void drops_tail_kernel(const uint8_t* keys, uint32_t* counts, int64_t n) {
  const int64_t first = 16 * (int64_t{blockIdx.x} * kThreads + threadIdx.x);
  if (first + 16 > n) return;
  for (int i = 0; i < 16; ++i) atomicAdd(&counts[keys[first + i]], 1u);
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
void clear(const Compaction<float>& p, cudaStream_t stream) {
  CUDA_CHECK(cudaMemsetAsync(p.count, 0, sizeof(uint32_t), stream));
}

// ---- compaction ----

// Keeps what is as large as the threshold, too.
__global__ void keeps_equal_kernel(const float* x, float* y, uint32_t* count, int64_t n, float threshold) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < n && x[i] >= threshold) y[atomicAdd(count, 1u)] = x[i];
}

// "Not smaller" keeps every NaN.
__global__ void keeps_nan_kernel(const float* x, float* y, uint32_t* count, int64_t n, float threshold) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < n && !(x[i] <= threshold)) y[atomicAdd(count, 1u)] = x[i];
}

// Counts and takes a place in two steps: two threads get the same place.
__global__ void same_place_kernel(const float* x, float* y, uint32_t* count, int64_t n, float threshold) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  const bool keep = i < n && x[i] > threshold;
  const uint32_t place = *count;
  __syncwarp();
  if (!keep) return;
  atomicAdd(count, 1u);
  y[place] = x[i];
}

// The lanes of the last warp that lie past n keep what they have read for the first element.
__global__ void counts_past_end_kernel(const float* x, float* y, uint32_t* count, int64_t n,
                                       float threshold) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  const bool keep = x[i < n ? i : 0] > threshold;
  const unsigned kept = __ballot_sync(days::kFullWarp, keep);
  const int lane = threadIdx.x % days::kWarpSize;
  uint32_t first = 0;
  if (lane == 0) first = atomicAdd(count, static_cast<uint32_t>(__popc(kept)));
  first = __shfl_sync(days::kFullWarp, first, 0);
  const uint32_t place = first + __popc(kept & ((1u << lane) - 1));
  if (keep && i < n && place < n) y[place] = x[i];
}

// One block, so that the order of warps is kept; but within a warp the lanes come in reverse.
__global__ void lanes_reversed_kernel(const float* x, float* y, uint32_t* count, int64_t n, float threshold) {
  uint32_t before = 0;
  for (int64_t first = 0; first < n; first += days::kWarpSize) {
    const int64_t i = first + threadIdx.x;
    const bool keep = i < n && x[i] > threshold;
    const unsigned kept = __ballot_sync(days::kFullWarp, keep);
    if (keep) y[before + __popc(kept >> threadIdx.x >> 1)] = x[i];
    before += __popc(kept);
  }
  if (threadIdx.x == 0) *count = before;
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
  const uint32_t start = block_exclusive_scan<kThreads>(s.starts[threadIdx.x], all);
  s.starts[threadIdx.x] = start;
  __syncthreads();
}

// digit_in(pass) is what a pass sorts by. Each thread puts the keys of one digit into their places, in order.
template <class DigitIn>
__device__ void sort_tile(const uint32_t* in, uint32_t* out, int64_t n, DigitIn digit_in) {
  __shared__ Tile s;
  const int64_t first = int64_t{blockIdx.x} * kTile;
  const int count = n - first < kTile ? static_cast<int>(n - first) : kTile;
  for (int i = threadIdx.x; i < count; i += kThreads) s.keys[0][i] = in[first + i];
  __syncthreads();
  for (int pass = 0; pass < kPasses; ++pass) {
    const auto digit = digit_in(pass);
    const uint32_t* from = s.keys[pass % 2];
    find_starts(s, from, count, digit);
    uint32_t place = s.starts[threadIdx.x];
    for (int i = 0; i < count; ++i) {
      if (digit(from[i]) == threadIdx.x) s.keys[1 - pass % 2][place++] = from[i];
    }
    __syncthreads();
  }
  for (int i = threadIdx.x; i < count; i += kThreads) out[first + i] = s.keys[0][i];
}

// Right for one tile: nobody brings several together.
__global__ void tiles_alone_kernel(const uint32_t* in, uint32_t* out, int64_t n) {
  sort_tile(in, out, n, [](int pass) { return [pass](uint32_t key) { return digit_of(key, pass); }; });
}

// The key's upper byte as that of a signed number.
__global__ void signed_digit_kernel(const uint32_t* in, uint32_t* out, int64_t n) {
  sort_tile(in, out, n, [](int pass) {
    return [pass](uint32_t key) { return digit_of(key, pass) ^ (pass == kPasses - 1 ? 128u : 0u); };
  });
}

// Seven bits a pass where there are eight: one bit of each byte is never looked at.
__global__ void seven_bits_kernel(const uint32_t* in, uint32_t* out, int64_t n) {
  sort_tile(in, out, n, [](int pass) { return [pass](uint32_t key) { return digit_of(key, pass) & 127u; }; });
}

// The highest digit first: the last pass, over the lowest, undoes the order.
__global__ void highest_first_kernel(const uint32_t* in, uint32_t* out, int64_t n) {
  sort_tile(in, out, n,
            [](int pass) { return [pass](uint32_t key) { return digit_of(key, kPasses - 1 - pass); }; });
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

// An odd n: the last key stays behind.
__global__ void forgets_last_kernel(const uint32_t* in, uint32_t* out, int64_t n) {
  sort_tile(in, out, n - n % 2,
            [](int pass) { return [pass](uint32_t key) { return digit_of(key, pass); }; });
}

// ---- top-k: a thread has a row, and finds the largest, the next, ... ----

// Looks for something smaller each time, and so takes one of several equal elements.
__global__ void equals_once_kernel(const float* x, float* values, int32_t* indices, int rows, int cols,
                                   int k) {
  const int64_t row = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (row >= rows) return;
  uint32_t last = 0xffffffffu;
  for (int i = 0; i < k; ++i) {
    uint32_t largest = 0;
    int at = 0;
    for (int col = 0; col < cols; ++col) {
      const uint32_t bits = ordered_bits(x[row * cols + col]);
      if (bits > largest && (bits < last || i == 0)) largest = bits, at = col;
    }
    last = largest;
    values[row * k + i] = x[row * cols + at];
    indices[row * k + i] = at;
  }
}

// Of equal elements the first each time: right values, and an index twice.
__global__ void index_twice_kernel(const float* x, float* values, int32_t* indices, int rows, int cols,
                                   int k) {
  const int64_t row = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (row >= rows) return;
  Candidate last = ~Candidate{0};
  for (int i = 0; i < k; ++i) {
    Candidate largest = 0;
    for (int col = 0; col < cols; ++col) {
      const Candidate c = candidate(ordered_bits(x[row * cols + col]), col);
      if (c < last && c > largest) largest = c;
    }
    last = largest;
    int first = 0;
    while (ordered_bits(x[row * cols + first]) != static_cast<uint32_t>(last >> 32)) ++first;
    values[row * k + i] = x[row * cols + first];
    indices[row * k + i] = first;
  }
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

// The bits as they are: the more negative, the larger.
__global__ void raw_bits_kernel(const float* x, float* values, int32_t* indices, int rows, int cols, int k) {
  top_k_by(
      x, values, indices, rows, cols, k, [](float v) { return __float_as_uint(v); },
      [](int64_t, int col) { return col; });
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

// The index in the whole matrix, and not in its row.
__global__ void flat_index_kernel(const float* x, float* values, int32_t* indices, int rows, int cols,
                                  int k) {
  top_k_by(
      x, values, indices, rows, cols, k, [](float v) { return ordered_bits(v); },
      [cols](int64_t row, int col) { return static_cast<int32_t>(row * cols + col); });
}

// The k largest, the smallest of them first.
__global__ void ascending_kernel(const float* x, float* values, int32_t* indices, int rows, int cols, int k) {
  top_k_by(
      x, values, indices, rows, cols, k, [](float v) { return ordered_bits(v); },
      [](int64_t, int col) { return col; });
  const int64_t row = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (row >= rows) return;
  for (int i = 0, j = k - 1; i < j; ++i, --j) {
    const float value = values[row * k + i];
    const int32_t index = indices[row * k + i];
    values[row * k + i] = values[row * k + j], indices[row * k + i] = indices[row * k + j];
    values[row * k + j] = value, indices[row * k + j] = index;
  }
}

}  // namespace

void lost_updates(const Histogram<uint8_t>& p, cudaStream_t stream) {
  clear(p, stream);
  lost_updates_kernel<<<1, days::kWarpSize, 0, stream>>>(p.keys, p.counts, p.n);
  CUDA_CHECK_LAUNCH();
}
void not_cleared(const Histogram<uint8_t>& p, cudaStream_t stream) {
  not_cleared_kernel<<<blocks_of(p.n, kThreads), kThreads, 0, stream>>>(p.keys, p.counts, p.n);
  CUDA_CHECK_LAUNCH();
}
void last_bin(const Histogram<uint8_t>& p, cudaStream_t stream) {
  clear(p, stream);
  last_bin_kernel<<<blocks_of(p.n, kThreads), kThreads, 0, stream>>>(p.keys, p.counts, p.n);
  CUDA_CHECK_LAUNCH();
}
void merges_early(const Histogram<uint8_t>& p, cudaStream_t stream) {
  clear(p, stream);
  merges_early_kernel<<<blocks_of(p.n, kThreads), kThreads, 0, stream>>>(p.keys, p.counts, p.n);
  CUDA_CHECK_LAUNCH();
}
void drops_tail(const Histogram<uint8_t>& p, cudaStream_t stream) {
  clear(p, stream);
  drops_tail_kernel<<<blocks_of(p.n, 16 * kThreads), kThreads, 0, stream>>>(p.keys, p.counts, p.n);
  CUDA_CHECK_LAUNCH();
}
void byte_overflows(const Histogram<uint8_t>& p, cudaStream_t stream) {
  clear(p, stream);
  byte_overflows_kernel<<<1, kThreads, 0, stream>>>(p.keys, p.counts, p.n);
  CUDA_CHECK_LAUNCH();
}
MUST_REJECT(histogram, lost_updates, "15, all equal: counts[255] is 1, expected 15");
MUST_REJECT(histogram, not_cleared, "256 of 256 wrong");
MUST_REJECT(histogram, last_bin, "1, all equal: counts[255] is 0, expected 1");
MUST_REJECT(histogram, merges_early, "counts[|simt-race-shared");
MUST_REJECT(histogram, drops_tail, "1: counts[48] is 0, expected 1");
MUST_REJECT(histogram, byte_overflows, "65537, all equal: counts[255] is 1, expected 65537");

void tiles_alone(const RadixSort<uint32_t>& p, cudaStream_t stream) {
  tiles_alone_kernel<<<blocks_of(p.n, kTile), kThreads, 0, stream>>>(p.in, p.out, p.n);
  CUDA_CHECK_LAUNCH();
}
void signed_digit(const RadixSort<uint32_t>& p, cudaStream_t stream) {
  signed_digit_kernel<<<blocks_of(p.n, kTile), kThreads, 0, stream>>>(p.in, p.out, p.n);
  CUDA_CHECK_LAUNCH();
}
void seven_bits(const RadixSort<uint32_t>& p, cudaStream_t stream) {
  seven_bits_kernel<<<blocks_of(p.n, kTile), kThreads, 0, stream>>>(p.in, p.out, p.n);
  CUDA_CHECK_LAUNCH();
}
void highest_first(const RadixSort<uint32_t>& p, cudaStream_t stream) {
  highest_first_kernel<<<blocks_of(p.n, kTile), kThreads, 0, stream>>>(p.in, p.out, p.n);
  CUDA_CHECK_LAUNCH();
}
void unstable(const RadixSort<uint32_t>& p, cudaStream_t stream) {
  unstable_kernel<<<blocks_of(p.n, kTile), kThreads, 0, stream>>>(p.in, p.out, p.n);
  CUDA_CHECK_LAUNCH();
}
void forgets_last(const RadixSort<uint32_t>& p, cudaStream_t stream) {
  forgets_last_kernel<<<blocks_of(p.n, kTile), kThreads, 0, stream>>>(p.in, p.out, p.n);
  CUDA_CHECK_LAUNCH();
}
MUST_REJECT(radix_sort, tiles_alone, "4097: out[67] is");
MUST_REJECT(radix_sort, signed_digit, "33: out[0] is 2152445218, expected 248779387");
MUST_REJECT(radix_sort, seven_bits, "33: out[0] is 2158574733, expected 248779387");
MUST_REJECT(radix_sort, highest_first, "33: out[0] is 1352303629, expected 248779387");
MUST_REJECT(radix_sort, unstable, "out[");
MUST_REJECT(radix_sort, forgets_last, "1: out[0] is 2779096485");

void keeps_equal(const Compaction<float>& p, cudaStream_t stream) {
  clear(p, stream);
  keeps_equal_kernel<<<blocks_of(p.n, kThreads), kThreads, 0, stream>>>(p.x, p.y, p.count, p.n, p.threshold);
  CUDA_CHECK_LAUNCH();
}
void keeps_nan(const Compaction<float>& p, cudaStream_t stream) {
  clear(p, stream);
  keeps_nan_kernel<<<blocks_of(p.n, kThreads), kThreads, 0, stream>>>(p.x, p.y, p.count, p.n, p.threshold);
  CUDA_CHECK_LAUNCH();
}
void same_place(const Compaction<float>& p, cudaStream_t stream) {
  clear(p, stream);
  same_place_kernel<<<blocks_of(p.n, kThreads), kThreads, 0, stream>>>(p.x, p.y, p.count, p.n, p.threshold);
  CUDA_CHECK_LAUNCH();
}
void counts_past_end(const Compaction<float>& p, cudaStream_t stream) {
  clear(p, stream);
  counts_past_end_kernel<<<blocks_of(p.n, kThreads), kThreads, 0, stream>>>(p.x, p.y, p.count, p.n,
                                                                            p.threshold);
  CUDA_CHECK_LAUNCH();
}
void lanes_reversed(const Compaction<float>& p, cudaStream_t stream) {
  lanes_reversed_kernel<<<1, days::kWarpSize, 0, stream>>>(p.x, p.y, p.count, p.n, p.threshold);
  CUDA_CHECK_LAUNCH();
}
void looks_back_once(const Compaction<float>& p, cudaStream_t stream) {
  looks_back_once_kernel<<<1, days::kWarpSize, 0, stream>>>(p.x, p.y, p.count, p.n, p.threshold);
  CUDA_CHECK_LAUNCH();
}
MUST_REJECT(compaction, keeps_equal, "none kept: count is 1, expected 0");
MUST_REJECT(compaction, keeps_nan, "special values: count is 17, expected 13");
MUST_REJECT(compaction, same_place, "of x is missing in y|simt-race-global");
MUST_REJECT(compaction, counts_past_end, "1: count is 256, expected 1");
MUST_REJECT(compaction_stable, lanes_reversed, "31: y[0] is");
MUST_REJECT(compaction_stable, looks_back_once, "1000: count is|simt-race-global");

void equals_once(const TopK<float>& p, cudaStream_t stream) {
  equals_once_kernel<<<blocks_of(p.rows, kThreads), kThreads, 0, stream>>>(p.x, p.values, p.indices, p.rows,
                                                                           p.cols, p.k);
  CUDA_CHECK_LAUNCH();
}
void index_twice(const TopK<float>& p, cudaStream_t stream) {
  index_twice_kernel<<<blocks_of(p.rows, kThreads), kThreads, 0, stream>>>(p.x, p.values, p.indices, p.rows,
                                                                           p.cols, p.k);
  CUDA_CHECK_LAUNCH();
}
void raw_bits(const TopK<float>& p, cudaStream_t stream) {
  raw_bits_kernel<<<blocks_of(p.rows, kThreads), kThreads, 0, stream>>>(p.x, p.values, p.indices, p.rows,
                                                                        p.cols, p.k);
  CUDA_CHECK_LAUNCH();
}
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
void flat_index(const TopK<float>& p, cudaStream_t stream) {
  flat_index_kernel<<<blocks_of(p.rows, kThreads), kThreads, 0, stream>>>(p.x, p.values, p.indices, p.rows,
                                                                          p.cols, p.k);
  CUDA_CHECK_LAUNCH();
}
void ascending(const TopK<float>& p, cudaStream_t stream) {
  ascending_kernel<<<blocks_of(p.rows, kThreads), kThreads, 0, stream>>>(p.x, p.values, p.indices, p.rows,
                                                                         p.cols, p.k);
  CUDA_CHECK_LAUNCH();
}
MUST_REJECT(top_k, equals_once, "which the row has taken before; values: right");
MUST_REJECT(top_k, index_twice, "which the row has taken before; values: right");
MUST_REJECT(top_k, raw_bits, "3 x 5 x 5: values[0,0] is -0.0341972746");
MUST_REJECT(top_k, nan_last, "special values: values[0,0] is 1, expected nan");
MUST_REJECT(top_k, one_digit, "3 x 5 x 5: values[0,0] is");
MUST_REJECT(top_k, flat_index, "and a row has columns 0 to 4; values: right");
MUST_REJECT(top_k, ascending, "3 x 5 x 5: values[0,0] is -0.0341972746");

}  // namespace day62
