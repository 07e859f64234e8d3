// SPDX-License-Identifier: MIT
//
// cooperative_groups::memcpy_async: the group's threads share the copy, wait() is its barrier. The copy
// happens at once.
#ifndef _CG_MEMCPY_ASYNC_H
#define _CG_MEMCPY_ASYNC_H

#include "../cooperative_groups.h"

namespace cooperative_groups {

template <class Group, class T>
inline void memcpy_async(const Group& group, T* to, const T* from, size_t bytes) {
  const size_t count = bytes / sizeof(T), step = group.size();
  for (size_t i = group.thread_rank(); i < count; i += step) to[i] = from[i];
  if (group.thread_rank() == 0 && count * sizeof(T) < bytes)
    memcpy(to + count, from + count, bytes - count * sizeof(T));
}
template <class Group>
inline void wait(const Group& group, simt::Site site = simt::here()) {
  group.sync(site);
}
template <unsigned int kStages, class Group>
inline void wait_prior(const Group& group, simt::Site site = simt::here()) {
  group.sync(site);
}

}  // namespace cooperative_groups

#endif
