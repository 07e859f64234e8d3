// SPDX-License-Identifier: MIT
#include "variables.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>

namespace simt {

ManagedRange managed_range;

namespace {

struct Variables {
  std::mutex mutex;
  std::map<const char*, Variable> all;  // by address
  bool host_names_any = false;
};
Variables& variables() {  // never destroyed: kernels may run when the program exits
  static auto* variables = new Variables;
  return *variables;
}

const Variable* around(const Variables& v, const char* p) {
  auto it = v.all.upper_bound(p);
  if (it == v.all.begin()) return nullptr;
  --it;
  return p < it->first + it->second.bytes ? &it->second : nullptr;
}

}  // namespace

void keep_variable(const volatile void* address, std::size_t bytes, const char* name, VariableKind kind,
                   bool host_names) {
  Variables& v = variables();
  const std::lock_guard<std::mutex> lock(v.mutex);
  const char* const begin = static_cast<const char*>(const_cast<const void*>(address));
  Variable& variable = v.all[begin];  // several files may have an inline one
  host_names = host_names && kind != VariableKind::managed;
  variable = {begin, bytes, name, kind, variable.host_names || host_names, variable.asked};
  v.host_names_any = v.host_names_any || host_names;
  if (kind != VariableKind::managed) return;
  const auto first = reinterpret_cast<std::uintptr_t>(begin), last = first + bytes;
  ManagedRange& m = managed_range;
  const std::uintptr_t end = m.bytes ? std::max(m.begin + m.bytes, last) : last;
  m.begin = m.bytes ? std::min(m.begin, first) : first;
  m.bytes = end - m.begin;
}

bool find_variable(const void* address, Variable* found) {
  Variables& v = variables();
  const std::lock_guard<std::mutex> lock(v.mutex);
  const Variable* variable = around(v, static_cast<const char*>(address));
  if (variable) *found = *variable;
  return variable != nullptr;
}

void symbol_address_given(const void* symbol) {
  Variables& v = variables();
  const std::lock_guard<std::mutex> lock(v.mutex);
  const auto it = v.all.find(static_cast<const char*>(symbol));
  if (it != v.all.end()) it->second.asked = true;
}

bool find_hosts_name(const void* address, Variable* found) {
  return find_variable(address, found) && found->host_names && !found->asked;
}

bool find_hosts_name_among(const void* arguments, std::size_t bytes, Variable* found) {
  if (!variables().host_names_any) return false;
  for (std::size_t at = 0; at + sizeof(void*) <= bytes; at += sizeof(void*)) {
    const void* word;
    std::memcpy(&word, static_cast<const char*>(arguments) + at, sizeof word);
    if (find_hosts_name(word, found)) return true;
  }
  return false;
}

const char* kind_word(const Variable& variable) {
  return variable.kind == VariableKind::constant  ? "__constant__"
         : variable.kind == VariableKind::managed ? "__managed__"
                                                  : "__device__";
}

}  // namespace simt
