// SPDX-License-Identifier: MIT
//
// Atomic functions, for the types that CUDA has them for on compute capability 9.0, and no others: what
// compiles here compiles with nvcc. Each announces itself to the runtime first (it checks the address,
// counts, and lets other threads of the block run now and then, so that spinning on an atomic ends). All
// scopes are the same here: _block and _system too. The order is sequential consistency, more than CUDA
// promises.
#ifndef __DEVICE_ATOMIC_FUNCTIONS_H__
#define __DEVICE_ATOMIC_FUNCTIONS_H__

#include <string.h>

#include "simt/runtime.h"
#include "vector_functions.h"

// The checker hears of the access through AtomicPoint; its instrumentation must not report a plain one
// besides. Traces and reports must know where the user's code called.
#ifdef SIMT_TRACED
#define SIMT_NOT_TRACED __attribute__((always_inline))
#define SIMT_ATOMIC_PLACE nullptr
#elif defined(__clang__)  // the first keeps them from being inlined into instrumented functions
#define SIMT_NOT_TRACED __attribute__((no_sanitize("thread"), disable_sanitizer_instrumentation))
#else
#define SIMT_NOT_TRACED __attribute__((no_sanitize("thread")))
#endif
#ifndef SIMT_ATOMIC_PLACE
#define SIMT_ATOMIC_PLACE __builtin_return_address(0)
#endif

