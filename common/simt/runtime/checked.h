// SPDX-License-Identifier: MIT
//
// Checked builds: what is looked at before each access of a kernel.
#pragma once

#include "internal.h"

namespace simt {

enum class Access : std::uint8_t { read, write };

// Of the running CUDA thread (host code is not checked): reports and abandons the launch where the access is
// misaligned or leaves the buffer, shared array or stack that it may touch. `caller`: the access's place.
void check_access(const void* address, std::size_t bytes, Access access, std::size_t alignment, void* caller);

// The failure of the access that called a hook from `caller`.
Failure failure_of_access(void* caller, const char* slug, const std::string& message);

// ---- checked_races.cpp ----
void check_race(const char* p, std::size_t bytes, Access access, void* caller);  // shared memory
void forget_accesses(const char* p, std::size_t bytes);                          // before an atomic operation

}  // namespace simt
