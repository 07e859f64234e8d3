// SPDX-License-Identifier: MIT
//
// assert() in a kernel: as on a device, it ends the launch with cudaErrorAssert, not the process. The C
// library's handler is replaced, which outside of kernels does what it always did.

#include <cassert>
#include <cstdio>
#include <cstdlib>

#include "api/calls.h"

namespace {

[[noreturn]] void assertion_failed(const char* expression, const char* file, unsigned int line,
                                   const char* function) {
  if (simt::in_kernel()) simt::fail_assert(expression, file, static_cast<int>(line));
  std::fprintf(stderr, "%s:%u: %s: Assertion `%s' failed.\n", file, line, function ? function : "?",
               expression);
  std::abort();
}

}  // namespace

extern "C" {

#ifdef __APPLE__
void __assert_rtn(const char* function, const char* file, int line, const char* expression) {
  assertion_failed(expression, file, static_cast<unsigned int>(line), function);
}
#else
void __assert_fail(const char* expression, const char* file, unsigned int line,
                   const char* function) noexcept {
  assertion_failed(expression, file, line, function);
}
#endif

}  // extern "C"
