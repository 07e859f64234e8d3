// SPDX-License-Identifier: MIT
//
// Where the program that the runtime is linked into lies in memory.
#pragma once

#include <cstddef>

namespace simt {

// Where the program, or the shared library that the runtime is part of, begins in memory: the linker's symbol.
#ifdef __APPLE__
extern "C" const char module_begin[] __asm__("__executable_start");
#else
extern "C" __attribute__((visibility("hidden"))) const char module_begin[] __asm__("__ehdr_start");
#endif

}  // namespace simt
