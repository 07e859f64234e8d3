// SPDX-License-Identifier: MIT
//
// Asynchronous copies and the barriers that count them.
#include "program.h"

namespace simt::ptx_code {
namespace {

std::uint32_t low(const Frame& f, const Operand& o) {
  return static_cast<std::uint32_t>(read(f, o));
}

// While it lives, copies belong to the kernel's line with the inline PTX.
struct Issuing {
  explicit Issuing(const Frame& f) { interpreted_caller = f.caller; }
  ~Issuing() { interpreted_caller = nullptr; }
};

std::uint64_t* barrier_at(const Frame& f, const Operand& address, bool shared) {
  return reinterpret_cast<std::uint64_t*>(resolve(f, address, shared));
}

// cp.async.ca.shared.global{.L2::128B} [to], [from], 16{, source bytes}{, policy};  a predicate instead of
// the source bytes leaves the source out.
Step copy(const Instruction& in) {
  const Operand to = in.operand(0), from = in.operand(1), size = in.operand(2);
  const bool has_source = in.operands.size() > 3 && !(in.has("L2::cache_hint") && in.operands.size() == 4);
  const Operand source = has_source ? in.operand(3) : size;
  const bool ignores = has_source && source.what == Operand::reg;
  return [=](Frame& f) {
    const Issuing issuing(f);
    const std::uint32_t bytes = low(f, size);
    const std::uint32_t read_bytes = ignores ? (read(f, source) & 1 ? 0 : bytes) : low(f, source);
    async_copy(resolve(f, to, true), resolve(f, from, false), bytes, read_bytes);
  };
}

ElementType element_type(const Instruction& in) {
  for (const auto& [name, type] : std::map<std::string, ElementType>{{"u32", ElementType::u32},
                                                                     {"s32", ElementType::s32},
                                                                     {"u64", ElementType::u64},
                                                                     {"s64", ElementType::s64},
                                                                     {"f16", ElementType::f16},
                                                                     {"bf16", ElementType::bf16},
                                                                     {"f32", ElementType::f32},
                                                                     {"f64", ElementType::f64},
                                                                     {"b32", ElementType::u32},
                                                                     {"b64", ElementType::u64}})
    if (in.has(name.c_str())) return type;
  in.refuse();
}

Reduction reduction(const Instruction& in) {
  for (const auto& [name, how] : std::map<std::string, Reduction>{{"add", Reduction::add},
                                                                  {"min", Reduction::min},
                                                                  {"max", Reduction::max},
                                                                  {"inc", Reduction::inc},
                                                                  {"dec", Reduction::dec},
                                                                  {"and", Reduction::bit_and},
                                                                  {"or", Reduction::bit_or},
                                                                  {"xor", Reduction::bit_xor}})
    if (in.has(name.c_str())) return how;
  in.refuse();
}

// Of the two spaces that a bulk copy names the destination's comes first.
bool goes_to_global(const Instruction& in) {
  for (const std::string& m : in.modifiers) {
    if (m == "global") return true;
    if (m.rfind("shared", 0) == 0) return false;
  }
  in.refuse();
}

Step bulk(const Instruction& in) {
  const bool reduces = in.modifiers[1] == "reduce";
  const Operand to = in.operand(0), from = in.operand(1), size = in.operand(2);
  if (reduces) {  // as ptxas: floating-point numbers of 16 bits are added .noftz, and nothing else is
    const Type type = in.type();
    if (in.has("noftz") != (in.has("add") && type.is_float() && type.bits == 16)) in.refuse();
  }
  if (goes_to_global(in)) {
    const Reduction how = reduces ? reduction(in) : Reduction::none;
    const ElementType type = reduces ? element_type(in) : ElementType::u8;
    return [=](Frame& f) {
      const Issuing issuing(f);
      bulk_to_global(resolve(f, to, false), resolve(f, from, true), low(f, size), how, type);
    };
  }
  if (reduces) in.refuse();
  const Operand barrier = in.operand(3);
  if (!in.has("global")) {
    return [=](Frame& f) {
      const Issuing issuing(f);
      bulk_to_cluster(resolve(f, to, true), resolve(f, from, true), low(f, size),
                      barrier_at(f, barrier, true));
    };
  }
  const Operand blocks = in.has("multicast::cluster") ? in.operand(4) : Operand();
  return [=](Frame& f) {
    const Issuing issuing(f);
    bulk_to_shared(resolve(f, to, true), resolve(f, from, false), low(f, size), barrier_at(f, barrier, true),
                   low(f, blocks) & 0xffff);
  };
}

// cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [to], [map, {x, y}],
// [barrier];
Step tensor(const Instruction& in) {
  const bool reduces = in.modifiers[1] == "reduce", store = goes_to_global(in);
  int rank = 0;
  for (int i = 1; i <= 5; ++i)
    if (in.has((std::to_string(i) + "d").c_str())) rank = i;
  const Operand tensor = in.operand(store ? 0 : 1), shared = in.operand(store ? 1 : 0);
  if (rank == 0 || tensor.parts.size() != 2 || in.has("im2col")) in.refuse();
  const Operand map = tensor.parts[0];
  const std::vector<Operand> coordinates =
      tensor.parts[1].what == Operand::list ? tensor.parts[1].parts : std::vector<Operand>{tensor.parts[1]};
  if (coordinates.size() != static_cast<std::size_t>(rank)) in.refuse();
  const Reduction how = reduces ? reduction(in) : Reduction::none;
  const Operand barrier = store ? Operand() : in.operand(2),
                blocks = in.has("multicast::cluster") ? in.operand(3) : Operand();
  return [=](Frame& f) {
    const Issuing issuing(f);
    int at[5] = {};
    for (std::size_t i = 0; i < coordinates.size(); ++i) at[i] = static_cast<int>(low(f, coordinates[i]));
    const auto* described = reinterpret_cast<const void*>(read(f, map));
    if (store) return tensor_to_global(described, resolve(f, shared, true), at, rank, how);
    tensor_to_shared(resolve(f, shared, true), described, at, rank, barrier_at(f, barrier, true),
                     low(f, blocks) & 0xffff);
  };
}

// ---- mbarrier ----

// mbarrier.arrive{.expect_tx}{.noComplete} state, [barrier]{, count or bytes};  without a state where it is
// remote
Step arrive(const Instruction& in) {
  const bool returns = in.operand(0).what != Operand::address, expects = in.has("expect_tx"),
             drops = in.has("arrive_drop");
  const std::size_t first = returns ? 1 : 0;
  const Operand d = returns ? in.operand(0) : Operand(), barrier = in.operand(first);
  const bool has_count = in.operands.size() > first + 1, shared = is_shared_space(in);
  const Operand count = has_count ? in.operand(first + 1) : Operand();
  return [=](Frame& f) {
    std::uint64_t* at = barrier_at(f, barrier, shared);
    const std::uint32_t n = has_count ? low(f, count) : expects ? 0 : 1;
    write(f, d,
          expects ? mbarrier_arrive(at, 1, n)
          : drops ? mbarrier_arrive_drop(at, n)
                  : mbarrier_arrive(at, n));
  };
}

Step test(const Instruction& in) {
  const Operand d = in.operand(0), barrier = in.operand(1), phase = in.operand(2);
  const bool parity = in.has("parity"), shared = is_shared_space(in);
  return [=](Frame& f) {
    std::uint64_t* at = barrier_at(f, barrier, shared);
    write(
        f, d,
        parity ? mbarrier_test_parity(at, low(f, phase), f.site) : mbarrier_test(at, read(f, phase), f.site));
  };
}

template <class Action>
Step on_barrier(const Instruction& in, Action action) {
  const Operand barrier = in.operand(0), value = in.operands.size() > 1 ? in.operand(1) : Operand();
  const bool shared = is_shared_space(in);
  return [=](Frame& f) { action(barrier_at(f, barrier, shared), low(f, value)); };
}

// st.async{...}.v4.b32 [to], value, [barrier];
Step async_store(const Instruction& in) {
  const Type type = in.type();
  const Operand to = in.operand(0), value = in.operand(1), barrier = in.operand(2);
  const std::vector<Operand> parts = value.what == Operand::list ? value.parts : std::vector<Operand>{value};
  const auto size = static_cast<std::size_t>(type.bits / 8);
  if (size * parts.size() > 16) in.refuse();
  return [=](Frame& f) {
    const Issuing issuing(f);
    char bytes[16];
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const std::uint64_t bits = read(f, parts[i]);
      std::memcpy(bytes + i * size, &bits, size);
    }
    store_async(resolve(f, to, true), bytes, static_cast<std::uint32_t>(size * parts.size()),
                barrier_at(f, barrier, true));
  };
}

}  // namespace

