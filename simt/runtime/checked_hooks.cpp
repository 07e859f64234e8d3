// SPDX-License-Identifier: MIT
//
// Checked builds: the compiler, told to instrument for ThreadSanitizer, calls these before each memory access
// of a .cu file. They are ours, no libtsan is linked; plain builds never call them.
#include <cstring>

#include "checked.h"
#include "host_tables.h"
#include "ordering.h"

#define SIMT_CALLER __builtin_return_address(0)
#define SIMT_WORDS(name, bytes, kind, alignment)                                   \
  void __tsan_##name(void* address) {                                              \
    simt::check_words<bytes, simt::Access::kind>(address, alignment, SIMT_CALLER); \
  }
#define SIMT_ANY(name, bytes, kind, alignment)                                                     \
  void __tsan_##name(void* address) {                                                              \
    simt::check_slowly(address, bytes, simt::Access::kind, simt::Strength::is_volatile, alignment, \
                       SIMT_CALLER);                                                               \
  }
// An unaligned hook is called where the type promises less alignment than its size.
#define SIMT_ACCESSES(bytes)                               \
  SIMT_WORDS(read##bytes, bytes, read, bytes)              \
  SIMT_WORDS(write##bytes, bytes, write, bytes)            \
  SIMT_WORDS(read_write##bytes, bytes, write, bytes)       \
  SIMT_WORDS(unaligned_read##bytes, bytes, read, 1)        \
  SIMT_WORDS(unaligned_write##bytes, bytes, write, 1)      \
  SIMT_WORDS(unaligned_read_write##bytes, bytes, write, 1) \
  SIMT_ANY(volatile_read##bytes, bytes, read, bytes)       \
  SIMT_ANY(volatile_write##bytes, bytes, write, bytes)     \
  SIMT_ANY(unaligned_volatile_read##bytes, bytes, read, 1) \
  SIMT_ANY(unaligned_volatile_write##bytes, bytes, write, 1)

void simt::copy_unchecked(void* to, const void* from, std::size_t bytes) {
  std::memcpy(to, from, bytes);
}

// An atomic of the compiler's. CUDA's functions tell check_atomic() of theirs through AtomicPoint: checked
// builds do not instrument them, but traced builds do, for the caller's line, and would count them twice.
namespace {
struct BuiltinAtomic {
  BuiltinAtomic(const volatile void* address, std::size_t bytes, simt::Access access, void* caller) {
    if (simt::tracing) return;
    simt::begin_atomic(address);
    simt::check_slowly(const_cast<const void*>(address), bytes, access, simt::Strength::atomic, bytes,
                       caller);
  }
  ~BuiltinAtomic() { simt::end_atomic(); }
};
}  // namespace

extern "C" {

SIMT_ACCESSES(1)
SIMT_ACCESSES(2)
SIMT_ACCESSES(4)
SIMT_ACCESSES(8)
SIMT_ACCESSES(16)

void __tsan_init() {
  simt::checked_build = true;
}  // before main(), by each instrumented file
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void** address, void*) {
  simt::check_words<sizeof(void*), simt::Access::write>(address, sizeof(void*), SIMT_CALLER);
  if (!simt::current && simt::looks_for_tables) simt::note_hosts_table(address);
}
void __tsan_vptr_read(void** address) {
  simt::check_words<sizeof(void*), simt::Access::read>(address, sizeof(void*), SIMT_CALLER);
}

void __tsan_read_range(void* address, unsigned long bytes) {
  simt::check_slowly(address, bytes, simt::Access::read, simt::Strength::plain, 1, SIMT_CALLER);
}
void __tsan_write_range(void* address, unsigned long bytes) {
  simt::check_slowly(address, bytes, simt::Access::write, simt::Strength::plain, 1, SIMT_CALLER);
}
void* __tsan_memcpy(void* to, const void* from, unsigned long bytes) {
  simt::check_slowly(from, bytes, simt::Access::read, simt::Strength::plain, 1, SIMT_CALLER);
  simt::check_slowly(to, bytes, simt::Access::write, simt::Strength::plain, 1, SIMT_CALLER);
  return std::memcpy(to, from, bytes);
}
void* __tsan_memmove(void* to, const void* from, unsigned long bytes) {
  simt::check_slowly(from, bytes, simt::Access::read, simt::Strength::plain, 1, SIMT_CALLER);
  simt::check_slowly(to, bytes, simt::Access::write, simt::Strength::plain, 1, SIMT_CALLER);
  return std::memmove(to, from, bytes);
}
void* __tsan_memset(void* to, int value, unsigned long bytes) {
  simt::check_slowly(to, bytes, simt::Access::write, simt::Strength::plain, 1, SIMT_CALLER);
  return std::memset(to, value, bytes);
}

#define SIMT_ATOMIC_POINT(address, bytes, order, access)                                   \
  if (order != __ATOMIC_RELAXED && order != __ATOMIC_ACQUIRE && order != __ATOMIC_CONSUME) \
    simt::note_release();                                                                  \
  const BuiltinAtomic point(address, bytes, simt::Access::access, SIMT_CALLER)
#define SIMT_FETCH(bits, T, operation)                                                 \
  T __tsan_atomic##bits##_fetch_##operation(volatile T* address, T value, int order) { \
    SIMT_ATOMIC_POINT(address, sizeof(T), order, update);                              \
    return __atomic_fetch_##operation(address, value, __ATOMIC_SEQ_CST);               \
  }
#define SIMT_ATOMICS(bits, T)                                                                                \
  SIMT_FETCH(bits, T, add)                                                                                   \
  SIMT_FETCH(bits, T, sub)                                                                                   \
  SIMT_FETCH(bits, T, and)                                                                                   \
  SIMT_FETCH(bits, T, or)                                                                                    \
  SIMT_FETCH(bits, T, xor)                                                                                   \
  SIMT_FETCH(bits, T, nand)                                                                                  \
  T __tsan_atomic##bits##_load(const volatile T* address, int) {                                             \
    const BuiltinAtomic point(address, sizeof(T), simt::Access::read, SIMT_CALLER);                          \
    return __atomic_load_n(address, __ATOMIC_SEQ_CST);                                                       \
  }                                                                                                          \
  void __tsan_atomic##bits##_store(volatile T* address, T value, int order) {                                \
    SIMT_ATOMIC_POINT(address, sizeof(T), order, write);                                                     \
    __atomic_store_n(address, value, __ATOMIC_SEQ_CST);                                                      \
  }                                                                                                          \
  T __tsan_atomic##bits##_exchange(volatile T* address, T value, int order) {                                \
    SIMT_ATOMIC_POINT(address, sizeof(T), order, write);                                                     \
    return __atomic_exchange_n(address, value, __ATOMIC_SEQ_CST);                                            \
  }                                                                                                          \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile T* address, T* expected, T value, int order,    \
                                                    int) {                                                   \
    SIMT_ATOMIC_POINT(address, sizeof(T), order, update);                                                    \
    return __atomic_compare_exchange_n(address, expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
  }                                                                                                          \
  int __tsan_atomic##bits##_compare_exchange_weak(volatile T* address, T* expected, T value, int order,      \
                                                  int) {                                                     \
    SIMT_ATOMIC_POINT(address, sizeof(T), order, update);                                                    \
    return __atomic_compare_exchange_n(address, expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
  }                                                                                                          \
  T __tsan_atomic##bits##_compare_exchange_val(volatile T* address, T expected, T value, int order, int) {   \
    SIMT_ATOMIC_POINT(address, sizeof(T), order, update);                                                    \
    __atomic_compare_exchange_n(address, &expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);       \
    return expected;                                                                                         \
  }
SIMT_ATOMICS(8, std::uint8_t)
SIMT_ATOMICS(16, std::uint16_t)
SIMT_ATOMICS(32, std::uint32_t)
SIMT_ATOMICS(64, std::uint64_t)
void __tsan_atomic_thread_fence(int) {
  simt::note_release();
  simt::note_acquire();
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
void __tsan_atomic_signal_fence(int) {
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

}  // extern "C"
