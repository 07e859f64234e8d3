// SPDX-License-Identifier: MIT
//
// What the threads of a group can do together, for lanes of one warp and for tiles of several. Included by
// cooperative_groups.h.
#pragma once

#include "simt/group_collectives.h"
#include "simt/runtime.h"

#define SIMT_SITE simt::Site site = simt::here()

namespace cooperative_groups {

namespace details {

inline unsigned int block_rank_of_thread() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}
inline unsigned int threads_of_block() {
  return blockDim.x * blockDim.y * blockDim.z;
}
inline unsigned int rank_in(unsigned int mask) {
  return static_cast<unsigned int>(__builtin_popcount(mask & ((1u << simt::lane_id()) - 1)));
}
// The lane that has rank `rank` in `mask`.
inline int lane_of_rank(unsigned int mask, unsigned int rank) {
  for (; rank > 0; --rank) mask &= mask - 1;
  return __builtin_ctz(mask);
}
// The bits of `lanes` that belong to `mask`, packed in rank order.
inline unsigned int pack(unsigned int lanes, unsigned int mask) {
  unsigned int packed = 0;
  for (unsigned int rank = 0; mask; mask &= mask - 1, ++rank)
    packed |= (lanes >> __builtin_ctz(mask) & 1u) << rank;
  return packed;
}
// The lanes of the tile of `size` that holds this thread, as far as the block has them.
inline unsigned int tile_mask(unsigned int size) {
  const unsigned int first = block_rank_of_thread() & ~(size - 1), left = threads_of_block() - first;
  const unsigned int lanes = left < size ? left : size;
  return (~0u >> (32 - lanes)) << (simt::lane_id() & ~(size - 1));
}

// Collectives of a set of lanes of one warp. Ranks count the mask's lanes from the lowest.
class Lanes {
 public:
  explicit Lanes(unsigned int mask, unsigned int meta_rank = 0, unsigned int meta_size = 1)
      : mask_(mask), meta_rank_(meta_rank), meta_size_(meta_size) {}

  unsigned int size() const { return static_cast<unsigned>(__builtin_popcount(mask_)); }
  unsigned int num_threads() const { return size(); }
  unsigned int thread_rank() const { return rank_in(mask_); }
  unsigned int meta_group_rank() const { return meta_rank_; }
  unsigned int meta_group_size() const { return meta_size_; }
  void sync(SIMT_SITE) const { simt::sync_warp(mask_, site); }

  template <class T>
  T shfl(T value, unsigned int rank, SIMT_SITE) const {
    return simt::shuffle(mask_, value, lane_of_rank(mask_, rank % size()), site);
  }
  template <class T>
  T shfl_up(T value, unsigned int delta, SIMT_SITE) const {
    const unsigned int rank = thread_rank();
    return simt::shuffle(mask_, value, lane_of_rank(mask_, rank < delta ? rank : rank - delta), site);
  }
  template <class T>
  T shfl_down(T value, unsigned int delta, SIMT_SITE) const {
    const unsigned int rank = thread_rank();
    return simt::shuffle(mask_, value, lane_of_rank(mask_, delta >= size() - rank ? rank : rank + delta),
                         site);
  }
  int any(int predicate, SIMT_SITE) const { return simt::ballot(mask_, predicate != 0, site) != 0; }
  int all(int predicate, SIMT_SITE) const { return simt::ballot(mask_, predicate == 0, site) == 0; }
  unsigned int ballot(int predicate, SIMT_SITE) const {
    return pack(simt::ballot(mask_, predicate != 0, site), mask_);
  }
  template <class T>
  unsigned int match_any(T value, SIMT_SITE) const {
    return pack(simt::match_any(mask_, value, site), mask_);
  }
  template <class T>
  unsigned int match_all(T value, int& predicate, SIMT_SITE) const {
    const unsigned int equal = simt::match_all(mask_, value, site);
    predicate = equal != 0;
    return pack(equal, mask_);
  }

  // For reduce and the scans.
  static constexpr unsigned int kWarps = 1;
  template <class T, class F>
  T together(const T& value, const F& transform, simt::Site site) const {
    return simt::lanes_together(mask_, value, transform, site);
  }
  unsigned int simt_mask() const { return mask_; }

 protected:
  unsigned int mask_, meta_rank_, meta_size_;
};

// Collectives of a tile of several warps.
template <unsigned int kSize>
class Warps {
  static_assert(kSize <= 1024, "a block has at most 1,024 threads");

 public:
  Warps(unsigned int meta_rank, unsigned int meta_size) : meta_rank_(meta_rank), meta_size_(meta_size) {}

  unsigned int meta_group_rank() const { return meta_rank_; }
  unsigned int meta_group_size() const { return meta_size_; }
  void sync(SIMT_SITE) const { simt::meet_tile(kSize, nullptr, nullptr, nullptr, site); }
  template <class T>
  T shfl(T value, unsigned int rank, SIMT_SITE) const {
    struct Request {
      T value, answer;
      unsigned int rank;
    };
    const auto answer = [](Request* requests, unsigned int count) {
      for (unsigned int i = 0; i < count; ++i)
        requests[i].answer = requests[requests[i].rank % kSize % count].value;
    };
    return together(Request{value, value, rank}, answer, site).answer;
  }
  int any(int predicate, SIMT_SITE) const { return count(predicate != 0, site) > 0; }
  int all(int predicate, SIMT_SITE) const { return count(predicate == 0, site) == 0; }

  static constexpr unsigned int kWarps = kSize / 32;
  template <class T, class F>
  T together(const T& value, const F& transform, simt::Site site) const {
    return simt::tile_together<kSize>(value, transform, site);
  }

 private:
  int count(bool mine, simt::Site site) const {
    const auto sum = [](int* values, unsigned int n) {
      int total = 0;
      for (unsigned int i = 0; i < n; ++i) total += values[i];
      for (unsigned int i = 0; i < n; ++i) values[i] = total;
    };
    return together(mine ? 1 : 0, sum, site);
  }
  unsigned int meta_rank_, meta_size_;
};

}  // namespace details

}  // namespace cooperative_groups

#undef SIMT_SITE
