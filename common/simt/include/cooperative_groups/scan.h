// SPDX-License-Identifier: MIT
//
// cooperative_groups::inclusive_scan and exclusive_scan over lanes of a warp.
#ifndef _CG_SCAN_H
#define _CG_SCAN_H

#include "../cooperative_groups.h"

namespace cooperative_groups {

template <class T, class Op>
inline T inclusive_scan(const details::Lanes& group, T value, Op op, simt::Site site = simt::here()) {
  const auto rank = static_cast<unsigned int>(group.thread_rank());
  const auto size = static_cast<unsigned int>(group.size());
  for (unsigned int step = 1; step < size; step *= 2) {
    const T before = group.shfl_up(value, step, site);
    if (rank >= step) value = op(before, value);
  }
  return value;
}
template <class T>
inline T inclusive_scan(const details::Lanes& group, T value, simt::Site site = simt::here()) {
  return inclusive_scan(group, value, plus<T>(), site);
}
// The first thread gets T().
template <class T, class Op>
inline T exclusive_scan(const details::Lanes& group, T value, Op op, simt::Site site = simt::here()) {
  const T including = inclusive_scan(group, value, op, site);
  const T before = group.shfl_up(including, 1, site);
  return group.thread_rank() == 0 ? T() : before;
}
template <class T>
inline T exclusive_scan(const details::Lanes& group, T value, simt::Site site = simt::here()) {
  return exclusive_scan(group, value, plus<T>(), site);
}

}  // namespace cooperative_groups

#endif
