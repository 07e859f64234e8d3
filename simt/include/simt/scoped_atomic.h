// SPDX-License-Identifier: MIT
//
// cuda::atomic and atomic_ref: one set of members for both. Every order is sequential consistency here, and
// every scope the system's: more than asked.
#pragma once

#include <atomic>
#include <cstddef>
#include <type_traits>

#include "device_atomic_functions.h"
#include "simt/runtime.h"

namespace cuda {

enum thread_scope {
  thread_scope_system = 0,
  thread_scope_device = 1,
  thread_scope_block = 2,
  thread_scope_thread = 10
};
using ::std::memory_order;
using ::std::memory_order_acq_rel;
using ::std::memory_order_acquire;
using ::std::memory_order_consume;
using ::std::memory_order_relaxed;
using ::std::memory_order_release;
using ::std::memory_order_seq_cst;

}  // namespace cuda

namespace simt {

// Members of an atomic object of type T; Self::cell() is its address.
template <class Self, class T>
class AtomicMembers {
  static_assert(sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8,
                "simt: atomic objects have 1, 2, 4 or 8 bytes");
  using Order = ::std::memory_order;
  static constexpr Order kStrict = ::std::memory_order_seq_cst;
  template <class U>
  using Step = ::std::conditional_t<::std::is_pointer_v<U>, ::std::ptrdiff_t, U>;

 public:
  using value_type = T;
  static constexpr bool is_always_lock_free = true;
  bool is_lock_free() const noexcept { return true; }

  T load(Order = kStrict) const noexcept { return atomic_read(cell()); }
  void store(T value, Order order = kStrict) const noexcept {
    publish(order);
    atomic_write(cell(), value);
  }
  operator T() const noexcept { return load(); }
  T exchange(T value, Order order = kStrict) const noexcept {
    publish(order);
    return atomic_exchange(cell(), value);
  }
  bool compare_exchange_strong(T& expected, T value, Order order = kStrict, Order = kStrict) const noexcept {
    publish(order);
    return atomic_replace(cell(), expected, value);
  }
  bool compare_exchange_weak(T& expected, T value, Order order = kStrict, Order = kStrict) const noexcept {
    publish(order);
    return atomic_replace(cell(), expected, value);
  }

  template <class U = T>
  T fetch_add(Step<U> value, Order order = kStrict) const noexcept {
    publish(order);
    return change([&](T old) { return sum(old, value); });
  }
  template <class U = T>
  T fetch_sub(Step<U> value, Order order = kStrict) const noexcept {
    publish(order);
    return change([&](T old) { return difference(old, value); });
  }
  T fetch_and(T value, Order order = kStrict) const noexcept {
    publish(order);
    return change([&](T old) { return static_cast<T>(old & value); });
  }
  T fetch_or(T value, Order order = kStrict) const noexcept {
    publish(order);
    return change([&](T old) { return static_cast<T>(old | value); });
  }
  T fetch_xor(T value, Order order = kStrict) const noexcept {
    publish(order);
    return change([&](T old) { return static_cast<T>(old ^ value); });
  }
  T fetch_min(T value, Order order = kStrict) const noexcept {
    publish(order);
    return change([&](T old) { return value < old ? value : old; });
  }
  T fetch_max(T value, Order order = kStrict) const noexcept {
    publish(order);
    return change([&](T old) { return old < value ? value : old; });
  }
  template <class U = T>
  T operator+=(Step<U> value) const noexcept {
    return sum(fetch_add(value), value);
  }
  template <class U = T>
  T operator-=(Step<U> value) const noexcept {
    return difference(fetch_sub(value), value);
  }
  T operator&=(T value) const noexcept { return static_cast<T>(fetch_and(value) & value); }
  T operator|=(T value) const noexcept { return static_cast<T>(fetch_or(value) | value); }
  T operator^=(T value) const noexcept { return static_cast<T>(fetch_xor(value) ^ value); }
  T operator++() const noexcept { return sum(fetch_add(1), 1); }
  T operator--() const noexcept { return difference(fetch_sub(1), 1); }
  T operator++(int) const noexcept { return fetch_add(1); }
  T operator--(int) const noexcept { return fetch_sub(1); }

  // Until the value is another one.
  void wait(T old, Order = kStrict) const noexcept {
    for (T seen = load(); same(seen, old); seen = load()) tick_slow();
  }
  void notify_one() const noexcept {}
  void notify_all() const noexcept {}

 protected:
  static bool same(const T& a, const T& b) { return memcmp(&a, &b, sizeof(T)) == 0; }

 private:
  // Checked builds must hear of what may order this thread's accesses before another's.
  static void publish(Order order) {
    using namespace ::std;
    if (order == memory_order_release || order == memory_order_acq_rel || order == memory_order_seq_cst)
      published();
  }
  T* cell() const { return static_cast<const Self*>(this)->simt_cell(); }
  template <class F>
  T change(F f) const {
    return atomic_update(cell(), f);
  }
  // Whole numbers wrap around.
  template <class U>
  static T sum(T a, U b) {
    if constexpr (::std::is_integral_v<T>) {
      return static_cast<T>(static_cast<unsigned long long>(a) + static_cast<unsigned long long>(b));
    } else {
      return static_cast<T>(a + b);
    }
  }
  template <class U>
  static T difference(T a, U b) {
    if constexpr (::std::is_integral_v<T>) {
      return static_cast<T>(static_cast<unsigned long long>(a) - static_cast<unsigned long long>(b));
    } else {
      return static_cast<T>(a - b);
    }
  }
};

}  // namespace simt
