// SPDX-License-Identifier: MIT
//
// Device memory: one reservation of address space, in which every allocation ends at an inaccessible page.
#pragma once

#include <cstddef>
#include <string>

#include "simt/runtime.h"

namespace simt {

constexpr std::size_t kMaxStaticShared = 48 * 1024;
constexpr std::size_t kMaxDynamicShared = 227 * 1024;

std::size_t page_size();
/// A block's shared memory: static variables, an inaccessible page, dynamic memory, an inaccessible page.
char* new_shared_area();
std::size_t shared_area_size();
/// Fills memory with 0xff: NaN as any float, -1 as any integer.
void poison(void* p, std::size_t bytes);
/// Reports each allocation around which the kernel has written.
void check_canaries(const char* kernel);
/// What an address in or near device memory belongs to, for a report.
struct Blame {
  bool freed = false;
  std::string text;
};
Blame blame(const void* address);

}  // namespace simt
