// SPDX-License-Identifier: MIT
//
// cooperative_groups::reduce: every thread gets op over the group's values, combined in the order in which
// CUDA's own header does it.
#ifndef _CG_REDUCE_H
#define _CG_REDUCE_H

#include "../simt/push_letters.h"

#include "../cooperative_groups.h"

namespace cooperative_groups {

template <class Group, class T, class Op>
inline auto reduce(const Group& group, T&& value, Op&& op, simt::Site site = simt::here())
    -> std::remove_cv_t<std::remove_reference_t<T>> {
  using Value = std::remove_cv_t<std::remove_reference_t<T>>;
  const auto all = [&op](Value* values, unsigned int count) {
    if constexpr (Group::kWarps > 1) {
      simt::reduce_warps(values, count, op);
    } else {
      simt::reduce_values(values, count, Group::kFull, op);
    }
  };
  return group.together(static_cast<Value>(value), all, site);
}

// One thread stores the group's reduction, or combines an atomic object with it.
template <class Group, class T, class V, class Op>
inline void reduce_store_async(const Group& group, T* destination, V&& value, Op&& op,
                               simt::Site site = simt::here()) {
  const T result = reduce(group, static_cast<T>(value), op, site);
  if (group.thread_rank() == 0) *destination = result;
}
template <class Group, class Atomic, class V, class Op>
inline auto reduce_store_async(const Group& group, Atomic& destination, V&& value, Op&& op,
                               simt::Site site = simt::here()) -> decltype(destination.load(), void()) {
  const auto result = reduce(group, value, op, site);
  if (group.thread_rank() == 0) destination.store(result);
}
namespace details {
// destination = op(destination, value) in one step; returns what was there.
template <class Atomic, class T, class Op>
inline T update(Atomic& destination, T value, Op& op) {
  T seen = destination.load();
  while (!destination.compare_exchange_weak(seen, op(seen, value))) {
  }
  return seen;
}
}  // namespace details
template <class Group, class Atomic, class V, class Op>
inline auto reduce_update_async(const Group& group, Atomic& destination, V&& value, Op&& op,
                                simt::Site site = simt::here()) -> decltype(destination.load(), void()) {
  const auto result = reduce(group, value, op, site);
  if (group.thread_rank() == 0) details::update(destination, result, op);
}

}  // namespace cooperative_groups

#include "../simt/pop_letters.h"

#endif
