// SPDX-License-Identifier: MIT
#include "own_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mutex>

namespace simt {
namespace {

constexpr std::size_t kGuard = 64 * 1024, kChunk = std::size_t{1} << 20;
constexpr int kSmallest = 5, kClasses = 12;  // blocks of 32 bytes to 64 KiB, in powers of two

// Pages between inaccessible ones.
char* map_pages(std::size_t bytes) {
  void* memory =
      mmap(nullptr, bytes + 2 * kGuard, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  char* pages = memory == MAP_FAILED ? nullptr : static_cast<char*>(memory) + kGuard;
  if (!pages || mprotect(pages, bytes, PROT_READ | PROT_WRITE) != 0) {
    std::fprintf(stderr, "simt: the system has no more memory\n");
    std::_Exit(1);
  }
  return pages;
}

struct Free {
  Free* next;
};
struct Pool {
  std::mutex mutex;
  Free* free[kClasses] = {};
  char *fresh = nullptr, *end = nullptr;
};
Pool& pool_of_own() {
  static Pool* pool = new (map_pages(kGuard)) Pool;
  return *pool;
}

int class_of_size(std::size_t bytes) {
  int index = 0;
  while ((std::size_t{1} << (kSmallest + index)) < bytes) ++index;
  return index;
}
std::size_t whole_pages(std::size_t bytes) {
  return (bytes + kGuard - 1) / kGuard * kGuard;
}

}  // namespace

void* own_allocate(std::size_t bytes) {
  const int index = class_of_size(bytes);
  if (index >= kClasses) return map_pages(whole_pages(bytes));
  Pool& p = pool_of_own();
  const std::lock_guard<std::mutex> lock(p.mutex);
  if (Free* found = p.free[index]) {
    p.free[index] = found->next;
    return found;
  }
  const std::size_t size = std::size_t{1} << (kSmallest + index);
  if (static_cast<std::size_t>(p.end - p.fresh) < size) {
    p.fresh = map_pages(kChunk);
    p.end = p.fresh + kChunk;
  }
  p.fresh += size;
  return p.fresh - size;
}

void own_free(void* memory, std::size_t bytes) {
  if (!memory) return;
  const int index = class_of_size(bytes);
  if (index >= kClasses) {
    munmap(static_cast<char*>(memory) - kGuard, whole_pages(bytes) + 2 * kGuard);
    return;
  }
  Pool& p = pool_of_own();
  const std::lock_guard<std::mutex> lock(p.mutex);
  p.free[index] = new (memory) Free{p.free[index]};
}

}  // namespace simt
