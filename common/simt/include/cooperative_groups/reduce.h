// SPDX-License-Identifier: MIT
//
// cooperative_groups::reduce over lanes of a warp: every lane gets op over all of them, in rank order.
#ifndef _CG_REDUCE_H
#define _CG_REDUCE_H

#include "../cooperative_groups.h"

namespace cooperative_groups {

template <class T, class Op>
inline T reduce(const details::Lanes& group, T value, Op op, simt::Site site = simt::here()) {
  const unsigned int mask = group.simt_mask();
  unsigned int rest = simt::ballot(mask, true, site);  // those of the mask that take part
  T result = simt::shuffle(mask, value, __builtin_ctz(rest), site);
  for (rest &= rest - 1; rest; rest &= rest - 1) {
    result = op(result, simt::shuffle(mask, value, __builtin_ctz(rest), site));
  }
  return result;
}

// One thread stores the group's reduction.
template <class T, class Op>
inline void reduce_store_async(const details::Lanes& group, T* destination, T value, Op op,
                               simt::Site site = simt::here()) {
  const T result = reduce(group, value, op, site);
  if (group.thread_rank() == 0) *destination = result;
}

}  // namespace cooperative_groups

#endif
