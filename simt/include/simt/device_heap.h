// SPDX-License-Identifier: MIT
//
// malloc, free, new and delete in kernels: simtcc makes them these. On the host the same code (of __host__
// __device__ functions) uses the host's heap.
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>

#include "simt/runtime.h"

namespace simt {

// The heap lies in device memory, so that accesses to it are checked as to any buffer, and lives until
// cudaDeviceReset; cudaLimitMallocHeapSize bounds what is in use at a time. Null: it is exhausted.
void* heap_malloc(std::size_t bytes);
void heap_free(void* pointer);
void forget_heap();

struct Heap {};
struct HeapDelete {};
struct HeapDeleteArray {};
constexpr Heap kHeap{};
constexpr HeapDelete kHeapDelete{};
constexpr HeapDeleteArray kHeapDeleteArray{};

template <class T>
inline void operator%(HeapDelete, T* pointer) {
  using Object = std::remove_cv_t<T>;
  if (!pointer) return;
  if constexpr (std::is_void_v<T>) {
    heap_free(const_cast<Object*>(pointer));
  } else {
    Object* const object = const_cast<Object*>(pointer);
    void* whole = object;
    if constexpr (std::is_polymorphic_v<Object>) whole = dynamic_cast<void*>(object);
    object->~Object();
    heap_free(whole);
  }
}
template <class T>
inline void operator%(HeapDeleteArray, T* pointer) {
  using Object = std::remove_cv_t<T>;
  if (!pointer) return;
  char* start = reinterpret_cast<char*>(const_cast<Object*>(pointer));
  if constexpr (!std::is_trivially_destructible_v<Object>) {
    // Before such an array the compiler keeps its length (Itanium C++ ABI, section 2.7).
    std::size_t count = reinterpret_cast<const std::size_t*>(start)[-1];
    while (count > 0) const_cast<Object&>(pointer[--count]).~Object();
    start -= alignof(Object) > sizeof(std::size_t) ? alignof(Object) : sizeof(std::size_t);
  }
  heap_free(start);
}

}  // namespace simt

inline void* operator new(std::size_t bytes, simt::Heap) noexcept {
  return simt::heap_malloc(bytes);
}
inline void* operator new[](std::size_t bytes, simt::Heap) noexcept {
  return simt::heap_malloc(bytes);
}
// Called where a constructor throws.
inline void operator delete(void* pointer, simt::Heap) noexcept {
  simt::heap_free(pointer);
}
inline void operator delete[](void* pointer, simt::Heap) noexcept {
  simt::heap_free(pointer);
}