namespace simt {

// The integer that carries a value of a size through compare-and-swap.
template <int kBytes>
struct CarrierOf;
template <>
struct CarrierOf<1> {
  using type = unsigned char __attribute__((may_alias));
};
template <>
struct CarrierOf<2> {
  using type = unsigned short __attribute__((may_alias));
};
template <>
struct CarrierOf<4> {
  using type = unsigned int __attribute__((may_alias));
};
template <>
struct CarrierOf<8> {
  using type = unsigned long long __attribute__((may_alias));
};

// *address = f(*address) in one step; returns the old value.
template <class T, class F>
SIMT_NOT_TRACED inline T atomic_update(T* address, F f) {
  using Carrier = typename CarrierOf<sizeof(T)>::type;
  const AtomicPoint point(address, sizeof(T), AtomicKind::update, SIMT_ATOMIC_PLACE);
  Carrier* const cell = reinterpret_cast<Carrier*>(address);
  Carrier seen = __atomic_load_n(cell, __ATOMIC_SEQ_CST);
  for (;;) {
    T old;
    memcpy(static_cast<void*>(&old), &seen, sizeof(T));
    const T updated = f(old);
    Carrier wanted;
    memcpy(&wanted, static_cast<const void*>(&updated), sizeof(T));
    if (__atomic_compare_exchange_n(cell, &seen, wanted, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
      return old;
  }
}

template <class T>
SIMT_NOT_TRACED inline T atomic_read(const T* address) {
  using Carrier = typename CarrierOf<sizeof(T)>::type;
  const AtomicPoint point(address, sizeof(T), AtomicKind::update, SIMT_ATOMIC_PLACE);
  const Carrier seen = __atomic_load_n(reinterpret_cast<const Carrier*>(address), __ATOMIC_SEQ_CST);
  T value;
  memcpy(static_cast<void*>(&value), &seen, sizeof(T));
  return value;
}
template <class T>
SIMT_NOT_TRACED inline T atomic_exchange(T* address, T value) {
  using Carrier = typename CarrierOf<sizeof(T)>::type;
  const AtomicPoint point(address, sizeof(T), AtomicKind::store, SIMT_ATOMIC_PLACE);
  Carrier carrier;
  memcpy(&carrier, static_cast<const void*>(&value), sizeof(T));
  carrier = __atomic_exchange_n(reinterpret_cast<Carrier*>(address), carrier, __ATOMIC_SEQ_CST);
  T old;
  memcpy(static_cast<void*>(&old), &carrier, sizeof(T));
  return old;
}
template <class T>
SIMT_NOT_TRACED inline void atomic_write(T* address, T value) {
  using Carrier = typename CarrierOf<sizeof(T)>::type;
  const AtomicPoint point(address, sizeof(T), AtomicKind::store, SIMT_ATOMIC_PLACE);
  Carrier carrier;
  memcpy(&carrier, static_cast<const void*>(&value), sizeof(T));
  __atomic_store_n(reinterpret_cast<Carrier*>(address), carrier, __ATOMIC_SEQ_CST);
}
// Compares bits; `expected` gets what was there.
template <class T>
SIMT_NOT_TRACED inline bool atomic_replace(T* address, T& expected, T value) {
  using Carrier = typename CarrierOf<sizeof(T)>::type;
  const AtomicPoint point(address, sizeof(T), AtomicKind::update, SIMT_ATOMIC_PLACE);
  Carrier compare, wanted;
  memcpy(&compare, static_cast<const void*>(&expected), sizeof(T));
  memcpy(&wanted, static_cast<const void*>(&value), sizeof(T));
  const bool done = __atomic_compare_exchange_n(reinterpret_cast<Carrier*>(address), &compare, wanted, false,
                                                __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  if (!done) memcpy(static_cast<void*>(&expected), &compare, sizeof(T));
  return done;
}

// Types whose atomics the compiler has itself.
template <class T>
SIMT_NOT_TRACED inline T fetch_add(T* address, T value) {
  const AtomicPoint point(address, sizeof(T), AtomicKind::update, SIMT_ATOMIC_PLACE);
  return __atomic_fetch_add(address, value, __ATOMIC_SEQ_CST);
}
template <class T>
SIMT_NOT_TRACED inline T fetch_and(T* address, T value) {
  const AtomicPoint point(address, sizeof(T), AtomicKind::update, SIMT_ATOMIC_PLACE);
  return __atomic_fetch_and(address, value, __ATOMIC_SEQ_CST);
}
template <class T>
SIMT_NOT_TRACED inline T fetch_or(T* address, T value) {
  const AtomicPoint point(address, sizeof(T), AtomicKind::update, SIMT_ATOMIC_PLACE);
  return __atomic_fetch_or(address, value, __ATOMIC_SEQ_CST);
}
template <class T>
SIMT_NOT_TRACED inline T fetch_xor(T* address, T value) {
  const AtomicPoint point(address, sizeof(T), AtomicKind::update, SIMT_ATOMIC_PLACE);
  return __atomic_fetch_xor(address, value, __ATOMIC_SEQ_CST);
}
template <class T>
SIMT_NOT_TRACED inline T compare_and_swap(T* address, T compare, T value) {
  const AtomicPoint point(address, sizeof(T), AtomicKind::update, SIMT_ATOMIC_PLACE);
  __atomic_compare_exchange_n(address, &compare, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  return compare;
}

// 16-byte exchange and compare-and-swap; compilers without a 16-byte instruction would call a library, so one
// lock serves all of them (api/atomics16.cpp). Bitwise comparison, as on the device.
void swap16(void* address, const void* value, void* old);
void compare_and_swap16(void* address, const void* compare, const void* value, void* old);

}  // namespace simt

// ---- one family a function: the plain name, and the same for the two scopes ----

#define SIMT_ATOMIC(T, name, parameters, arguments, implementation) \
  inline T name parameters {                                        \
    return implementation;                                          \
  }                                                                 \
  inline T name##_block parameters {                                \
    return name arguments;                                          \
  }                                                                 \
  inline T name##_system parameters {                               \
    return name arguments;                                          \
  }
#define SIMT_ATOMIC_VALUE(T, name, implementation) \
  SIMT_ATOMIC(T, name, (T * address, T value), (address, value), implementation)

SIMT_ATOMIC_VALUE(int, atomicAdd, simt::fetch_add(address, value))
SIMT_ATOMIC_VALUE(unsigned int, atomicAdd, simt::fetch_add(address, value))
SIMT_ATOMIC_VALUE(unsigned long long, atomicAdd, simt::fetch_add(address, value))
SIMT_ATOMIC_VALUE(float, atomicAdd, simt::atomic_update(address, [value](float old) { return old + value; }))
SIMT_ATOMIC_VALUE(double, atomicAdd,
                  simt::atomic_update(address, [value](double old) { return old + value; }))
// Vectors: each element is atomic, the whole need not be.
SIMT_ATOMIC_VALUE(float2, atomicAdd,
                  make_float2(atomicAdd(&address->x, value.x), atomicAdd(&address->y, value.y)))
SIMT_ATOMIC_VALUE(float4, atomicAdd,
                  make_float4(atomicAdd(&address->x, value.x), atomicAdd(&address->y, value.y),
                              atomicAdd(&address->z, value.z), atomicAdd(&address->w, value.w)))

SIMT_ATOMIC_VALUE(int, atomicSub,
                  simt::fetch_add(address, static_cast<int>(0u - static_cast<unsigned int>(value))))
SIMT_ATOMIC_VALUE(unsigned int, atomicSub, simt::fetch_add(address, 0u - value))

SIMT_ATOMIC_VALUE(int, atomicExch, simt::atomic_exchange(address, value))
SIMT_ATOMIC_VALUE(unsigned int, atomicExch, simt::atomic_exchange(address, value))
SIMT_ATOMIC_VALUE(unsigned long long, atomicExch, simt::atomic_exchange(address, value))
SIMT_ATOMIC_VALUE(float, atomicExch, simt::atomic_exchange(address, value))

#define SIMT_ATOMIC_INTEGER(T)                                                                          \
  SIMT_ATOMIC_VALUE(T, atomicMin,                                                                       \
                    simt::atomic_update(address, [value](T old) { return old < value ? old : value; })) \
  SIMT_ATOMIC_VALUE(T, atomicMax,                                                                       \
                    simt::atomic_update(address, [value](T old) { return old > value ? old : value; })) \
  SIMT_ATOMIC_VALUE(T, atomicAnd, simt::fetch_and(address, value))                                      \
  SIMT_ATOMIC_VALUE(T, atomicOr, simt::fetch_or(address, value))                                        \
  SIMT_ATOMIC_VALUE(T, atomicXor, simt::fetch_xor(address, value))
SIMT_ATOMIC_INTEGER(int)
SIMT_ATOMIC_INTEGER(unsigned int)
SIMT_ATOMIC_INTEGER(long long)
SIMT_ATOMIC_INTEGER(unsigned long long)
#undef SIMT_ATOMIC_INTEGER

// Wrap-around counters: Inc runs 0 ... limit, Dec runs limit ... 0 and enters that range from above.
SIMT_ATOMIC(unsigned int, atomicInc, (unsigned int* address, unsigned int limit), (address, limit),
            simt::atomic_update(address, [limit](unsigned int old) { return old >= limit ? 0u : old + 1; }))
SIMT_ATOMIC(unsigned int, atomicDec, (unsigned int* address, unsigned int limit), (address, limit),
            simt::atomic_update(address, [limit](unsigned int old) {
              return old == 0 || old > limit ? limit : old - 1;
            }))

#define SIMT_ATOMIC_CAS(T)                                                                \
  SIMT_ATOMIC(T, atomicCAS, (T * address, T compare, T value), (address, compare, value), \
              simt::compare_and_swap(address, compare, value))
SIMT_ATOMIC_CAS(int)
SIMT_ATOMIC_CAS(unsigned int)
SIMT_ATOMIC_CAS(unsigned long long)
SIMT_ATOMIC_CAS(unsigned short)
#undef SIMT_ATOMIC_CAS

#undef SIMT_ATOMIC_VALUE
#undef SIMT_ATOMIC

// Any type of 16 bytes, aligned to 16 (compute capability 9.0). The integral constant keeps other sizes out.
namespace simt {
template <bool kCondition, class T>
struct EnableIf {};
template <class T>
struct EnableIf<true, T> {
  using type = T;
};
}  // namespace simt
#define SIMT_ATOMIC_16(suffix)                                                                     \
  template <class T>                                                                               \
  inline typename simt::EnableIf<sizeof(T) == 16 && alignof(T) >= 16, T>::type atomicExch##suffix( \
      T* address, T value) {                                                                       \
    T old;                                                                                         \
    simt::swap16(address, &value, &old);                                                           \
    return old;                                                                                    \
  }                                                                                                \
  template <class T>                                                                               \
  inline typename simt::EnableIf<sizeof(T) == 16 && alignof(T) >= 16, T>::type atomicCAS##suffix(  \
      T* address, T compare, T value) {                                                            \
    T old;                                                                                         \
    simt::compare_and_swap16(address, &compare, &value, &old);                                     \
    return old;                                                                                    \
  }
SIMT_ATOMIC_16()
SIMT_ATOMIC_16(_block)
SIMT_ATOMIC_16(_system)
#undef SIMT_ATOMIC_16

#include "simt/scoped_builtins.h"

#endif
