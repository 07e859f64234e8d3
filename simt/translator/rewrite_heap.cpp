// SPDX-License-Identifier: MIT
//
// malloc, free, new and delete in code that runs in kernels go to the device's heap:
//
//   malloc(n), free(p)   ::simt::heap_malloc(n), ::simt::heap_free(p)
//   new T(a), new T[n]   new (::simt::kHeap) T(a), ...
//   delete p, delete[]   ::simt::kHeapDelete % p, ...: % binds as tightly as delete to what follows it
#include <string>

#include "rewrite.h"

namespace simtcc {
namespace {

bool runs_in_kernels(const Unit& u, int i) {
  const Body* body = u.scopes.body_around(i);
  return body && body->device;
}

// Whether the unit has a function of its own under this name.
bool is_declared(const Unit& u, std::string_view name) {
  for (const Declaration& d : u.scopes.declarations)
    if (d.name >= 0 && d.parameters >= 0 && u.t.is(d.name, name)) return true;
  return false;
}

// The first token of `free`, `::free` or `std::free` that ends at i; -1: of another class or namespace.
int start_of_name(const Tokens& t, int i) {
  if (t.is(i - 1, ".") || t.is(i - 1, "->")) return -1;
  if (!t.is(i - 1, "::")) return i;
  if (!t.is_word(i - 2) || t.is(i - 2, "return")) return i - 1;
  return t.is(i - 2, "std") ? i - 2 : -1;
}

}  // namespace

void rewrite_heap(const Unit& u) {
  const Tokens& t = u.t;
  const bool own_malloc = is_declared(u, "malloc"), own_free = is_declared(u, "free");
  for (int i = 0; i < t.size(); ++i) {
    const std::string_view w = t.text(i);
    const bool allocates = w == "malloc" && !own_malloc, frees = w == "free" && !own_free;
    if (allocates || frees) {
      const int start = t.is(i + 1, "(") && runs_in_kernels(u, i) ? start_of_name(t, i) : -1;
      if (start >= 0) u.edits.replace(start, i, allocates ? "::simt::heap_malloc" : "::simt::heap_free");
    } else if (w == "new" && !t.is(i - 1, "operator") && !t.is(i + 1, "(") && runs_in_kernels(u, i)) {
      u.edits.after(i, " (::simt::kHeap)");
    } else if (w == "delete" && !t.is(i - 1, "operator") && !t.is(i - 1, "=") && runs_in_kernels(u, i)) {
      const bool array = t.is(i + 1, "[") && t.is(i + 2, "]");
      const int start = t.is(i - 1, "::") && !t.is_word(i - 2) ? i - 1 : i;
      u.edits.replace(start, array ? i + 2 : i,
                      array ? "::simt::kHeapDeleteArray %" : "::simt::kHeapDelete %");
    }
  }
}

}  // namespace simtcc
