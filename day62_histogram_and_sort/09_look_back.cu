// SPDX-License-Identifier: MIT
// One kernel, one read ("decoupled look-back": Merrill and Garland, "Single-pass Parallel Prefix Scan with
// Decoupled Look-back", 2016). A tile publishes what it keeps at once, then adds up what the tiles before it
// have published, and publishes that sum, too: who comes later need not look further back. A tile's number is
// a ticket, so that all tiles before it have started, and waiting for them ends. Bound by: that waiting.
// Teaches: volatile, __ffs.
#include "common/check.h"
#include "common/reduce.cuh"
#include "common/util.h"
#include "day62_histogram_and_sort/compaction.h"
#include "day62_histogram_and_sort/kept.cuh"

namespace day62 {
namespace {

constexpr int kThreads = 256;
using Tile = Kept<kThreads, 16>;

// What a tile publishes is one word of 64 bits, so that nobody sees the state without its number.
using Status = unsigned long long;
constexpr Status kOwn = Status{1} << 32;   // the number is what this tile keeps
constexpr Status kUpTo = Status{2} << 32;  // the number is what this tile and all before it keep

struct Scratch {
  uint32_t ticket;
  uint32_t unused;
  // Status of each tile follows, 0 before: nothing published.
};

// What the tiles before `tile` keep. All lanes of one warp call it. Lane i looks at the i-th tile before; 32
// by 32 until one has published the sum up to itself.
__device__ inline uint32_t look_back(const volatile Status* status, int64_t tile) {
  const int lane = threadIdx.x % days::kWarpSize;
  uint32_t sum = 0;
  for (int64_t end = tile;; end -= days::kWarpSize) {
    const int64_t before = end - 1 - lane;
    Status seen = kUpTo;  // before the first tile: nothing, and no need to look further
    if (before >= 0) {
      do {
        seen = status[before];
      } while (seen == 0);  // volatile: each turn loads anew
    }
    // The nearest tile with a sum, and those between it and this one, count.
    const unsigned sums = __ballot_sync(days::kFullWarp, seen >= kUpTo);
    const int nearest = sums == 0 ? days::kWarpSize - 1 : __ffs(static_cast<int>(sums)) - 1;
    sum += days::warp_reduce(lane <= nearest ? static_cast<uint32_t>(seen) : 0, days::Sum{});
    if (sums != 0) return sum;
  }
}

__global__ void __launch_bounds__(kThreads) look_back_kernel(const float* x,           // (n)
                                                             float* y,                 // (n)
                                                             uint32_t* count,          // (1)
                                                             uint32_t* ticket,         // (1), 0 before
                                                             volatile Status* status,  // (tiles), 0 before
                                                             int64_t n, float threshold) {
  __shared__ uint32_t mine, first;
  if (threadIdx.x == 0) mine = atomicAdd(ticket, 1u);
  __syncthreads();
  const int64_t number = mine;
  const Tile tile(x, number * Tile::kTile, n, threshold);
  if (threadIdx.x < days::kWarpSize) {
    const uint32_t own = static_cast<uint32_t>(tile.total);
    if (threadIdx.x == 0 && number > 0) status[number] = kOwn | own;
    const uint32_t before = look_back(status, number);
    if (threadIdx.x == 0) {
      status[number] = kUpTo | (before + own);
      first = before;
      if ((number + 1) * Tile::kTile >= n) *count = before + own;  // the last tile
    }
  }
  __syncthreads();
  tile.write(y, first);
}

}  // namespace

size_t look_back_workspace(const Compaction<float>& p) {
  return sizeof(Scratch) + static_cast<size_t>(days::ceil_div(p.n, Tile::kTile)) * sizeof(Status);
}

void compaction_look_back(const Compaction<float>& p, cudaStream_t stream) {
  require_problem(p, "look_back");
  const size_t bytes = look_back_workspace(p);
  days::require(p.workspace.bytes >= bytes, "look_back: needs a workspace of", bytes, " bytes, not",
                p.workspace.bytes);
  Scratch* scratch = static_cast<Scratch*>(p.workspace.data);
  Status* status = reinterpret_cast<Status*>(scratch + 1);
  const int64_t tiles = days::ceil_div(p.n, Tile::kTile);
  CUDA_CHECK(cudaMemsetAsync(scratch, 0, bytes, stream));
  look_back_kernel<<<static_cast<unsigned>(tiles), kThreads, 0, stream>>>(p.x, p.y, p.count, &scratch->ticket,
                                                                          status, p.n, p.threshold);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day62
