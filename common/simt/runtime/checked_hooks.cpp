// SPDX-License-Identifier: MIT
//
// Checked builds: the compiler, told to instrument for ThreadSanitizer, calls these before each memory access
// of a .cu file. They are ours, no libtsan is linked; plain builds never call them.
#include <cstring>

#include "checked.h"

#define SIMT_CALLER __builtin_return_address(0)
#define SIMT_ACCESS(name, bytes, kind, alignment)                                   \
  extern "C" void __tsan_##name(void* address) {                                    \
    simt::check_access(address, bytes, simt::Access::kind, alignment, SIMT_CALLER); \
  }
// An unaligned hook is called where the type promises less alignment than its size.
#define SIMT_ACCESSES(bytes)                                  \
  SIMT_ACCESS(read##bytes, bytes, read, bytes)                \
  SIMT_ACCESS(write##bytes, bytes, write, bytes)              \
  SIMT_ACCESS(read_write##bytes, bytes, write, bytes)         \
  SIMT_ACCESS(volatile_read##bytes, bytes, read, bytes)       \
  SIMT_ACCESS(volatile_write##bytes, bytes, write, bytes)     \
  SIMT_ACCESS(unaligned_read##bytes, bytes, read, 1)          \
  SIMT_ACCESS(unaligned_write##bytes, bytes, write, 1)        \
  SIMT_ACCESS(unaligned_read_write##bytes, bytes, write, 1)   \
  SIMT_ACCESS(unaligned_volatile_read##bytes, bytes, read, 1) \
  SIMT_ACCESS(unaligned_volatile_write##bytes, bytes, write, 1)
SIMT_ACCESSES(1)
SIMT_ACCESSES(2)
SIMT_ACCESSES(4)
SIMT_ACCESSES(8)
SIMT_ACCESSES(16)

extern "C" {

void __tsan_init() {
  simt::checked_build = true;
}  // before main(), by each instrumented file
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}

void __tsan_read_range(void* address, unsigned long bytes) {
  simt::check_access(address, bytes, simt::Access::read, 1, SIMT_CALLER);
}
void __tsan_write_range(void* address, unsigned long bytes) {
  simt::check_access(address, bytes, simt::Access::write, 1, SIMT_CALLER);
}
void* __tsan_memcpy(void* to, const void* from, unsigned long bytes) {
  simt::check_access(const_cast<void*>(from), bytes, simt::Access::read, 1, SIMT_CALLER);
  simt::check_access(to, bytes, simt::Access::write, 1, SIMT_CALLER);
  return std::memcpy(to, from, bytes);
}
void* __tsan_memmove(void* to, const void* from, unsigned long bytes) {
  simt::check_access(const_cast<void*>(from), bytes, simt::Access::read, 1, SIMT_CALLER);
  simt::check_access(to, bytes, simt::Access::write, 1, SIMT_CALLER);
  return std::memmove(to, from, bytes);
}
void* __tsan_memset(void* to, int value, unsigned long bytes) {
  simt::check_access(to, bytes, simt::Access::write, 1, SIMT_CALLER);
  return std::memset(to, value, bytes);
}

// Atomics become calls, too; atomic_point() has told check_atomic() about the device's.
#define SIMT_FETCH(bits, T, operation)                                           \
  T __tsan_atomic##bits##_fetch_##operation(volatile T* address, T value, int) { \
    return __atomic_fetch_##operation(address, value, __ATOMIC_SEQ_CST);         \
  }
#define SIMT_ATOMICS(bits, T)                                                                                \
  SIMT_FETCH(bits, T, add)                                                                                   \
  SIMT_FETCH(bits, T, sub)                                                                                   \
  SIMT_FETCH(bits, T, and)                                                                                   \
  SIMT_FETCH(bits, T, or)                                                                                    \
  SIMT_FETCH(bits, T, xor)                                                                                   \
  SIMT_FETCH(bits, T, nand)                                                                                  \
  T __tsan_atomic##bits##_load(const volatile T* address, int) {                                             \
    return __atomic_load_n(address, __ATOMIC_SEQ_CST);                                                       \
  }                                                                                                          \
  void __tsan_atomic##bits##_store(volatile T* address, T value, int) {                                      \
    __atomic_store_n(address, value, __ATOMIC_SEQ_CST);                                                      \
  }                                                                                                          \
  T __tsan_atomic##bits##_exchange(volatile T* address, T value, int) {                                      \
    return __atomic_exchange_n(address, value, __ATOMIC_SEQ_CST);                                            \
  }                                                                                                          \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile T* address, T* expected, T value, int, int) {   \
    return __atomic_compare_exchange_n(address, expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
  }                                                                                                          \
  int __tsan_atomic##bits##_compare_exchange_weak(volatile T* address, T* expected, T value, int, int) {     \
    return __atomic_compare_exchange_n(address, expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
  }                                                                                                          \
  T __tsan_atomic##bits##_compare_exchange_val(volatile T* address, T expected, T value, int, int) {         \
    __atomic_compare_exchange_n(address, &expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);       \
    return expected;                                                                                         \
  }
SIMT_ATOMICS(8, std::uint8_t)
SIMT_ATOMICS(16, std::uint16_t)
SIMT_ATOMICS(32, std::uint32_t)
SIMT_ATOMICS(64, std::uint64_t)
void __tsan_atomic_thread_fence(int) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
void __tsan_atomic_signal_fence(int) {
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

}  // extern "C"
