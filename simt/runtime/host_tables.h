// SPDX-License-Identifier: MIT
//
// Checked builds: objects with virtual functions. One that the host makes points to the host's table of functions, which no kernel can
// call on a GPU. Here both sides have one table, so the place of that pointer in device memory is marked in the shadow, and a kernel that
// reads it as a pointer calls a virtual function, or asks for the object's type.
//
// Nothing is marked once a pointer to such a table has come back from the device: it may be one that a kernel has put there.
#pragma once

#include <cstddef>

#include "shadow.h"

namespace simt {

// What the shadow says of both words of such a pointer: no segment, so that each access comes to check_host_table().
constexpr std::uint32_t kHostTable = kSplit - 1;

extern bool looks_for_tables;  // some file of the program has virtual functions
// A copy of bytes has been made.
void note_copied_tables(char* to, const char* from, std::size_t bytes);
// The host's constructor has set an object's pointer.
void note_hosts_table(void** pointer);
// Before a kernel's access to device memory.
void check_host_table(const char* p, std::size_t bytes, bool read, void* caller);

}  // namespace simt
