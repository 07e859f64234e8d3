// SPDX-License-Identifier: MIT
//
// An order in which a kernel's threads or a stream's operations run that is different for each seed, and the same again for
// the same seed.
#pragma once

#include <cstdint>

namespace simt {

// A bijection of 0 .. n-1 that looks random: a small Feistel network over the next power of four, walked
// along its cycle until it falls inside. Here, for a loop over a block's threads.
class Permutation {
 public:
  Permutation(std::uint64_t n, std::uint64_t seed) : n_(n), seed_((seed + 1) * 0xbf58476d1ce4e5b9u) {
    while ((std::uint64_t{1} << 2 * half_bits_) < n) ++half_bits_;
  }
  std::uint64_t operator()(std::uint64_t i) const {
    const std::uint64_t half_mask = (std::uint64_t{1} << half_bits_) - 1;
    do {
      std::uint64_t left = i >> half_bits_, right = i & half_mask;
      for (std::uint64_t round = 0; round < 4; ++round) {
        std::uint64_t h = (right + 1) * 0x9e3779b97f4a7c15u + seed_ + round * 0x94d049bb133111ebu;
        h = (h ^ h >> 31) * 0xd6e8feb86659fd93u;
        const std::uint64_t next = left ^ (h >> 40 & half_mask);
        left = right;
        right = next;
      }
      i = left << half_bits_ | right;
    } while (i >= n_);
    return i;
  }

 private:
  std::uint64_t n_, seed_;
  unsigned half_bits_ = 1;
};

}  // namespace simt
