// SPDX-License-Identifier: MIT
//
// cooperative_groups::memcpy_async: the group's threads share the copy; wait() waits for each thread's own
// part and for the group.
#ifndef _CG_MEMCPY_ASYNC_H
#define _CG_MEMCPY_ASYNC_H

#include "../simt/push_letters.h"

#include "../cooperative_groups.h"
#include "../simt/aligned_size.h"
#include "../simt/group_copies.h"

namespace cooperative_groups {

// Each call is a group of copies of its own. `bytes` may be a cuda::aligned_size_t.
template <class Group, class T, class Bytes>
inline __attribute__((always_inline)) void memcpy_async(const Group& group, T* to, const T* from,
                                                        const Bytes& bytes) {
  simt::copy_share(group, to, from, static_cast<size_t>(bytes));
  simt::async_commit_group();
}
// Counts of elements of both arrays: the smaller one is copied.
template <class Group, class T, class ToCount, class FromCount>
inline __attribute__((always_inline)) void memcpy_async(const Group& group, T* to, const ToCount& to_count,
                                                        const T* from, const FromCount& from_count) {
  const auto to_most = static_cast<size_t>(to_count), from_most = static_cast<size_t>(from_count);
  simt::copy_share(group, to, from, (to_most < from_most ? to_most : from_most) * sizeof(T));
  simt::async_commit_group();
}

template <class Group>
inline void wait(const Group& group, simt::Site site = simt::here()) {
  simt::async_wait_group(0);
  group.sync(site);
}
// Until all but the last kStages copies have landed.
template <unsigned int kStages, class Group>
inline void wait_prior(const Group& group, simt::Site site = simt::here()) {
  simt::async_wait_group(kStages);
  group.sync(site);
}

}  // namespace cooperative_groups

#include "../simt/pop_letters.h"

#endif