void add_copies(Builders& b) {
  b["cp.async"] = copy;
  b["cp.async.commit_group"] = [](const Instruction&) -> Step {
    return [](Frame&) { async_commit_group(); };
  };
  b["cp.async.wait_group"] = [](const Instruction& in) -> Step {
    const Operand left = in.operand(0);
    return [=](Frame& f) {
      const Issuing issuing(f);
      async_wait_group(low(f, left));
    };
  };
  b["cp.async.wait_all"] = [](const Instruction&) -> Step {
    return [](Frame& f) {
      const Issuing issuing(f);
      async_wait_all();
    };
  };
  b["cp.async.mbarrier.arrive"] = [](const Instruction& in) {
    const bool counted = in.has("noinc");
    return on_barrier(in, [counted](std::uint64_t* at, std::uint32_t) { async_arrive(at, counted); });
  };
  b["cp.async.bulk"] = b["cp.reduce.async.bulk"] = bulk;
  b["cp.async.bulk.tensor"] = b["cp.reduce.async.bulk.tensor"] = tensor;
  b["cp.async.bulk.commit_group"] = [](const Instruction&) -> Step {
    return [](Frame&) { bulk_commit_group(); };
  };
  b["cp.async.bulk.wait_group"] = [](const Instruction& in) -> Step {
    const Operand left = in.operand(0);
    const bool read_only = in.has("read");
    return [=](Frame& f) { bulk_wait_group(low(f, left), read_only); };
  };
  b["st.async"] = async_store;
  b["mbarrier.init"] = [](const Instruction& in) { return on_barrier(in, mbarrier_init); };
  b["mbarrier.inval"] = [](const Instruction& in) {
    return on_barrier(in, [](std::uint64_t* at, std::uint32_t) { mbarrier_inval(at); });
  };
  b["mbarrier.expect_tx"] = [](const Instruction& in) { return on_barrier(in, mbarrier_expect_tx); };
  b["mbarrier.complete_tx"] = [](const Instruction& in) { return on_barrier(in, mbarrier_complete_tx); };
  b["mbarrier.arrive"] = b["mbarrier.arrive_drop"] = arrive;
  b["mbarrier.test_wait"] = b["mbarrier.try_wait"] = test;
  b["mbarrier.pending_count"] = [](const Instruction& in) -> Step {
    const Operand d = in.operand(0), state = in.operand(1);
    return [=](Frame& f) { write(f, d, mbarrier_pending_count(read(f, state))); };
  };
}

}  // namespace simt::ptx_code
