// SPDX-License-Identifier: MIT
//
// Cooperative groups: the thread block, tiles of up to 32 lanes, coalesced lanes, partitions, the grid, the
// cluster. reduce, scan and memcpy_async stand in headers of their own, as in CUDA.
#ifndef _COOPERATIVE_GROUPS_H_
#define _COOPERATIVE_GROUPS_H_

#include "cuda_runtime.h"
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

// Collectives of a set of lanes of one warp. Ranks count the mask's lanes from the lowest.
class Lanes {
 public:
  explicit Lanes(unsigned int mask) : mask_(mask) {}

  unsigned long long size() const { return static_cast<unsigned>(__builtin_popcount(mask_)); }
  unsigned long long num_threads() const { return size(); }
  unsigned long long thread_rank() const { return rank_in(mask_); }
  void sync(SIMT_SITE) const { simt::sync_warp(mask_, site); }

  template <class T>
  T shfl(T value, unsigned int rank, SIMT_SITE) const {
    return simt::shuffle(mask_, value, lane_of_rank(mask_, rank % static_cast<unsigned>(size())), site);
  }
  template <class T>
  T shfl_up(T value, unsigned int delta, SIMT_SITE) const {
    const auto rank = static_cast<unsigned>(thread_rank());
    return simt::shuffle(mask_, value, lane_of_rank(mask_, rank < delta ? rank : rank - delta), site);
  }
  template <class T>
  T shfl_down(T value, unsigned int delta, SIMT_SITE) const {
    const auto rank = static_cast<unsigned>(thread_rank());
    return simt::shuffle(mask_, value, lane_of_rank(mask_, rank + delta >= size() ? rank : rank + delta),
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

  unsigned int simt_mask() const { return mask_; }

 protected:
  unsigned int mask_;
};

}  // namespace details

// ---- lanes that happen to run together ----

class coalesced_group : public details::Lanes {
 public:
  explicit coalesced_group(unsigned int mask, unsigned int meta_rank = 0, unsigned int meta_size = 1)
      : Lanes(mask), meta_rank_(meta_rank), meta_size_(meta_size) {}
  unsigned long long meta_group_rank() const { return meta_rank_; }
  unsigned long long meta_group_size() const { return meta_size_; }

 private:
  unsigned int meta_rank_, meta_size_;
};

inline coalesced_group coalesced_threads(SIMT_SITE) {
  return coalesced_group(simt::active_mask(site));
}

// ---- the thread block ----

class thread_block {
 public:
  static void sync(SIMT_SITE) { simt::sync_threads(site); }
  static unsigned int thread_rank() { return details::block_rank_of_thread(); }
  static unsigned int size() { return details::threads_of_block(); }
  static unsigned int num_threads() { return size(); }
  static dim3 group_index() { return dim3(blockIdx); }
  static dim3 thread_index() { return dim3(threadIdx); }
  static dim3 group_dim() { return blockDim; }
  static dim3 dim_threads() { return blockDim; }
  // Split barriers wait already at the arrival: stricter than asked, never wrong.
  struct arrival_token {};
  arrival_token barrier_arrive(SIMT_SITE) const {
    sync(site);
    return {};
  }
  void barrier_wait(arrival_token&&) const {}
};

inline thread_block this_thread_block() {
  return thread_block();
}

// ---- tiles ----

template <unsigned int kSize, class Parent = void>
class thread_block_tile : public details::Lanes {
  static_assert(kSize >= 1 && kSize <= 32 && (kSize & (kSize - 1)) == 0,
                "simt: tiles have 1, 2, 4, 8, 16 or 32 threads; larger ones have no CPU version");

 public:
  thread_block_tile() : Lanes(tile_mask()) {}
  template <class Other>
  thread_block_tile(const thread_block_tile<kSize, Other>&) : Lanes(tile_mask()) {}

  static constexpr unsigned int size() { return kSize; }
  static constexpr unsigned int num_threads() { return kSize; }
  static unsigned int thread_rank() { return simt::lane_id() % kSize; }
  static unsigned int meta_group_rank() { return details::block_rank_of_thread() / kSize; }
  static unsigned int meta_group_size() { return (details::threads_of_block() + kSize - 1) / kSize; }

  template <class T>
  T shfl_xor(T value, unsigned int lane_mask, SIMT_SITE) const {
    return simt::shuffle(mask_, value, static_cast<int>(simt::lane_id() ^ (lane_mask % kSize)), site);
  }

 private:
  static unsigned int tile_mask() {
    const unsigned int ones = kSize == 32 ? 0xffffffffu : (1u << (kSize % 32)) - 1;
    return ones << (simt::lane_id() / kSize * kSize);
  }
};

// ---- any of these, its kind known at run time only ----

class thread_group {
 public:
  thread_group(const thread_block&) : is_block_(true) {}
  thread_group(const details::Lanes& lanes) : mask_(lanes.simt_mask()) {}

