// SPDX-License-Identifier: MIT
//
// Variables of the program that device code uses: __device__, __constant__, __managed__. Each is one object here for both sides. On a
// GPU the host has another one of the same name, whose address no kernel can use; the translator says which names host code spells.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "user_view.h"

namespace simt {

struct Variable {
  const char* begin = nullptr;
  std::size_t bytes = 0;
  const char* name = "";
  VariableKind kind = VariableKind::device;
  bool host_names = false;  // host code spells its name elsewhere than for the functions that take a symbol
  bool asked = false;       // cudaGetSymbolAddress() has given its address
};
bool find_variable(const void* address, Variable* found);
void symbol_address_given(const void* symbol);
// The variable that an address can only be the host's own address of.
bool find_hosts_name(const void* address, Variable* found);
// The same for any pointer among the arguments of a kernel, which the launch holds as bytes.
bool find_hosts_name_among(const void* arguments, std::size_t bytes, Variable* found);
const char* kind_word(const Variable& variable);  // "__device__"

// All __managed__ variables lie in [begin, begin + bytes); checked builds look at the host's accesses there.
struct ManagedRange {
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
};
extern ManagedRange managed_range;

}  // namespace simt
