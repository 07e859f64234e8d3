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

}  // namespace simt
