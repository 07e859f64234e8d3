// SPDX-License-Identifier: MIT
#include "api/host_objects.h"

#include <unistd.h>
#include <unwind.h>

#include <atomic>
#include <cstdint>
#include <fstream>
#include <sstream>

#include "runtime/failures.h"
#include "runtime/module.h"

namespace simt {
namespace {

// ---- the heap ----

#ifdef __GLIBC__

// A block of glibc's main heap: [size before] [size and three flags] user's bytes, which go on into the next block's first word.
// Blocks follow each other without gaps, so that the way from the first one tells a block's beginning from bytes that only look
// like it.
constexpr std::size_t kHeader = 2 * sizeof(std::size_t), kFlags = 7, kBeforeInUse = 1, kMapped = 2,
                      kOtherHeap = 4;
constexpr int kNearBlocks = 4096, kAllBlocks = 1 << 24;

std::size_t word_at(const char* p) {
  return *reinterpret_cast<const volatile std::size_t*>(p);
}
const char* end_of_heap() {
  return static_cast<const char*>(sbrk(0));
}
const char* begin_of_heap() {
  static std::atomic<const char*> known{nullptr};
  if (const char* begin = known.load()) return begin;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find("[heap]") == std::string::npos) continue;
    std::uintptr_t begin = 0;
    std::istringstream(line) >> std::hex >> begin;
    known = reinterpret_cast<const char*>(begin);
    break;
  }
  return known.load();
}

struct HeapBlock {
  const char* begin;  // the user's first byte
  const char* end;
};

// The block whose header stands at `header`, if it can be one that is in use.
bool read_block(const char* header, const char* end, HeapBlock* block) {
  const std::size_t word = word_at(header + sizeof(std::size_t)), size = word & ~kFlags;
  if (size < 2 * kHeader || size % kHeader != 0 || (word & (kMapped | kOtherHeap)) != 0) return false;
  if (size > static_cast<std::size_t>(end - header) - kHeader) return false;
  *block = {header + kHeader, header + size + sizeof(std::size_t)};
  return true;
}
bool in_use(const HeapBlock& block) {
  return word_at(block.end) & kBeforeInUse;
}

// The block that p lies in, by the way from the first one; at most so many.
bool find_block(const char* p, int most, HeapBlock* block) {
  const char* const end = end_of_heap();
  for (const char* header = begin_of_heap(); most > 0 && header < p; --most) {
    if (!read_block(header, end, block)) return false;
    if (p < block->end) return p >= block->begin && in_use(*block);
    header = block->end - sizeof(std::size_t);
  }
  return false;
}

bool leaves_heap_block(const char* p, std::size_t bytes, HostObject* object) {
  const char* const begin = begin_of_heap();
  HeapBlock block = {};
  if (begin && p >= begin + kHeader && p < end_of_heap()) {
    const bool seems = reinterpret_cast<std::uintptr_t>(p) % kHeader == 0 &&
                       read_block(p - kHeader, end_of_heap(), &block) && in_use(block);
    if (seems && bytes <= static_cast<std::size_t>(block.end - p)) return false;
    if (!find_block(p, kNearBlocks, &block) && !(seems && find_block(p, kAllBlocks, &block))) return false;
  } else {
    // A large block has pages of its own, which begin with its header.
    constexpr std::uintptr_t kPage = 4096;
    if (reinterpret_cast<std::uintptr_t>(p) % kPage != kHeader || word_at(p - kHeader) != 0) return false;
    const std::size_t word = word_at(p - sizeof(std::size_t));
    if ((word & kFlags) != kMapped || (word & ~kFlags) % kPage != 0 || word < kPage) return false;
    block = {p, p - kHeader + (word & ~kFlags)};
  }
  object->left = static_cast<std::size_t>(block.end - p);
  object->what = format_text("the %td of a block on the heap (malloc, new)", block.end - block.begin);
  return bytes > object->left;
}

#else

bool leaves_heap_block(const char*, std::size_t, HostObject*) {
  return false;
}

#endif

// ---- the stack ----

// A function's variables lie between its callee's frame and its own return address.
struct Search {
  const char* p;
  const char* below = nullptr;  // where the frame begins that was looked at last
  const char* end = nullptr;
};
_Unwind_Reason_Code look_at_frame(_Unwind_Context* context, void* data) {
  auto& search = *static_cast<Search*>(data);
  const auto* frame = reinterpret_cast<const char*>(_Unwind_GetCFA(context));
  if (frame > search.p) {
    if (search.below) search.end = frame;
    return _URC_END_OF_STACK;
  }
  search.below = frame;
  return _URC_NO_REASON;
}

bool leaves_frame(const char* p, std::size_t bytes, HostObject* object) {
  constexpr std::uintptr_t kLargeStack = std::uintptr_t{1} << 30;
  const char here = 0;
  if (reinterpret_cast<std::uintptr_t>(p) - reinterpret_cast<std::uintptr_t>(&here) > kLargeStack)
    return false;
  Search search{p};
  _Unwind_Backtrace(look_at_frame, &search);
  if (!search.end) return false;
#ifdef __x86_64__
  search.end -= sizeof(void*);  // the return address
#endif
  object->left = static_cast<std::size_t>(search.end - p);
  object->what = "the stack frame of the local variable there";
  return bytes > object->left;
}

// ---- variables of the program ----

bool leaves_variable(const char* p, std::size_t bytes, HostObject* object) {
  const char* begin = nullptr;
  std::size_t size = 0;
  std::string name;
  if (!variable_around(p, &begin, &size, &name)) return false;
  object->left = static_cast<std::size_t>(begin + size - p);
  object->what = format_text("the %zu of the variable %s", size, name.c_str());
  return bytes > object->left;
}

struct Known {
  const void* pointer;
  std::size_t bytes;
};
thread_local Known extents[2];

}  // namespace

KnownExtents::KnownExtents(const void* to, std::size_t to_bytes, const void* from, std::size_t from_bytes) {
  extents[0] = {to, to_bytes};
  extents[1] = {from, from_bytes};
}
KnownExtents::~KnownExtents() {
  extents[0] = extents[1] = {};
}

bool leaves_host_object(const void* pointer, std::size_t bytes, HostObject* object) {
  const char* const p = static_cast<const char*>(pointer);
  for (const Known& k : extents) {
    if (k.pointer != pointer || k.bytes == 0 || bytes <= k.bytes) continue;
    object->left = k.bytes;
    object->what = "what it points to";
    return true;
  }
  return leaves_frame(p, bytes, object) || leaves_variable(p, bytes, object) ||
         leaves_heap_block(p, bytes, object);
}

}  // namespace simt
