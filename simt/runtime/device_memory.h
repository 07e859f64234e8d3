// SPDX-License-Identifier: MIT
//
// Device memory: what is allocated, and who wrote past its end (arena.cpp).
#pragma once

#include <string>

#include "user_view.h"

namespace simt {

inline std::size_t round_up(std::size_t n, std::size_t to) {
  return (n + to - 1) / to * to;
}

constexpr unsigned char kPoison = 0xff;
const char* kind_name(MemoryKind kind);
// "a device buffer of 48 bytes", before it its name where it has one: "b (3 x 4), a device ...".
std::string buffer_text(const Allocation& buffer);
std::string place_in_buffer(const char* p);  // "byte 4 of a device buffer of 48 bytes"
bool in_arena(const void* address);
bool is_near_arena(const void* address);  // there, or in the inaccessible addresses before it
// "8 bytes before a device buffer of 32 bytes" for an address in none; empty where there is no buffer.
std::string beside_nearest(const char* p);
// The live or freed allocation nearest to an address (the one it was probably meant for).
bool nearest_allocation(const void* address, Allocation* found);
void check_canaries(const char* kernel);  // after a launch; reports broken ones
// Checked builds: makes device memory inaccessible, as far as there is time for it, while no operation may
// use it; and all of it accessible again. Both with the queues' lock held.
void close_device_memory();
void open_device_memory();
void release_everything();
void forget_heap();  // device_heap.cpp: its memory is released

}  // namespace simt
