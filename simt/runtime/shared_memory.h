// SPDX-License-Identifier: MIT
//
// Shared memory of the resident blocks (shared.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "failures.h"
#include "threads.h"

namespace simt {

struct SharedLayout;

SharedLayout* shared_layout(std::uint32_t kernel);
void attach_shared(Block& block, std::size_t dynamic_bytes);  // gives it an arena if it has none
void check_and_reset_shared(Block& block);                    // after the block: canaries, poison
bool indexes_shared(const std::string& source);  // whether a line of a kernel indexes a __shared__ variable
bool shared_holds(const Block& block, const char* p, std::size_t bytes, std::string* beyond);
std::size_t shared_memory_of(const void* address);  // which block's, as a number
std::string describe_shared(const Block& block, const void* address);
// The message of a report: what the running thread accesses, and how far off its address is.
std::string misaligned_access(const char* who, bool write, const char* p, std::size_t bytes,
                              std::size_t alignment);
std::string shared_name(const Block& block, const char* p, std::size_t bytes);  // "tile[3][1]"

}  // namespace simt
