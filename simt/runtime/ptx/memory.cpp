// SPDX-License-Identifier: MIT
//
// Loads, stores, atomic operations, and addresses. An address of shared memory is its offset in the block's,
// with the rank + 1 of the cluster's block in the upper 8 of 32 bits (0: this block).
#include "../shared_memory.h"
#include "program.h"

namespace simt {
size_t shared_offset(const void* p);
}

namespace simt::ptx_code {
namespace {

constexpr std::uint64_t kOffsetMask = 0xffffff;

void touch(const Frame& f, char* p, std::size_t bytes, bool writes, bool strong = false) {
  if (reinterpret_cast<std::uintptr_t>(p) % bytes != 0) {
    fail_at(f.site, "simt-misaligned", "%s",
            misaligned_access("Inline PTX", writes, p, bytes, bytes).c_str());
  }
  if (tracing) {
    trace_access(p, bytes, writes, f.caller);
  } else if (checked_build) {
    check_slowly(p, bytes, writes ? Access::write : Access::read, strong ? Strength::atomic : Strength::plain,
                 bytes, f.caller);
  }
}

std::vector<Operand> elements(const Operand& o) {
  return o.what == Operand::list ? o.parts : std::vector<Operand>{o};
}

Step load(const Instruction& in) {
  const Type type = in.type();
  const std::vector<Operand> to = elements(in.operand(0));
  const Operand from = in.operand(1);
  const bool shared = is_shared_space(in),
             fence = in.has("acquire") || in.has("volatile") || in.has("relaxed"), read_only = in.has("nc");
  const auto size = static_cast<std::size_t>(type.bits / 8);
  return [=](Frame& f) {
    char* p = resolve(f, from, shared);
    touch(f, p, size * to.size(), false, fence);
    if (read_only && checked_build && !tracing) check_read_only(p, size * to.size(), f.caller);
    for (std::size_t i = 0; i < to.size(); ++i) {
      std::uint64_t bits = 0;
      std::memcpy(&bits, p + i * size, size);
      write(f, to[i], extended(type, bits));
    }
    if (fence) __atomic_thread_fence(__ATOMIC_SEQ_CST);
  };
}

Step store(const Instruction& in) {
  const Type type = in.type();
  const Operand to = in.operand(0);
  std::vector<Operand> from = elements(in.operand(1, type));
  const bool shared = is_shared_space(in),
             fence = in.has("release") || in.has("volatile") || in.has("relaxed"),
             releases = in.has("release");
  const auto size = static_cast<std::size_t>(type.bits / 8);
  return [=](Frame& f) {
    char* p = resolve(f, to, shared);
    if (fence && checked_build && releases) note_release();
    touch(f, p, size * from.size(), true, fence);
    if (fence) __atomic_thread_fence(__ATOMIC_SEQ_CST);
    for (std::size_t i = 0; i < from.size(); ++i) {
      const std::uint64_t bits = read(f, from[i]);
      std::memcpy(p + i * size, &bits, size);
    }
    if (fence) ++worker->progress;  // somebody may wait for it
  };
}

// ---- atomic operations ----

std::uint64_t combined(const std::string& op, Type type, std::uint64_t old, std::uint64_t b) {
  if (type.packed) {
    const Type one{type.kind, 16, false};
    return combined(op, one, old & 0xffff, b & 0xffff) |
           combined(op, one, old >> 16 & 0xffff, b >> 16 & 0xffff) << 16;
  }
  if (type.is_float()) {
    const double x = to_double(type, old), y = to_double(type, b);
    return op == "add" ? from_double_value(type, x + y) : (op == "min") == (y < x) ? b : old;
  }
  const std::uint64_t x = extended(type, old), y = extended(type, b);
  const bool less = type.kind == 's' ? static_cast<std::int64_t>(y) < static_cast<std::int64_t>(x) : y < x;
  if (op == "add") return x + y;
  if (op == "min") return less ? y : x;
  if (op == "max") return less ? x : y;
  if (op == "inc") return x >= y ? 0 : x + 1;
  if (op == "dec") return x == 0 || x > y ? y : x - 1;
  if (op == "and") return x & y;
  if (op == "or") return x | y;
  if (op == "xor") return x ^ y;
  return y;  // exch
}

template <class Word>
std::uint64_t exchange(char* p, const std::string& op, Type type, std::uint64_t b, std::uint64_t c) {
  auto* word = reinterpret_cast<Word*>(p);
  Word old = __atomic_load_n(word, __ATOMIC_SEQ_CST);
  for (;;) {
    const Word now = op == "cas" ? (old == static_cast<Word>(b) ? static_cast<Word>(c) : old)
                                 : static_cast<Word>(combined(op, type, old, b));
    if (__atomic_compare_exchange_n(word, &old, now, true, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) return old;
  }
}

// As ptxas: floating-point numbers of 16 bits are added .noftz, others never; what is no vector of them has no min or max.
bool takes_float(const Instruction& in, const std::string& op, Type type, bool vector) {
  return in.has("noftz") == (type.bits == 16) && (op == "add" || (vector && type.bits == 16));
}

// Of a vector, {a, b, c, d} of .v4: as many as it says, up to 16 bytes of floating-point numbers in global memory.
bool takes_vector(const Instruction& in, const std::string& op, Type type, std::size_t count, int bits) {
  return in.has(("v" + std::to_string(count)).c_str()) && count * static_cast<unsigned>(bits) <= 128 &&
         type.is_float() && type.bits <= 32 && !is_shared_space(in) &&
         (op == "add" || (type.bits == 16 && (op == "min" || op == "max")));
}

// atom returns the old value, red nothing. Of a vector each element is atomic, the whole is not.
Step atomic(const Instruction& in) {
  std::string op;
  for (const char* known : {"add", "min", "max", "inc", "dec", "and", "or", "xor", "exch", "cas"})
    if (in.has(known)) op = known;
  const Type type = in.type();
  const bool returns = in.modifiers[0] == "atom", shared = is_shared_space(in);
  const std::size_t first = returns ? 1 : 0;
  if (op.empty() || type.bits < 16 || type.bits > 64) in.refuse();
  const Operand at = in.operand(first), b = in.operand(first + 1, type),
                c = op == "cas" ? in.operand(first + 2, type) : Operand();
  const std::vector<Operand> from = elements(b);
  const std::vector<Operand> to = returns ? elements(in.operand(0)) : std::vector<Operand>(from.size());
  const int bits = type.packed ? 32 : type.bits;
  const bool vector = b.what == Operand::list || in.has("v2") || in.has("v4") || in.has("v8");
  if (to.size() != from.size() || (vector && !takes_vector(in, op, type, from.size(), bits)) ||
      (type.is_float() && !takes_float(in, op, type, vector)))
    in.refuse();
  const std::size_t size = static_cast<std::size_t>(bits) / 8, bytes = size * from.size();
  return [=](Frame& f) {
    char* p = resolve(f, at, shared);
    if (reinterpret_cast<std::uintptr_t>(p) % bytes != 0)
      fail_at(f.site, "simt-misaligned", "misaligned atomic operation of %zu bytes", bytes);
    const AtomicPoint point(p, bytes, op == "exch" ? AtomicKind::store : AtomicKind::update);
    std::vector<std::uint64_t> olds;  // read before the first is written: a register may be on both sides
    for (std::size_t i = 0; i < from.size(); ++i) {
      char* const element = p + i * size;
      const std::uint64_t x = read(f, from[i]), y = read(f, c);
      olds.push_back(bits == 64   ? exchange<std::uint64_t>(element, op, type, x, y)
                     : bits == 32 ? exchange<std::uint32_t>(element, op, type, x, y)
                                  : exchange<std::uint16_t>(element, op, type, x, y));
    }
    for (std::size_t i = 0; i < to.size(); ++i)
      write(f, to[i], extended(Type{type.packed ? 'b' : type.kind, bits, false}, olds[i]));
  };
}

// ---- addresses ----

std::uint64_t shared_address_of(const Frame& f, std::uint64_t generic) {
  const auto* p = reinterpret_cast<const char*>(generic);
  const Block* block = block_of_shared(p);
  if (!block)
    fail_at(f.site, "simt-oob-shared", "cvta.to.shared: %p is not in shared memory",
            static_cast<const void*>(p));
  const auto offset = static_cast<std::uint64_t>(p - block->shared);
  if (block == current->block) return offset;
  std::uint64_t rank = 0;
  while (worker->resident[rank] != block) ++rank;
  return (rank + 1) << 24 | offset;
}

// cvta.to.shared.u64 makes a shared address of a generic one, cvta.shared.u64 the reverse.
Step convert_address(const Instruction& in) {
  const Operand d = in.operand(0), a = in.operand(1);
  const bool to = in.has("to"), shared = is_shared_space(in);
  return [=](Frame& f) {
    const std::uint64_t value = read(f, a);
    if (!shared) return write(f, d, value);
    if (to) return write(f, d, shared_address_of(f, value));
    Operand address;
    address.what = Operand::address;
    address.parts = {a};
    write(f, d, reinterpret_cast<std::uint64_t>(resolve(f, address, true)));
  };
}

Step map_address(const Instruction& in) {
  const Operand d = in.operand(0), a = in.operand(1), rank = in.operand(2);
  const bool shared = is_shared_space(in);
  return [=](Frame& f) {
    const auto to = static_cast<unsigned>(read(f, rank));
    if (!shared) {
      const void* there = map_shared(reinterpret_cast<const void*>(read(f, a)), to);
      return write(f, d, reinterpret_cast<std::uint64_t>(there));
    }
    map_shared(current->block->shared, to);  // is there such a block?
    write(f, d, std::uint64_t{to + 1} << 24 | (read(f, a) & kOffsetMask));
  };
}

Step is_space(const Instruction& in) {
  const Operand d = in.operand(0), a = in.operand(1);
  const bool shared = is_shared_space(in), global = in.has("global");
  return [=](Frame& f) {
    const auto* p = reinterpret_cast<const void*>(read(f, a));
    const bool there = block_of_shared(p) != nullptr;
    const bool on_stack = p >= current->stack && p < current->stack + kStackGuard + options().stack_bytes;
    write(f, d, shared ? there : global ? !there && !on_stack : on_stack && in.has("local"));
  };
}

}  // namespace

bool is_shared_space(const Instruction& in) {
  return in.has("shared") || in.has("shared::cta") || in.has("shared::cluster");
}

char* resolve(const Frame& f, const Operand& address, bool shared) {
  const Operand& base =
      address.what == Operand::address && !address.parts.empty() ? address.parts[0] : address;
  const std::uint64_t value = read(f, base) + static_cast<std::uint64_t>(address.offset);
  if (!shared) return reinterpret_cast<char*>(value);
  const std::uint64_t rank = value >> 24, offset = value & kOffsetMask;
  const Block* block = current->block;
  if (rank > 0 && rank <= worker->resident.size() && !worker->launch->cooperative) {
    block = worker->resident[rank - 1];
  } else if (rank > 0) {
    fail_at(f.site, "simt-oob-shared",
            "inline PTX: 0x%llx is no address of shared memory\n"
            "A generic address becomes one by __cvta_generic_to_shared().",
            static_cast<unsigned long long>(value));
  }
  if (offset >= block->shared_bytes) {
    fail_at(f.site, "simt-oob-shared", "inline PTX: address 0x%llx is beyond the block's shared memory",
            static_cast<unsigned long long>(value));
  }
  return block->shared + offset;
}

void add_memory(Builders& b) {
  const Builder nothing = [](const Instruction&) -> Step { return [](Frame&) {}; };
  b["ld"] = load;
  b["ldu"] = load;
  b["st"] = store;
  b["atom"] = atomic;
  b["red"] = atomic;
  b["cvta"] = convert_address;
  b["mapa"] = map_address;
  b["isspacep"] = is_space;
  b["membar"] = b["fence"] = [](const Instruction& in) -> Step {
    const bool proxy = in.has("proxy") && in.has("async");
    return [=](Frame&) {
      __atomic_thread_fence(__ATOMIC_SEQ_CST);
      if (checked_build) note_release();
      if (proxy) fence_proxy_async();
    };
  };
  b["griddepcontrol"] = [](const Instruction& in) -> Step {
    if (!in.has("wait")) return [](Frame&) {};  // launch_dependents: a hint
    return [](Frame&) { wait_for_kernel_before(); };
  };
  // Hints, and what only hardware has.
  for (const char* name : {"prefetch", "prefetchu", "discard", "applypriority", "setmaxnreg", "pmevent",
                           "brkpt", "cp.async.bulk.prefetch"})
    b[name] = nothing;
  b["createpolicy"] = [](const Instruction& in) -> Step {
    const Operand d = in.operand(0);
    return [=](Frame& f) { write(f, d, 0); };
  };
}

}  // namespace simt::ptx_code
