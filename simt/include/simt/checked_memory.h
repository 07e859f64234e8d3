// SPDX-License-Identifier: MIT
//
// Checked builds: GCC instruments neither calls of memcpy and its kind nor what it expands them to, so they
// become calls of the checker's own. Small copies stay the compiler's: those become plain accesses.
#pragma once

#if defined(__SANITIZE_THREAD__) && !defined(__clang__)
#include <string.h>

#define SIMT_REPLACES extern "C" __inline __attribute__((__always_inline__, __gnu_inline__))
extern "C" {
void* __tsan_memcpy(void* to, const void* from, size_t bytes);
void* __tsan_memmove(void* to, const void* from, size_t bytes);
void* __tsan_memset(void* to, int value, size_t bytes);
}
SIMT_REPLACES void* memcpy(void* __restrict to, const void* __restrict from, size_t bytes) noexcept {
  if (__builtin_constant_p(bytes) && (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8))
    return __builtin_memcpy(to, from, bytes);
  return __tsan_memcpy(to, from, bytes);
}
SIMT_REPLACES void* memmove(void* to, const void* from, size_t bytes) noexcept {
  return __tsan_memmove(to, from, bytes);
}
SIMT_REPLACES void* memset(void* to, int value, size_t bytes) noexcept {
  return __tsan_memset(to, value, bytes);
}
#undef SIMT_REPLACES

#elif defined(__clang__) && __clang_major__ < 16 && defined(__ELF__)
// Clang 16 and later call the checker's; the older ones call the C library's, under its name.
#if __has_feature(thread_sanitizer)
__asm__(
    ".set memcpy, __tsan_memcpy\n"
    ".set memmove, __tsan_memmove\n"
    ".set memset, __tsan_memset\n");
#endif
#endif
