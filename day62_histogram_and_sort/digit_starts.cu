// SPDX-License-Identifier: MIT
// The kernels of digit_starts.cuh: the histogram of each tile, as the rung block counts bytes, and the scan of them.
#include "day62_histogram_and_sort/digit_starts.cuh"

#include "common/sort.cuh"

namespace day62 {
namespace {

struct Keys {
  const uint32_t* in;  // (n)
  __device__ uint32_t operator()(int64_t i) const { return in[i]; }
};
struct DigitOfPass {
  int pass;
  __device__ uint32_t operator()(uint32_t key) const { return digit_of(key, pass); }
};

}  // namespace

void launch_digit_starts(const uint32_t* in, int64_t n, int pass, const TileScratch& s, cudaStream_t stream) {
  days::count_digits<kTileThreads, kTileItems, kDigits>(Keys{in}, DigitOfPass{pass}, n, s.tiles, s.counts,
                                                        s.totals, stream);
}

size_t tiles_workspace(const RadixSort<uint32_t>& p) {
  const size_t tiles = static_cast<size_t>(days::ceil_div(p.n, kTileKeys));
  return (static_cast<size_t>(p.n) + kDigits + kDigits * tiles) * sizeof(uint32_t);
}

}  // namespace day62
