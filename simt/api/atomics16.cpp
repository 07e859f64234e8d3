// SPDX-License-Identifier: MIT
//
// Atomics on 16 bytes. One lock is enough: fibers never leave their OS thread inside, and nobody holds it for
// longer than a copy.

#include <atomic>
#include <cstring>

#include "simt/runtime.h"

namespace simt {
namespace {

class SpinLock {
 public:
  SpinLock() {
    while (taken().test_and_set(std::memory_order_acquire)) {
    }
  }
  ~SpinLock() { taken().clear(std::memory_order_release); }

 private:
  static std::atomic_flag& taken() {
    static std::atomic_flag flag = ATOMIC_FLAG_INIT;
    return flag;
  }
};

}  // namespace

void swap16(void* address, const void* value, void* old) {
  const AtomicPoint point(address, 16, AtomicKind::store);
  const SpinLock lock;
  std::memcpy(old, address, 16);
  std::memcpy(address, value, 16);
}

void compare_and_swap16(void* address, const void* compare, const void* value, void* old) {
  const AtomicPoint point(address, 16);
  const SpinLock lock;
  std::memcpy(old, address, 16);
  if (std::memcmp(address, compare, 16) == 0) std::memcpy(address, value, 16);
}

}  // namespace simt
