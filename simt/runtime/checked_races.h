// SPDX-License-Identifier: MIT
//
// What the shadow says of one access (checked_races.cpp).
#pragma once

#include "checked.h"

namespace simt {

// The cells that stand for a piece of memory.
struct Cells {
  Cell* words;
  Cell* bytes;
  const char* memory;          // what the first cell stands for
  const Block* block;          // whose shared memory it is; null: device memory
  std::uint32_t written_from;  // smallest segment that counts as a write
};

struct Looked {
  std::size_t bytes = 0, uninitialised = 0;
};

// Marks the access in its cells. Reports a race, or that a store is in doubt.
Looked look(const Cells& cells, const char* p, std::size_t bytes, Access access, Strength strength,
            void* caller);

// "s.part[1]" where p is in a shared variable, else "byte 132 of a device buffer".
std::string name_of(const char* p, std::size_t bytes, const Block* block);
std::string thread_name(const Launch& launch, std::uint64_t linear);
std::string block_name(const Launch& launch, std::uint64_t linear);

}  // namespace simt