  void sync(SIMT_SITE) const {
    if (is_block_) {
      simt::sync_threads(site);
    } else {
      simt::sync_warp(mask_, site);
    }
  }
  unsigned long long size() const {
    return is_block_ ? details::threads_of_block() : static_cast<unsigned>(__builtin_popcount(mask_));
  }
  unsigned long long num_threads() const { return size(); }
  unsigned long long thread_rank() const {
    return is_block_ ? details::block_rank_of_thread() : details::rank_in(mask_);
  }

 private:
  bool is_block_ = false;
  unsigned int mask_ = 0;
};

template <unsigned int kSize, class Parent>
inline thread_block_tile<kSize, Parent> tiled_partition(const Parent&) {
  return {};
}
inline thread_group tiled_partition(const thread_block&, unsigned int size) {
  const unsigned int ones = size >= 32 ? 0xffffffffu : (1u << size) - 1;
  return thread_group(details::Lanes(ones << (simt::lane_id() / size * size)));
}

// The lanes of a group that agree on a label, or on a predicate.
template <class Label>
inline coalesced_group labeled_partition(const details::Lanes& group, Label label, SIMT_SITE) {
  const unsigned int mine = simt::match_any(group.simt_mask(), label, site);
  // Partitions are numbered by their lowest lane: those lanes are the heads.
  const bool head = simt::lane_id() == static_cast<unsigned>(__builtin_ctz(mine));
  const unsigned int heads = simt::ballot(group.simt_mask(), head, site);
  const auto count = static_cast<unsigned>(__builtin_popcount(heads));
  const auto rank = static_cast<unsigned>(__builtin_popcount(heads & ((1u << __builtin_ctz(mine)) - 1)));
  return coalesced_group(mine, rank, count);
}
inline coalesced_group binary_partition(const details::Lanes& group, bool predicate, SIMT_SITE) {
  const unsigned int yes = simt::ballot(group.simt_mask(), predicate, site);
  const unsigned int no = simt::ballot(group.simt_mask(), !predicate, site);
  return coalesced_group(predicate ? yes : no, predicate ? 1 : 0, 2);
}

// ---- the grid and the cluster ----

class grid_group {
 public:
  static bool is_valid() { return simt::is_cooperative(); }
  static void sync(SIMT_SITE) { simt::sync_grid(site); }
  static unsigned long long size() { return num_blocks() * details::threads_of_block(); }
  static unsigned long long num_threads() { return size(); }
  static unsigned long long thread_rank() {
    return block_rank() * details::threads_of_block() + details::block_rank_of_thread();
  }
  static unsigned long long num_blocks() { return 1ull * gridDim.x * gridDim.y * gridDim.z; }
  static unsigned long long block_rank() {
    return blockIdx.x + 1ull * gridDim.x * (blockIdx.y + 1ull * gridDim.y * blockIdx.z);
  }
  static dim3 group_dim() { return gridDim; }
  static dim3 dim_blocks() { return gridDim; }
  static dim3 block_index() { return dim3(blockIdx); }
};

inline grid_group this_grid() {
  return grid_group();
}

class cluster_group {
 public:
  static void sync(SIMT_SITE) { simt::sync_cluster(site); }
  // As for a block: the arrival waits.
  static void barrier_arrive(SIMT_SITE) { simt::sync_cluster(site); }
  static void barrier_wait() {}
  static dim3 dim_blocks() { return simt::cluster_dim(); }
  static unsigned int num_blocks() {
    const dim3 d = simt::cluster_dim();
    return d.x * d.y * d.z;
  }
  static unsigned int block_rank() { return simt::cluster_rank(); }
  static unsigned int num_threads() { return num_blocks() * details::threads_of_block(); }
  static unsigned int size() { return num_threads(); }
  static unsigned int thread_rank() {
    return block_rank() * details::threads_of_block() + details::block_rank_of_thread();
  }
  // The same variable in the shared memory of another block of the cluster.
  template <class T>
  static T* map_shared_rank(T* address, int rank) {
    return static_cast<T*>(simt::map_shared(address, static_cast<unsigned int>(rank)));
  }
};

inline cluster_group this_cluster() {
  return cluster_group();
}

// ---- free functions ----

template <class Group>
inline void sync(const Group& group, SIMT_SITE) {
  group.sync(site);
}
template <class Group>
inline unsigned long long thread_rank(const Group& group) {
  return group.thread_rank();
}
template <class Group>
inline unsigned long long group_size(const Group& group) {
  return group.size();
}
// One thread of the group calls f.
template <class Group, class F>
inline void invoke_one(const Group& group, F&& f) {
  if (group.thread_rank() == 0) f();
}

template <class T>
struct plus {
  T operator()(T a, T b) const { return a + b; }
};
template <class T>
struct less {
  T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T>
struct greater {
  T operator()(T a, T b) const { return a < b ? b : a; }
};
template <class T>
struct bit_and {
  T operator()(T a, T b) const { return a & b; }
};
template <class T>
struct bit_or {
  T operator()(T a, T b) const { return a | b; }
};
template <class T>
struct bit_xor {
  T operator()(T a, T b) const { return a ^ b; }
};

}  // namespace cooperative_groups

#undef SIMT_SITE

#endif
