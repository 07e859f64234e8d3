// SPDX-License-Identifier: MIT
//
// Where the program that the runtime is linked into lies in memory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace simt {

// Where the program, or the shared library that the runtime is part of, begins in memory: the linker's symbol.
#ifdef __APPLE__
extern "C" const char module_begin[] __asm__("__executable_start");
#else
extern "C" __attribute__((visibility("hidden"))) const char module_begin[] __asm__("__ehdr_start");
#endif
extern "C" const char module_end[] __asm__("end");  // of the program, where the runtime is a library's part

// Variables of the program, constants, code.
inline bool in_module(std::uintptr_t p) {
  return p >= reinterpret_cast<std::uintptr_t>(module_begin) &&
         p < reinterpret_cast<std::uintptr_t>(module_end);
}

}  // namespace simt
