// SPDX-License-Identifier: MIT
//
// The compiler's atomic functions that name their memory order and scope, of CUDA 12.8 on. Every order is
// sequential consistency here, and every scope the system's: more than asked.
// https://docs.nvidia.com/cuda/cuda-c-programming-guide/index.html#atomic-functions
//
// device_atomic_functions.h includes this at its end.
#pragma once

#include "push_letters.h"

enum {
  __NV_ATOMIC_RELAXED,
  __NV_ATOMIC_CONSUME,
  __NV_ATOMIC_ACQUIRE,
  __NV_ATOMIC_RELEASE,
  __NV_ATOMIC_ACQ_REL,
  __NV_ATOMIC_SEQ_CST
};
enum {
  __NV_THREAD_SCOPE_THREAD,
  __NV_THREAD_SCOPE_BLOCK,
  __NV_THREAD_SCOPE_CLUSTER,
  __NV_THREAD_SCOPE_DEVICE,
  __NV_THREAD_SCOPE_SYSTEM
};

namespace simt {

// Keeps a parameter from being deduced: the pointer alone says what T is.
template <class T>
struct Exactly {
  using type = T;
};

// Checked builds must hear of what may order this thread's accesses before another's.
inline void published_at(int order) {
  if (order >= __NV_ATOMIC_RELEASE) published();
}

template <class T>
inline T scoped_load(const T* address) {
  if constexpr (sizeof(T) == 16) {
    T value = {};
    const T nothing = {};
    compare_and_swap16(const_cast<T*>(address), &nothing, &nothing, &value);
    return value;
  } else {
    return atomic_read(address);
  }
}
template <class T>
inline T scoped_exchange(T* address, T value) {
  if constexpr (sizeof(T) == 16) {
    T old;
    swap16(address, &value, &old);
    return old;
  } else {
    return atomic_exchange(address, value);
  }
}
template <class T>
inline bool scoped_replace(T* address, T& expected, T value) {
  if constexpr (sizeof(T) == 16) {
    T old;
    compare_and_swap16(address, &expected, &value, &old);
    const bool done = memcmp(&old, &expected, sizeof(T)) == 0;
    if (!done) expected = old;
    return done;
  } else {
    return atomic_replace(address, expected, value);
  }
}

// Whole numbers wrap around.
template <class T>
inline T scoped_sum(T a, T b) {
  if constexpr (static_cast<T>(0.5) == T(0)) {
    return static_cast<T>(static_cast<unsigned long long>(a) + static_cast<unsigned long long>(b));
  } else {
    return a + b;
  }
}

}  // namespace simt

template <class T>
inline T __nv_atomic_load_n(const T* address, int, int = __NV_THREAD_SCOPE_SYSTEM) {
  return simt::scoped_load(address);
}
template <class T>
inline void __nv_atomic_load(const T* address, T* result, int, int = __NV_THREAD_SCOPE_SYSTEM) {
  *result = simt::scoped_load(address);
}

template <class T>
inline void __nv_atomic_store_n(T* address, typename simt::Exactly<T>::type value, int order,
                                int = __NV_THREAD_SCOPE_SYSTEM) {
  simt::published_at(order);
  simt::scoped_exchange(address, value);
}
template <class T>
inline void __nv_atomic_store(T* address, const T* value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  __nv_atomic_store_n(address, *value, order, scope);
}

template <class T>
inline T __nv_atomic_exchange_n(T* address, typename simt::Exactly<T>::type value, int order,
                                int = __NV_THREAD_SCOPE_SYSTEM) {
  simt::published_at(order);
  return simt::scoped_exchange(address, value);
}
template <class T>
inline void __nv_atomic_exchange(T* address, const T* value, T* result, int order,
                                 int scope = __NV_THREAD_SCOPE_SYSTEM) {
  *result = __nv_atomic_exchange_n(address, *value, order, scope);
}

// Whether the value was the expected one; else `expected` gets what was there. A weak one may fail for no
// reason, and does not here.
template <class T>
inline bool __nv_atomic_compare_exchange_n(T* address, T* expected, typename simt::Exactly<T>::type value,
                                           bool, int success_order, int, int = __NV_THREAD_SCOPE_SYSTEM) {
  simt::published_at(success_order);
  T seen = *expected;
  const bool done = simt::scoped_replace(address, seen, value);
  if (!done) *expected = seen;
  return done;
}
template <class T>
inline bool __nv_atomic_compare_exchange(T* address, T* expected, const T* value, bool weak,
                                         int success_order, int failure_order,
                                         int scope = __NV_THREAD_SCOPE_SYSTEM) {
  return __nv_atomic_compare_exchange_n(address, expected, *value, weak, success_order, failure_order, scope);
}

// Each as a function that returns what was there, and as one that returns nothing.
#define SIMT_SCOPED(name, expression)                                                                  \
  template <class T>                                                                                   \
  inline T __nv_atomic_fetch_##name(T* address, typename simt::Exactly<T>::type value, int order,      \
                                    int = __NV_THREAD_SCOPE_SYSTEM) {                                  \
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "__nv_atomic_fetch_" #name " takes 4 or 8 bytes"); \
    simt::published_at(order);                                                                         \
    return simt::atomic_update(address, [value](T old) { return static_cast<T>(expression); });        \
  }                                                                                                    \
  template <class T>                                                                                   \
  inline void __nv_atomic_##name(T* address, typename simt::Exactly<T>::type value, int order,         \
                                 int scope = __NV_THREAD_SCOPE_SYSTEM) {                               \
    __nv_atomic_fetch_##name(address, value, order, scope);                                            \
  }
SIMT_SCOPED(add, simt::scoped_sum(old, value))
SIMT_SCOPED(sub, simt::scoped_sum(old, static_cast<T>(-value)))
SIMT_SCOPED(and, old& value)
SIMT_SCOPED(or, old | value)
SIMT_SCOPED(xor, old ^ value)
SIMT_SCOPED(min, value < old ? value : old)
SIMT_SCOPED(max, old < value ? value : old)
#undef SIMT_SCOPED

inline void __nv_atomic_thread_fence(int, int = __NV_THREAD_SCOPE_SYSTEM) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

#include "pop_letters.h"
