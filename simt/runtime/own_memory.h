// SPDX-License-Identifier: MIT
//
// Memory for what the runtime keeps of streams, operations and buffers: pages of its own, between inaccessible ones. On the heap a
// program that writes past its own blocks would reach it first, and would hang in a broken lock, say, instead of failing by itself.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <vector>

namespace simt {

void* own_allocate(std::size_t bytes);  // aligned as operator new's; ends the program where there is none
void own_free(void* memory, std::size_t bytes);

template <class T>
struct OwnAllocator {
  using value_type = T;
  OwnAllocator() = default;
  template <class U>
  OwnAllocator(const OwnAllocator<U>&) {}
  T* allocate(std::size_t n) { return static_cast<T*>(own_allocate(n * sizeof(T))); }
  void deallocate(T* memory, std::size_t n) { own_free(memory, n * sizeof(T)); }
  template <class U>
  bool operator==(const OwnAllocator<U>&) const {
    return true;
  }
  template <class U>
  bool operator!=(const OwnAllocator<U>&) const {
    return false;
  }
};
template <class T>
using OwnVector = std::vector<T, OwnAllocator<T>>;
template <class T>
using OwnSet = std::set<T, std::less<T>, OwnAllocator<T>>;
template <class Key, class T>
using OwnMap = std::map<Key, T, std::less<Key>, OwnAllocator<std::pair<const Key, T>>>;

// A base of what `new` makes there.
struct InOwnMemory {
  static void* operator new(std::size_t bytes) { return own_allocate(bytes); }
  static void operator delete(void* memory, std::size_t bytes) { own_free(memory, bytes); }
};

}  // namespace simt
