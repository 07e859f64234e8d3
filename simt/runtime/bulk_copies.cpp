// SPDX-License-Identifier: MIT
//
// cp.async.bulk, cp.reduce.async.bulk, st.async. Copies to shared memory are counted by a barrier and land
// when nothing else can run; those from shared memory belong to a group of their thread, and read and write
// at its wait.
#include "async.h"
#include "simt/float16_bits.h"

namespace simt {
namespace {

void check_bytes(std::uint32_t bytes) {
  if (bytes % 16 != 0) fail("simt-misaligned", "cp.async.bulk copies multiples of 16 bytes, not %u", bytes);
}

template <class T>
T reduced(T a, T b, Reduction reduction) {
  switch (reduction) {
    case Reduction::min:
      return b < a ? b : a;
    case Reduction::max:
      return a < b ? b : a;
    case Reduction::add:
      return static_cast<T>(a + b);
    default:
      break;
  }
  if constexpr (std::is_integral_v<T>) {
    switch (reduction) {
      case Reduction::inc:
        return a >= b ? T{0} : static_cast<T>(a + 1);
      case Reduction::dec:
        return a == 0 || a > b ? b : static_cast<T>(a - 1);
      case Reduction::bit_and:
        return static_cast<T>(a & b);
      case Reduction::bit_or:
        return static_cast<T>(a | b);
      case Reduction::bit_xor:
        return static_cast<T>(a ^ b);
      default:
        break;
    }
  }
  return b;
}

// Other blocks may add to the same element meanwhile. `Bits`: an integer as wide as T.
template <class Bits, class Combine>
void exchange(char* to, Combine combine) {
  auto* word = reinterpret_cast<Bits*>(to);
  Bits old = __atomic_load_n(word, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(word, &old, combine(old), true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
  }
}

template <class T, class Bits>
void reduce_as(char* to, const char* from, Reduction reduction) {
  T value;
  std::memcpy(&value, from, sizeof value);
  exchange<Bits>(to, [&](Bits old) {
    T a;
    std::memcpy(&a, &old, sizeof a);
    const T result = reduced(a, value, reduction);
    Bits bits;
    std::memcpy(&bits, &result, sizeof bits);
    return bits;
  });
}

template <class Format>
void reduce_half(char* to, const char* from, Reduction reduction) {
  unsigned short value;
  std::memcpy(&value, from, sizeof value);
  exchange<unsigned short>(to, [&](unsigned short old) {
    return Format::from_float(reduced(Format::to_float(old), Format::to_float(value), reduction));
  });
}

}  // namespace

std::size_t element_size(ElementType type) {
  constexpr std::size_t sizes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2};
  return sizes[static_cast<int>(type)];
}

void reduce_element(char* to, const char* from, Reduction reduction, ElementType type) {
  if (reduction == Reduction::none) {
    std::memcpy(to, from, element_size(type));
    return;
  }
  switch (type) {
    case ElementType::u8:
      return reduce_as<std::uint8_t, std::uint8_t>(to, from, reduction);
    case ElementType::u16:
      return reduce_as<std::uint16_t, std::uint16_t>(to, from, reduction);
    case ElementType::u32:
      return reduce_as<std::uint32_t, std::uint32_t>(to, from, reduction);
    case ElementType::s32:
      return reduce_as<std::int32_t, std::uint32_t>(to, from, reduction);
    case ElementType::u64:
      return reduce_as<std::uint64_t, std::uint64_t>(to, from, reduction);
    case ElementType::s64:
      return reduce_as<std::int64_t, std::uint64_t>(to, from, reduction);
    case ElementType::f32:
      return reduce_as<float, std::uint32_t>(to, from, reduction);
    case ElementType::f64:
      return reduce_as<double, std::uint64_t>(to, from, reduction);
    case ElementType::f16:
      return reduce_half<HalfFormat>(to, from, reduction);
    case ElementType::bf16:
      return reduce_half<Bfloat16Format>(to, from, reduction);
  }
}

std::vector<Block*> blocks_of_mask(std::uint32_t mask) {
  if (mask == 0) return {current->block};
  std::vector<Block*> blocks;
  for (; mask; mask &= mask - 1) {
    const auto rank = static_cast<unsigned>(__builtin_ctz(mask));
    if (worker->launch->cooperative || rank >= worker->resident.size())
      fail("simt-launch", "a multicast copy names rank %u, which is not in this block's cluster", rank);
    blocks.push_back(worker->resident[rank]);
  }
  return blocks;
}

void bulk_to_shared(void* shared, const void* global, std::uint32_t bytes, std::uint64_t* barrier,
                    std::uint32_t block_mask) {
  void* caller = issuer(__builtin_return_address(0));
  check_bytes(bytes);
  check_shared_range(*current->block, shared, bytes, 16, "cp.async.bulk");
  check_global_range(global, bytes, 16, "cp.async.bulk");
  check_barrier(barrier, "cp.async.bulk");
  if (bytes == 0) return;
  if (tracing) trace_bulk_copy(bytes);
  checked_read(global, bytes, caller);
  for (Block* block : blocks_of_mask(block_mask)) {
    const std::ptrdiff_t there = block->shared - current->block->shared;
    char* to = static_cast<char*>(shared) + there;
    auto* counts = reinterpret_cast<std::uint64_t*>(reinterpret_cast<char*>(barrier) + there);
    checked_write(to, bytes, caller);
    note_engine_write(*block, to, bytes);
    poison_destination(to, bytes);
    const std::uint32_t pending = add_pending(*block, to, bytes, counts, false, caller);
    land_later(bytes, [=] {
      std::memcpy(to, global, bytes);
      landed_pending(*block, pending, counts);
      complete_bytes(counts, bytes);
    });
  }
}

void bulk_to_cluster(void* remote, const void* shared, std::uint32_t bytes, std::uint64_t* remote_barrier) {
  void* caller = issuer(__builtin_return_address(0));
  check_bytes(bytes);
  check_shared_range(*current->block, shared, bytes, 16, "cp.async.bulk");
  Block* block = block_of_shared(remote);
  if (!block) fail("simt-oob-shared", "cp.async.bulk: %p is not in the cluster's shared memory", remote);
  check_shared_range(*block, remote, bytes, 16, "cp.async.bulk");
  check_barrier(remote_barrier, "cp.async.bulk");
  if (block != block_of_shared(remote_barrier))
    fail("simt-mbarrier", "cp.async.bulk: the destination and its mbarrier are in different blocks");
  if (bytes == 0) return;
  if (tracing) trace_bulk_copy(bytes);
  checked_read(shared, bytes, caller);
  check_proxy_fence(*current->block, shared, bytes, "cp.async.bulk", caller);
  checked_write(remote, bytes, caller);
  note_engine_write(*block, remote, bytes);
  poison_destination(static_cast<char*>(remote), bytes);
  const std::uint32_t pending = add_pending(*block, remote, bytes, remote_barrier, false, caller);
  land_later(bytes, [=] {
    std::memcpy(remote, shared, bytes);
    landed_pending(*block, pending, remote_barrier);
    complete_bytes(remote_barrier, bytes);
  });
}

void store_async(void* remote, const void* value, std::uint32_t bytes, std::uint64_t* remote_barrier) {
  void* caller = issuer(__builtin_return_address(0));
  Block* block = block_of_shared(remote);
  if (!block) fail("simt-oob-shared", "st.async: %p is not in the cluster's shared memory", remote);
  check_shared_range(*block, remote, bytes, bytes, "st.async");
  check_barrier(remote_barrier, "st.async");
  checked_write(remote, bytes, caller);
  note_engine_write(*block, remote, bytes);
  struct Value {
    char bytes[16];
  } kept = {};
  std::memcpy(kept.bytes, value, bytes);
  const std::uint32_t pending = add_pending(*block, remote, bytes, remote_barrier, false, caller);
  land_later(bytes, [=] {
    std::memcpy(remote, kept.bytes, bytes);
    landed_pending(*block, pending, remote_barrier);
    complete_bytes(remote_barrier, bytes);
  });
}

// ---- groups of copies from shared memory ----

void add_bulk_store(const void* shared, std::size_t bytes, void* caller,
                    std::function<void(const char* from)> copy) {
  Block& block = *current->block;
  ThreadCopies& own = async_copies(block).threads[current->linear];
  const std::uint32_t pending = add_pending(block, shared, bytes, nullptr, true, caller);
  own.bulk.push_back({std::move(copy), static_cast<const char*>(shared), bytes, pending, caller, {}});
}

void bulk_to_global(void* global, const void* shared, std::uint32_t bytes, Reduction reduction,
                    ElementType type) {
  void* caller = issuer(__builtin_return_address(0));
  check_bytes(bytes);
  check_shared_range(*current->block, shared, bytes, 16, "cp.async.bulk");
  check_global_range(global, bytes, 16, "cp.async.bulk");
  if (tracing) trace_bulk_copy(bytes);
  checked_read(shared, bytes, caller);
  check_proxy_fence(*current->block, shared, bytes, "cp.async.bulk", caller);
  checked_write(global, bytes, caller);
  char* to = static_cast<char*>(global);
  add_bulk_store(shared, bytes, caller, [=](const char* from) {
    if (reduction == Reduction::none) {
      std::memcpy(to, from, bytes);
      return;
    }
    const std::size_t size = element_size(type);
    for (std::size_t i = 0; i < bytes; i += size) reduce_element(to + i, from + i, reduction, type);
  });
}

void land_bulk_stores(Block& block, ThreadCopies& own, std::size_t groups_left) {
  const auto land = [&](std::vector<ThreadCopies::BulkStore>& stores) {
    for (const ThreadCopies::BulkStore& store : stores) {
      if (store.kept.empty()) remove_pending(block, store.pending);
      store.copy(store.kept.empty() ? store.shared : store.kept.data() + store.start);
    }
    stores.clear();
  };
  std::size_t groups = 0;
  for (; own.bulk_groups.size() - groups > groups_left; ++groups) land(own.bulk_groups[groups]);
  own.bulk_groups.erase(own.bulk_groups.begin(),
                        own.bulk_groups.begin() + static_cast<std::ptrdiff_t>(groups));
}

namespace {

// What a store copies leaves shared memory, and comes to global memory at a later wait.
void read_source(Block& block, ThreadCopies::BulkStore& store) {
  if (!store.kept.empty() || store.bytes == 0) return;
  constexpr std::size_t kPeriod = 1024;  // of the widest swizzle
  store.kept.resize(store.bytes + kPeriod);
  const auto apart =
      reinterpret_cast<std::uintptr_t>(store.shared) - reinterpret_cast<std::uintptr_t>(store.kept.data());
  store.start = apart % kPeriod;
  std::memcpy(store.kept.data() + store.start, store.shared, store.bytes);
  remove_pending(block, store.pending);
}

}  // namespace

void bulk_commit_group() {
  ThreadCopies& own = async_copies(*current->block).threads[current->linear];
  own.bulk_groups.push_back(std::move(own.bulk));
  own.bulk.clear();
}

void bulk_wait_group(std::uint32_t left, bool read_only) {
  Block& block = *current->block;
  ThreadCopies& own = async_copies(block).threads[current->linear];
  if (!read_only) return land_bulk_stores(block, own, left);
  for (std::size_t i = 0; i + left < own.bulk_groups.size(); ++i)
    for (ThreadCopies::BulkStore& store : own.bulk_groups[i]) read_source(block, store);
}

}  // namespace simt
