// SPDX-License-Identifier: MIT
//
// Shared memory. Each block object owns an arena in one reserved region:
//
//   [guard page] static variables, each followed by a red zone ... poison ... dynamic part [guard page]
//
// Between blocks every byte of an arena is poison (0xff: NaN as float), so what a kernel forgets to write it
// does not find by luck, and a red zone that changed shows an overrun. The dynamic part ends at the guard
// page.
#include <sys/mman.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>

#include "device_memory.h"
#include "doubts.h"
#include "shadow.h"
#include "shared_memory.h"

namespace simt {

// One kernel's static variables, in the order in which its threads first met them.
struct SharedLayout {
  SharedSlot* slots[256];
  std::size_t offsets[256];
  std::atomic<unsigned> count{0};
  std::atomic<std::size_t> end{0};  // red zones included
  std::uint8_t* valid = nullptr;    // of each 16 bytes of the arena, how many belong to a variable
  std::size_t bytes = 0;            // as the GPU would lay them out
};

namespace {

constexpr std::size_t kPage = 16 * 1024;    // the largest page of the machines we run on
constexpr std::size_t kArena = 512 * 1024;  // of addresses, a block
constexpr std::size_t kUsable = kArena - 2 * kPage;
constexpr std::size_t kRedZone = 128;
constexpr std::size_t kWidestAlignment = 1024;  // that a dynamic array may ask for
constexpr std::size_t kArenas = 1 << 16;

std::mutex mutex;  // protects the three below; a layout's lists grow under it, and are read without
std::vector<SharedLayout*>&
layouts() {  // by kernel id; never destroyed: kernels may run when the program exits
  static auto* all = new std::vector<SharedLayout*>;
  return *all;
}
char* region = nullptr;
std::size_t arenas = 0;

char* new_arena() {
  std::lock_guard<std::mutex> lock(mutex);
  if (!region) {
    void* memory =
        mmap(nullptr, kArenas * kArena, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    region = memory == MAP_FAILED ? nullptr : static_cast<char*>(memory);
  }
  char* arena = region + arenas++ * kArena + kPage;
  if (!region || arenas > kArenas || mprotect(arena, kUsable, PROT_READ | PROT_WRITE) != 0) {
    std::fprintf(stderr, "simt: no memory for the shared memory of a block\n");
    std::_Exit(1);
  }
  std::memset(arena, kPoison, kUsable);
  return arena;
}

// A size's own alignment, at least 16 as on a GPU: then most arrays end exactly at the guard page.
std::size_t natural_alignment(std::size_t bytes) {
  return std::clamp<std::size_t>(bytes & -bytes, 16, kWidestAlignment);
}

const char* first_changed(const char* from, const char* to) {
  for (; from < to; ++from)
    if (static_cast<unsigned char>(*from) != kPoison) return from;
  return nullptr;
}

std::string slot_name(const SharedSlot& slot) {
  return slot.name ? format_text("shared %s", slot.name) : "a shared variable of " + bytes_text(slot.size);
}

void report_changed(const Block& block, const std::string& what) {
  const Launch& launch = *worker->launch;
  Failure failure;
  failure.slug = "simt-oob-shared";
  failure.title = "out of bounds on shared memory";
  failure.error = cudaErrorIllegalAddress;
  failure.details = format_text(
      "kernel %s, block (%u,%u,%u): %s\nFound when the block ended; a checked build names the line.",
      launch.kernel->name, block.index.x, block.index.y, block.index.z, what.c_str());
  record_failure(*worker->launch, failure);
}

}  // namespace

void attach_shared(Block& block, std::size_t dynamic_bytes) {
  if (!block.shared) block.shared = new_arena();
  block.shared_bytes = kUsable;
  char* end = block.shared + kUsable;
  const std::size_t alignment = natural_alignment(dynamic_bytes);
  block.dynamic = end - round_up(dynamic_bytes, alignment);
  block.dynamic_begin = dynamic_bytes ? block.dynamic - kWidestAlignment : end;
  if (!checked_build) return;
  block.valid = worker->launch->shared_layout->valid;
  if (!block.cells) block.cells = new_shared_cells(kUsable / 4);
  if (!block.byte_cells) block.byte_cells = new_shared_cells(kUsable);
}

std::uint64_t hash_shared(const Block& block, std::uint64_t seed) {
  const char* end = block.shared + block.shared_bytes;
  seed = hash_bytes(block.shared, worker->launch->shared_layout->end.load(), seed);
  return hash_bytes(block.dynamic, static_cast<std::size_t>(end - block.dynamic), seed);
}

SharedLayout* shared_layout(std::uint32_t kernel) {
  std::lock_guard<std::mutex> lock(mutex);
  while (layouts().size() <= kernel) layouts().push_back(new SharedLayout);
  SharedLayout* layout = layouts()[kernel];
  if (checked_build && !layout->valid) layout->valid = new std::uint8_t[kUsable / 16]();
  return layout;
}

char* place_shared(SharedSlot& slot) {
  if (!current) fail("simt-launch", "%s is used outside a kernel", slot_name(slot).c_str());
  const Launch& launch = *worker->launch;
  SharedLayout& layout = *launch.shared_layout;
  std::unique_lock<std::mutex> lock(mutex);
  const unsigned count = layout.count;
  unsigned i = 0;
  while (i < count && layout.slots[i] != &slot) ++i;
  if (i == count) {
    const std::size_t bytes = round_up(layout.bytes, slot.alignment) + slot.size;
    if (bytes > kSharedPerBlock || bytes + launch.dynamic_shared > kSharedPerBlockOptin || count == 256) {
      lock.unlock();
      fail("simt-launch",
           "too much shared memory\n"
           "Static: %zu bytes (at most %zu), dynamic: %zu; together at most %zu.",
           bytes, kSharedPerBlock, launch.dynamic_shared, kSharedPerBlockOptin);
    }
    layout.slots[i] = &slot;
    layout.offsets[i] = round_up(layout.end, std::max<std::size_t>(slot.alignment, kRedZone));
    layout.bytes = launch.kernel->static_shared = bytes;
    layout.end = layout.offsets[i] + slot.size + kRedZone;
    layout.count = count + 1;
    for (std::size_t at = 0; layout.valid && at < slot.size; at += 16)
      layout.valid[(layout.offsets[i] + at) / 16] =
          static_cast<std::uint8_t>(std::min<std::size_t>(slot.size - at, 16));
  }
  __atomic_store_n(&slot.where, std::uint64_t{kernel_id} << 32 | layout.offsets[i], __ATOMIC_RELAXED);
  return shared_base + layout.offsets[i];
}

void* dynamic_shared(std::size_t alignment) {
  if (!current) fail("simt-launch", "extern __shared__ memory is used outside a kernel");
  const auto start = reinterpret_cast<std::uintptr_t>(current->block->dynamic);
  return reinterpret_cast<void*>(start / alignment * alignment);
}

std::size_t dynamic_shared_bytes() {
  return worker->launch->dynamic_shared;
}

// Runs after each block, so it looks only at what the kernel uses.
void check_and_reset_shared(Block& block) {
  const Launch& launch = *worker->launch;
  const SharedLayout& layout = *launch.shared_layout;
  char* end = block.shared + kUsable;
  const std::size_t static_end = layout.end;
  if (!worker->stopped()) {
    for (unsigned i = 0, count = layout.count; i < count; ++i) {
      const char* zone = block.shared + layout.offsets[i] + layout.slots[i]->size;
      if (const char* changed = first_changed(zone, zone + kRedZone)) {
        report_changed(block,
                       "something wrote " + past_end_of(changed - zone) + " " + slot_name(*layout.slots[i]));
      }
    }
    const char* tail = block.dynamic + launch.dynamic_shared;
    if (const char* changed = first_changed(tail, end)) {
      report_changed(
          block, format_text("something wrote %s the %s of dynamic shared memory",
                             past_end_of(changed - tail).c_str(), bytes_text(launch.dynamic_shared).c_str()));
    }
  }
  settle_doubt(nullptr, false);
  settle_block(block);
  std::memset(block.shared, kPoison, static_end);
  if (launch.dynamic_shared > 0) {
    char* start = block.dynamic - kWidestAlignment;
    std::memset(start, kPoison, end - start);
  }
}

bool is_shared(const void* address) {
  const char* p = static_cast<const char*>(address);
  return region && p >= region && p < region + arenas * kArena;
}

std::size_t shared_memory_of(const void* address) {
  return static_cast<std::size_t>(static_cast<const char*>(address) - region) / kArena;
}

std::string describe_shared(const Block& block, const void* address) {
  const char* p = static_cast<const char*>(address);
  const char* end = block.shared + kUsable;
  const std::size_t dynamic = worker->launch->dynamic_shared;
  if (p >= end && p < end + kPage) {
    return format_text("%s the %s of dynamic shared memory that <<<>>> gave", past_end_of(p - end).c_str(),
                       bytes_text(dynamic).c_str());
  }
  if (p < block.shared && p >= block.shared - kPage) {
    return bytes_text(static_cast<std::size_t>(block.shared - p)) + " before the start of shared memory";
  }
  return "in the shared memory of another block";
}

bool indexes_shared(const std::string& source) {
  const SharedLayout& layout = *worker->launch->shared_layout;
  for (unsigned i = 0, count = layout.count; i < count; ++i) {
    const std::string name = layout.slots[i]->name ? layout.slots[i]->name : "";
    const auto word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
    for (std::size_t at = source.find(name); !name.empty() && at != std::string::npos;
         at = source.find(name, at + 1)) {
      const char next = at + name.size() < source.size() ? source[at + name.size()] : ' ';
      if ((at == 0 || !word(source[at - 1])) && (next == '[' || next == '.')) return true;
    }
  }
  return false;
}

// The variable and, in an array, the element.
std::string shared_name(const Block& block, const char* p, std::size_t bytes) {
  const SharedLayout& layout = *worker->launch->shared_layout;
  for (unsigned i = 0, count = layout.count; i < count; ++i) {
    const SharedSlot& slot = *layout.slots[i];
    const char* begin = block.shared + layout.offsets[i];
    if (p < begin || p >= begin + slot.size) continue;
    const std::string name = slot.name ? slot.name : "a shared variable";
    auto offset = static_cast<std::size_t>(p - begin);
    std::string indices;
    std::size_t step = slot.shape.bytes;
    for (const std::size_t extent : slot.shape.extents) step *= extent;
    for (const std::size_t extent : slot.shape.extents) {
      if (slot.shape.extents[0] == 1 && step == slot.shape.bytes) break;
      step /= extent;
      if (&extent != &slot.shape.extents[0] && extent == 1) continue;
      indices += "[" + std::to_string(offset / step) + "]";
      offset %= step;
    }
    if (offset > 0 || bytes < slot.shape.bytes) indices += format_text(" (byte %zu)", offset);
    return name + indices;
  }
  return format_text("byte %td of dynamic shared memory", p - block.dynamic);
}

// Whether an access lies in one variable or in the dynamic part. `beyond` says what is wrong with an access
// to this block's arena that doesn't; it stays empty for the arenas of others.
bool shared_holds(const Block& block, const char* p, std::size_t bytes, std::string* beyond) {
  if (p < block.shared - kPage || p >= block.shared + kUsable + kPage) return false;
  const Launch& launch = *worker->launch;
  if (p >= block.dynamic_begin) {
    const char* end = block.shared + kUsable;
    if (p + bytes <= end) return true;
    *beyond = describe_shared(block, std::max(p, end));
    return false;
  }
  const SharedLayout& layout = *launch.shared_layout;
  const SharedSlot* before = nullptr;
  std::ptrdiff_t past = 0;
  for (unsigned i = 0, count = layout.count; i < count; ++i) {
    const SharedSlot& slot = *layout.slots[i];
    const char* begin = block.shared + layout.offsets[i];
    if (p >= begin && p + bytes <= begin + slot.size) return true;
    if (p >= begin) {
      before = &slot;
      past = p - (begin + static_cast<std::ptrdiff_t>(slot.size));
    }
  }
  *beyond = before ? past_end_of(std::max<std::ptrdiff_t>(past, 0)) + " " + slot_name(*before)
                   : std::string("before the start of shared memory");
  return false;
}

}  // namespace simt
