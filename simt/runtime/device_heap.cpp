// SPDX-License-Identifier: MIT
//
// The heap of malloc and new in kernels. The first blocks are allocations of their own, checked to the byte
// as a cudaMalloc's; a kernel that takes thousands gets the rest from larger pieces.
#include <cstdlib>
#include <deque>
#include <unordered_map>

#include "device_memory.h"
#include "shadow.h"
#include "simt/device_heap.h"

namespace simt {

std::size_t device_heap_bytes();  // api/device.cpp

namespace {

constexpr std::size_t kOwnAllocations = 4096;
constexpr std::size_t kPiece = 1 << 20;
constexpr std::size_t kLargestShared = 64 << 10;  // of blocks that share a piece

struct HeapBlock {
  std::size_t bytes;
  std::size_t share;  // bytes of a piece; 0: an allocation of its own
};

struct DeviceHeap {
  std::mutex mutex;
  std::unordered_map<void*, HeapBlock> live;
  std::unordered_map<std::size_t, std::deque<char*>> freed;  // by share; the oldest is used again first
  std::size_t used = 0, own = 0;
  char* piece = nullptr;
  std::size_t left = 0;  // of it
};
DeviceHeap& heap() {
  static DeviceHeap* const instance = new DeviceHeap;
  return *instance;
}

std::size_t share_of(std::size_t bytes) {
  std::size_t share = 32;
  while (share < bytes) share *= 2;
  return share;
}

char* take_share(DeviceHeap& h, std::size_t share) {
  std::deque<char*>& freed = h.freed[share];
  if (!freed.empty()) {
    char* block = freed.front();
    freed.pop_front();
    shadow_forget(block, share);
    return block;
  }
  if (h.left < share) {
    h.piece = static_cast<char*>(allocate(kPiece, MemoryKind::device));
    h.left = h.piece ? kPiece : 0;
    if (!h.piece) return nullptr;
  }
  h.left -= share;
  return h.piece + h.left;
}

}  // namespace

void* heap_malloc(std::size_t bytes) {
  if (!in_kernel()) return std::malloc(bytes);
  DeviceHeap& h = heap();
  std::lock_guard<std::mutex> lock(h.mutex);
  if (bytes == 0 || bytes > device_heap_bytes() - std::min(h.used, device_heap_bytes())) return nullptr;
  const bool own = h.own < kOwnAllocations || bytes > kLargestShared;
  const std::size_t share = own ? 0 : share_of(bytes);
  void* block = own ? allocate(bytes, MemoryKind::device) : take_share(h, share);
  if (!block) return nullptr;
  h.own += own;
  h.used += bytes;
  h.live[block] = {bytes, share};
  return block;
}

void heap_free(void* pointer) {
  if (!pointer) return;
  if (!in_kernel() && !in_arena(pointer)) return std::free(pointer);
  DeviceHeap& h = heap();
  HeapBlock block{};
  {
    std::lock_guard<std::mutex> lock(h.mutex);
    const auto found = h.live.find(pointer);
    if (found != h.live.end()) {
      block = found->second;
      h.live.erase(found);
      h.used -= block.bytes;
      if (block.share) {
        if (in_kernel()) std::memset(pointer, kPoison, block.bytes);
        h.freed[block.share].push_back(static_cast<char*>(pointer));
      }
    }
  }
  if (block.bytes == 0) {
    const char* what =
        "free or delete of %p, which malloc or new in a kernel did not return, or which is freed already";
    if (in_kernel()) fail("simt-free", what, pointer);
    report_host("simt-free", what, pointer);
  } else if (block.share == 0) {
    release(pointer);
  }
}

void forget_heap() {
  DeviceHeap& h = heap();
  std::lock_guard<std::mutex> lock(h.mutex);
  h.live.clear();
  h.freed.clear();
  h.used = h.own = h.left = 0;
  h.piece = nullptr;
}

}  // namespace simt
