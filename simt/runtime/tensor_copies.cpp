// SPDX-License-Identifier: MIT
//
// cp.async.bulk.tensor: boxes of a tensor in global memory, to and from shared memory, in tiled mode.
//
// A box lies in shared memory densely, innermost dimension first. A swizzle then moves each of its 16-byte
// pieces within its row of 128 bytes, by the number of the row, so that a column of pieces is spread over the
// banks. By address: bits 4-6 are changed by bits 7-9 (128-byte swizzle), bits 4-5 by 7-8 (64), bit 4 by 7
// (32).
#include <algorithm>

#include "async.h"
#include "tensor_map.h"

namespace simt {
namespace {

struct Box {
  TensorMap map;
  std::int64_t start[5];
  std::uint32_t extent[5];          // elements in shared memory
  std::uint32_t bytes;              // that a barrier counts
  std::uint32_t rows, pitch, span;  // span: bytes of shared memory from the first to the last
};

std::uintptr_t swizzled(std::uintptr_t address, Swizzle swizzle) {
  switch (swizzle) {
    case Swizzle::none:
      return address;
    case Swizzle::bytes32:
      return address ^ (address >> 3 & 0x10);
    case Swizzle::bytes64:
      return address ^ (address >> 3 & 0x30);
    case Swizzle::bytes128:
      return address ^ (address >> 3 & 0x70);
  }
  return address;
}

Box make_box(const void* map, const int* coordinates, int rank) {
  Box box{};
  std::memcpy(&box.map, map, sizeof box.map);
  if (reinterpret_cast<std::uintptr_t>(map) % 64 != 0)
    fail("simt-misaligned", "cp.async.bulk.tensor: a tensor map's address must be a multiple of 64");
  if (box.map.magic != kTensorMapMagic)
    fail("simt-launch", "cp.async.bulk.tensor: cuTensorMapEncodeTiled has not made this tensor map");
  if (box.map.rank != rank)
    fail("simt-launch", "cp.async.bulk.tensor.%dd on a tensor of %d dimensions", rank, box.map.rank);
  box.bytes = static_cast<std::uint32_t>(element_size(box.map.type));
  if (const std::int64_t first = std::int64_t{coordinates[0]} * box.bytes; first % 16 != 0)
    fail("simt-illegal-instruction",
         "cp.async.bulk.tensor: a box must begin at a multiple of 16 bytes of its row\n"
         "This one begins at element %d, byte %lld.",
         coordinates[0], static_cast<long long>(first));
  for (int i = 0; i < 5; ++i) {
    box.start[i] = i < rank ? coordinates[i] : 0;
    const std::uint32_t stride = i == 0 ? 1 : box.map.element_stride[i];
    box.extent[i] = i < rank ? (box.map.box[i] + stride - 1) / stride : 1;
    box.bytes *= box.extent[i];
  }
  constexpr std::uint32_t kPitches[] = {0, 32, 64, 128};
  const std::uint32_t row = box.extent[0] * static_cast<std::uint32_t>(element_size(box.map.type));
  box.rows = box.bytes / row;
  box.pitch = std::max(row, kPitches[static_cast<int>(box.map.swizzle)]);
  box.span = box.rows * box.pitch;
  return box;
}

// Calls action(global address or null where the row is out of bounds, offset in the box, number of the row).
template <class Action>
void for_each_row(const Box& box, Action action) {
  const TensorMap& map = box.map;
  std::uint32_t at[5] = {};
  for (std::uint32_t row = 0; row < box.rows; ++row) {
    char* global = map.base;
    bool inside = true;
    for (int i = 1; i < map.rank; ++i) {
      const std::int64_t index = box.start[i] + std::int64_t{at[i]} * map.element_stride[i];
      inside = inside && index >= 0 && index < static_cast<std::int64_t>(map.extent[i]);
      global += index * static_cast<std::int64_t>(map.stride[i - 1]);
    }
    action(inside ? global : nullptr, std::size_t{row} * box.pitch);
    for (int i = 1; i < map.rank && ++at[i] == box.extent[i]; ++i) at[i] = 0;
  }
}

// The part of a row that lies inside the tensor: elements [first, last) of the box.
struct Span {
  std::uint32_t first, last;
};
Span inside_of_row(const Box& box) {
  const auto extent = static_cast<std::int64_t>(box.map.extent[0]);
  const std::int64_t width = box.extent[0];
  const std::int64_t first = std::clamp<std::int64_t>(-box.start[0], 0, width);
  const std::int64_t last = std::clamp<std::int64_t>(extent - box.start[0], first, width);
  return {static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(last)};
}

// What stands for an element outside of the tensor: 0, or on request one NaN for all types, read from an
// H200.
void fill_element(char* to, const TensorMap& map) {
  const std::uint64_t fill = map.nan_fill ? 0x7ff77ff77ff77ff7 : 0;
  std::memcpy(to, &fill, element_size(map.type));
}

void copy_element(char* to, const char* from, const TensorMap& map) {
  std::memcpy(to, from, element_size(map.type));
  if (!map.rounds_to_tf32) return;
  std::uint32_t bits;
  std::memcpy(&bits, to, sizeof bits);
  if ((bits & 0x7fffffff) > 0x7f800000) {
    bits = 0x7fffe000;
  } else {
    bits = (bits + 0x0fff + (bits >> 13 & 1)) & ~0x1fffu;  // to nearest even
  }
  std::memcpy(to, &bits, sizeof bits);
}

enum class Fill { poison, data };

void fill_box(const Box& box, char* shared, Fill fill) {
  const TensorMap& map = box.map;
  const std::size_t size = element_size(map.type);
  const Span span = inside_of_row(box);
  for_each_row(box, [&](const char* global, std::size_t offset) {
    for (std::uint32_t i = 0; i < box.extent[0]; ++i) {
      const auto address = reinterpret_cast<std::uintptr_t>(shared) + offset + i * size;
      char* to = reinterpret_cast<char*>(swizzled(address, map.swizzle));
      if (fill == Fill::poison) {
        poison_destination(to, size);
      } else if (global && i >= span.first && i < span.last) {
        copy_element(to, global + (box.start[0] + i) * static_cast<std::int64_t>(size), map);
      } else {
        fill_element(to, map);
      }
    }
  });
}

void store_box(const Box& box, const char* shared, Reduction reduction) {
  const TensorMap& map = box.map;
  const std::size_t size = element_size(map.type);
  const Span span = inside_of_row(box);
  for_each_row(box, [&](char* global, std::size_t offset) {
    if (!global) return;
    for (std::uint32_t i = span.first; i < span.last; ++i) {
      const auto address = reinterpret_cast<std::uintptr_t>(shared) + offset + i * size;
      const char* from = reinterpret_cast<const char*>(swizzled(address, map.swizzle));
      reduce_element(global + (box.start[0] + i) * static_cast<std::int64_t>(size), from, reduction,
                     map.type);
    }
  });
}

// What the box touches of the tensor must be in one live buffer.
template <class Check>
void check_rows(const Box& box, Check check) {
  const std::size_t size = element_size(box.map.type);
  const Span span = inside_of_row(box);
  if (span.first == span.last) return;
  for_each_row(box, [&](char* global, std::size_t) {
    if (!global) return;
    char* first = global + (box.start[0] + span.first) * static_cast<std::int64_t>(size);
    const std::size_t bytes = (span.last - span.first) * size;
    check_global_range(first, bytes, 1, "cp.async.bulk.tensor");
    check(first, bytes);
  });
}

}  // namespace

void tensor_to_shared(void* shared, const void* map, const int* coordinates, int rank, std::uint64_t* barrier,
                      std::uint32_t block_mask) {
  void* caller = issuer(__builtin_return_address(0));
  const Box box = make_box(map, coordinates, rank);
  check_shared_range(*current->block, shared, box.span, 128, "cp.async.bulk.tensor");
  check_barrier(barrier, "cp.async.bulk.tensor");
  if (tracing) trace_bulk_copy(box.bytes);
  check_rows(box, [caller](const char* p, std::size_t bytes) { checked_read(p, bytes, caller); });
  for (Block* block : blocks_of_mask(block_mask)) {
    const std::ptrdiff_t there = block->shared - current->block->shared;
    char* to = static_cast<char*>(shared) + there;
    auto* counts = reinterpret_cast<std::uint64_t*>(reinterpret_cast<char*>(barrier) + there);
    checked_write(to, box.span, caller);
    note_engine_write(*block, to, box.span);
    fill_box(box, to, Fill::poison);
    const std::uint32_t pending = add_pending(*block, to, box.span, counts, false, caller);
    land_later(std::int64_t{box.bytes}, [=] {
      fill_box(box, to, Fill::data);
      landed_pending(*block, pending, counts);
      complete_bytes(counts, box.bytes);
    });
  }
}

void tensor_to_global(const void* map, const void* shared, const int* coordinates, int rank,
                      Reduction reduction) {
  void* caller = issuer(__builtin_return_address(0));
  const Box box = make_box(map, coordinates, rank);
  check_shared_range(*current->block, shared, box.span, 128, "cp.async.bulk.tensor");
  if (tracing) trace_bulk_copy(box.bytes);
  check_rows(box, [caller](char* p, std::size_t bytes) { checked_write(p, bytes, caller); });
  checked_read(shared, box.span, caller);
  check_proxy_fence(*current->block, shared, box.span, "cp.async.bulk.tensor", caller);
  add_bulk_store(shared, box.span, caller, [=](const char* from) { store_box(box, from, reduction); });
}

}  // namespace simt
