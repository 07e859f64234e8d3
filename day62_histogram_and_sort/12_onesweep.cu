// SPDX-License-Identifier: MIT
// Onesweep (Adinolfi, Merrill and Garland, 2022): one read counts all four digits; a pass then reads and
// writes each key once, and learns where its tile's digits begin by looking back at the tiles before, one
// thread a digit. Since staged: 9 times n keys moved instead of 12; and a digit's lanes are found with eight
// ballots, one a bit, which take the same time whatever the keys are, where __match_any_sync is said to take a
// step for each different digit. Bound by: instructions, 100 a key and pass; and, it seems, looking back.
#include <algorithm>

#include "common/check.h"
#include "common/reduce.cuh"
#include "common/scan.cuh"
#include "common/util.h"
#include "day62_histogram_and_sort/radix_sort.h"

namespace day62 {
namespace {

constexpr int kThreads = 384, kItems = 19;
constexpr int kWarps = kThreads / days::kWarpSize;
constexpr int kTile = kThreads * kItems;
static_assert(kThreads >= kDigits, "a thread looks after one digit");
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 750
[[maybe_unused]] constexpr int kResidentBlocks = 2;  // a multiprocessor of a T4 holds 1,024 threads
#else
[[maybe_unused]] constexpr int kResidentBlocks = 3;
#endif

constexpr int kCountThreads = 512, kCountItems = 16;  // of the kernel that counts

// What a tile publishes of a digit: its state in the upper 2 bits, a number below. Three states take turns, so
// that the words need no clearing between two passes: at the end of a pass all are in its state "up to here",
// and for the next pass that means "nothing yet".
constexpr int kNumberBits = 30;
constexpr uint32_t kNumber = (uint32_t{1} << kNumberBits) - 1;
static_assert(kMaxSorted <= kNumber);
struct States {
  uint32_t nothing, up_to_here, own;  // own: the number is this tile's alone
  DAYS_HOST_DEVICE explicit States(int pass)
      : nothing(static_cast<uint32_t>(pass % 3) << kNumberBits),
        up_to_here(static_cast<uint32_t>((pass + 1) % 3) << kNumberBits),
        own(static_cast<uint32_t>((pass + 2) % 3) << kNumberBits) {}
};

// Cleared before the first pass, and followed by the states, (tiles, kDigits).
struct Scratch {
  uint32_t digits[kPasses][kDigits];  // how often each occurs, then how many keys have smaller ones
  uint32_t tickets[kPasses];
};

__global__ void __launch_bounds__(kCountThreads) count_kernel(const uint32_t* in,  // (n)
                                                              Scratch* scratch, int64_t n) {
  __shared__ uint32_t mine[kPasses][kDigits];
  for (int i = threadIdx.x; i < kPasses * kDigits; i += kCountThreads) mine[i / kDigits][i % kDigits] = 0;
  __syncthreads();
  const int64_t step = int64_t{gridDim.x} * (kCountThreads * kCountItems);
  for (int64_t first = int64_t{blockIdx.x} * (kCountThreads * kCountItems) + threadIdx.x; first < n;
       first += step) {
    uint32_t keys[kCountItems];
#pragma unroll
    for (int i = 0; i < kCountItems; ++i) {
      const int64_t at = first + i * kCountThreads;
      keys[i] = at < n ? in[at] : 0;
    }
#pragma unroll
    for (int i = 0; i < kCountItems; ++i) {
      if (first + i * kCountThreads >= n) break;
#pragma unroll
      for (int pass = 0; pass < kPasses; ++pass) atomicAdd(&mine[pass][digit_of(keys[i], pass)], 1u);
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < kPasses * kDigits; i += kCountThreads) {
    const uint32_t here = mine[i / kDigits][i % kDigits];
    if (here != 0) atomicAdd(&scratch->digits[i / kDigits][i % kDigits], here);
  }
}

__global__ void __launch_bounds__(kDigits) scan_kernel(Scratch* scratch) {
  uint32_t* digits = scratch->digits[blockIdx.x];
  uint32_t all;
  digits[threadIdx.x] = days::block_exclusive_scan<kDigits>(digits[threadIdx.x], all);
}

struct Shared {
  uint32_t counters[kWarps][kDigits];
  uint32_t shift[kDigits];
  uint32_t keys[kTile];
  uint32_t ticket;
};

// The lanes whose digit is this lane's. Each bit of the digit halves the choice.
__device__ inline unsigned lanes_with(uint32_t digit) {
  unsigned peers = days::kFullWarp;
#pragma unroll
  for (int bit = 0; bit < kDigitBits; ++bit) {
    const bool set = digit >> bit & 1;
    const unsigned ones = __ballot_sync(days::kFullWarp, set);
    peers &= set ? ones : ~ones;
  }
  return peers;
}

// Where this tile's keys with digit threadIdx.x begin in `out`; publishes the sum with its own `count`.
__device__ inline uint32_t look_back(volatile uint32_t* states,  // (tiles, kDigits)
                                     uint32_t smaller, uint32_t count, uint32_t tile, const States& state) {
  uint32_t before = tile == 0 ? smaller : 0;
  for (int64_t other = int64_t{tile} - 1; other >= 0; --other) {
    uint32_t seen;
    do {
      seen = states[other * kDigits + threadIdx.x];
    } while ((seen & ~kNumber) == state.nothing);  // volatile: each turn loads anew
    before += seen & kNumber;
    if ((seen & ~kNumber) == state.up_to_here) break;
  }
  states[int64_t{tile} * kDigits + threadIdx.x] = state.up_to_here | (before + count);
  return before;
}

__global__ void __launch_bounds__(kThreads, kResidentBlocks)
    onesweep_kernel(const uint32_t* in,         // (n)
                    uint32_t* out,              // (n)
                    Scratch* scratch,           //
                    volatile uint32_t* states,  // (tiles, kDigits)
                    int64_t n, int pass) {
  __shared__ Shared s;
  const int lane = threadIdx.x % days::kWarpSize, warp = threadIdx.x / days::kWarpSize;
  const States state(pass);
  if (threadIdx.x == 0) s.ticket = atomicAdd(&scratch->tickets[pass], 1u);
  for (int i = threadIdx.x; i < kWarps * kDigits; i += kThreads) s.counters[i / kDigits][i % kDigits] = 0;
  __syncthreads();
  const uint32_t tile = s.ticket;

  uint32_t keys[kItems];
  const int64_t first = int64_t{tile} * kTile + warp * (kItems * days::kWarpSize) + lane;
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    const int64_t at = first + i * days::kWarpSize;
    keys[i] = at < n ? in[at] : ~0u;  // past the end: the largest key, behind all others
  }

  // Counted first and ranked later: others wait for the counts.
#pragma unroll
  for (int i = 0; i < kItems; ++i) atomicAdd(&s.counters[warp][digit_of(keys[i], pass)], 1u);
  __syncthreads();
  uint32_t count = 0, all;
  if (threadIdx.x < kDigits) {
    for (int w = 0; w < kWarps; ++w) count += s.counters[w][threadIdx.x];
    if (tile > 0) states[int64_t{tile} * kDigits + threadIdx.x] = state.own | count;
  }
  const uint32_t place = days::block_exclusive_scan<kThreads>(count, all);
  if (threadIdx.x < kDigits) {  // a counter becomes where the warp's keys begin in the sorted tile
    uint32_t start = place;
    for (int w = 0; w < kWarps; ++w) {
      const uint32_t here = s.counters[w][threadIdx.x];
      s.counters[w][threadIdx.x] = start;
      start += here;
    }
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    const uint32_t digit = digit_of(keys[i], pass);
    const unsigned peers = lanes_with(digit);
    const int leader = __ffs(static_cast<int>(peers)) - 1;
    uint32_t before = 0;
    if (lane == leader) before = atomicAdd(&s.counters[warp][digit], static_cast<uint32_t>(__popc(peers)));
    before = __shfl_sync(days::kFullWarp, before, leader);
    s.keys[before + __popc(peers & ((1u << lane) - 1))] = keys[i];
  }
  if (threadIdx.x < kDigits) {
    const uint32_t smaller = scratch->digits[pass][threadIdx.x];
    s.shift[threadIdx.x] = look_back(states, smaller, count, tile, state) - place;
  }
  __syncthreads();

  const int64_t left = n - int64_t{tile} * kTile;  // keys from here to the end
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    const uint32_t place_in_tile = i * kThreads + threadIdx.x, key = s.keys[place_in_tile];
    if (place_in_tile < left) out[s.shift[digit_of(key, pass)] + place_in_tile] = key;
  }
}

}  // namespace

