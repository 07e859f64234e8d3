// SPDX-License-Identifier: MIT
//
// Cooperative groups: the thread block, tiles of any size, coalesced lanes, partitions; the grid and the
// cluster are in simt/groups_of_blocks.h. reduce, scan and memcpy_async stand in headers of their own, as in
// CUDA.
#ifndef _COOPERATIVE_GROUPS_H_
#define _COOPERATIVE_GROUPS_H_

#include "simt/push_letters.h"

#include "cuda_runtime.h"
#include "simt/group_functors.h"
#include "simt/group_lanes.h"
#include "simt/groups_of_blocks.h"
#include "simt/runtime.h"

#define SIMT_SITE simt::Site site = simt::here()

namespace cooperative_groups {

// ---- lanes that happen to run together ----

class coalesced_group : public details::Lanes {
 public:
  explicit coalesced_group(unsigned int mask, unsigned int meta_rank = 0, unsigned int meta_size = 1)
      : Lanes(mask, meta_rank, meta_size) {}
  static constexpr unsigned int kFull = 32;  // lanes that reduce as a tile does
};

inline coalesced_group coalesced_threads(SIMT_SITE) {
  return coalesced_group(simt::active_mask(site));
}

// ---- the thread block ----

// Scratch for tiles of several warps. Their threads meet without it here.
template <unsigned int kMaxBlockSize = 1024>
struct block_tile_memory {
  char scratch[16];
};

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
  // The whole barrier is in its second half, as in CUDA.
  struct arrival_token {};
  arrival_token barrier_arrive() const { return {}; }
  void barrier_wait(arrival_token&&, SIMT_SITE) const { simt::sync_threads(site); }
};

inline thread_block this_thread_block() {
  return thread_block();
}
template <unsigned int kMaxBlockSize>
inline thread_block this_thread_block(block_tile_memory<kMaxBlockSize>&) {
  return thread_block();
}

// ---- free functions ----

template <class Group>
inline void sync(const Group& group, SIMT_SITE) {
  group.sync(site);
}
template <class Group>
inline auto thread_rank(const Group& group) -> decltype(group.thread_rank()) {
  return group.thread_rank();
}
template <class Group>
inline auto group_size(const Group& group) -> decltype(group.size()) {
  return group.size();
}
// One thread of the group calls f; invoke_one_broadcast gives all of them what it returned.
template <class Group, class F, class... Arguments>
inline void invoke_one(const Group& group, F&& f, Arguments&&... arguments) {
  if (group.thread_rank() == 0) f(static_cast<Arguments&&>(arguments)...);
}
template <class Group, class F, class... Arguments>
inline auto invoke_one_broadcast(const Group& group, F&& f, Arguments&&... arguments)
    -> std::remove_cv_t<std::remove_reference_t<decltype(f(static_cast<Arguments&&>(arguments)...))>> {
  std::remove_cv_t<std::remove_reference_t<decltype(f(static_cast<Arguments&&>(arguments)...))>> result{};
  if (group.thread_rank() == 0) result = f(static_cast<Arguments&&>(arguments)...);
  return group.shfl(result, 0);
}

}  // namespace cooperative_groups

#undef SIMT_SITE

#include "simt/group_tiles.h"

#include "simt/pop_letters.h"

#endif
