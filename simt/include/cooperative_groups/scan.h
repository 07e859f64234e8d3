// SPDX-License-Identifier: MIT
//
// cooperative_groups::inclusive_scan and exclusive_scan, combined in the order in which CUDA's own header
// does it: the later operand comes first. The _update forms continue from an atomic object.
#ifndef _CG_SCAN_H
#define _CG_SCAN_H

#include "../simt/push_letters.h"

#include "../cooperative_groups.h"
#include "reduce.h"

namespace cooperative_groups {

namespace details {
template <class T>
using Plain = std::remove_cv_t<std::remove_reference_t<T>>;

template <class Group, class T, class Op>
T scan(const Group& group, const T& value, Op& op, bool exclusive, simt::Site site) {
  const auto all = [&op, exclusive](T* values, unsigned int count) {
    if constexpr (Group::kWarps > 1) {
      simt::scan_warps(values, count, op, exclusive);
    } else {
      simt::scan_values(values, count, op);
      if (exclusive) simt::shift_values(values, count);
    }
  };
  return group.together(value, all, site);
}
}  // namespace details

template <class Group, class T, class Op>
inline details::Plain<T> inclusive_scan(const Group& group, T&& value, Op&& op,
                                        simt::Site site = simt::here()) {
  return details::scan(group, static_cast<details::Plain<T>>(value), op, false, site);
}
// The first thread gets T().
template <class Group, class T, class Op>
inline details::Plain<T> exclusive_scan(const Group& group, T&& value, Op&& op,
                                        simt::Site site = simt::here()) {
  return details::scan(group, static_cast<details::Plain<T>>(value), op, true, site);
}
template <class Group, class T>
inline details::Plain<T> inclusive_scan(const Group& group, T&& value, simt::Site site = simt::here()) {
  return inclusive_scan(group, value, plus<details::Plain<T>>(), site);
}
template <class Group, class T>
inline details::Plain<T> exclusive_scan(const Group& group, T&& value, simt::Site site = simt::here()) {
  return exclusive_scan(group, value, plus<details::Plain<T>>(), site);
}

// The group's total goes into `atomic`, what was there before into every result.
template <class Group, class Atomic, class T, class Op>
inline details::Plain<T> inclusive_scan_update(const Group& group, Atomic& atomic, T&& value, Op&& op,
                                               simt::Site site = simt::here()) {
  const auto last = static_cast<unsigned int>(group.size()) - 1;
  const details::Plain<T> mine = inclusive_scan(group, value, op, site);
  details::Plain<T> before{};
  if (group.thread_rank() == last) before = details::update(atomic, mine, op);
  return op(group.shfl(before, last, site), mine);
}
template <class Group, class Atomic, class T, class Op>
inline details::Plain<T> exclusive_scan_update(const Group& group, Atomic& atomic, T&& value, Op&& op,
                                               simt::Site site = simt::here()) {
  const auto last = static_cast<unsigned int>(group.size()) - 1;
  const details::Plain<T> mine = exclusive_scan(group, value, op, site);
  details::Plain<T> before{};
  if (group.thread_rank() == last)
    before = details::update(atomic, last == 0 ? details::Plain<T>(value) : op(mine, value), op);
  before = group.shfl(before, last, site);
  return group.thread_rank() == 0 ? before : op(before, mine);
}
template <class Group, class Atomic, class T>
inline details::Plain<T> inclusive_scan_update(const Group& group, Atomic& atomic, T&& value,
                                               simt::Site site = simt::here()) {
  return inclusive_scan_update(group, atomic, value, plus<details::Plain<T>>(), site);
}
template <class Group, class Atomic, class T>
inline details::Plain<T> exclusive_scan_update(const Group& group, Atomic& atomic, T&& value,
                                               simt::Site site = simt::here()) {
  return exclusive_scan_update(group, atomic, value, plus<details::Plain<T>>(), site);
}

}  // namespace cooperative_groups

#include "../simt/pop_letters.h"

#endif