size_t onesweep_workspace(const RadixSort<uint32_t>& p) {
  const size_t tiles = static_cast<size_t>(days::ceil_div(p.n, kTile));
  return sizeof(Scratch) + (tiles * kDigits + static_cast<size_t>(p.n)) * sizeof(uint32_t);
}

void radix_sort_onesweep(const RadixSort<uint32_t>& p, cudaStream_t stream) {
  require_problem(p, onesweep_workspace(p), "onesweep");
  const int64_t tiles = days::ceil_div(p.n, kTile);
  Scratch* scratch = static_cast<Scratch*>(p.workspace.data);
  uint32_t* states = reinterpret_cast<uint32_t*>(scratch + 1);
  uint32_t* keys = states + tiles * kDigits;
  CUDA_CHECK(cudaMemsetAsync(scratch, 0, sizeof(Scratch) + tiles * kDigits * sizeof(uint32_t), stream));
  const int64_t count_blocks = std::min(days::ceil_div(p.n, int64_t{kCountThreads} * kCountItems),
                                        days::resident_threads() / kCountThreads);
  count_kernel<<<static_cast<unsigned>(count_blocks), kCountThreads, 0, stream>>>(p.in, scratch, p.n);
  CUDA_CHECK_LAUNCH();
  scan_kernel<<<kPasses, kDigits, 0, stream>>>(scratch);
  CUDA_CHECK_LAUNCH();
  const uint32_t* from = p.in;
  for (int pass = 0; pass < kPasses; ++pass) {
    uint32_t* to = pass % 2 == 0 ? keys : p.out;
    onesweep_kernel<<<static_cast<unsigned>(tiles), kThreads, 0, stream>>>(from, to, scratch, states, p.n,
                                                                           pass);
    CUDA_CHECK_LAUNCH();
    from = to;
  }
}

}  // namespace day62
