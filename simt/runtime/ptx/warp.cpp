// SPDX-License-Identifier: MIT
//
// What the lanes of a warp, the threads of a block and the blocks of a cluster do together; tensor cores.
#include "program.h"
#include "simt/tensor_cores.h"

namespace simt::ptx_code {
namespace {

std::uint32_t low(const Frame& f, const Operand& o) {
  return static_cast<std::uint32_t>(read(f, o));
}

Step shuffle_step(const Instruction& in) {
  std::string how;
  for (const char* known : {"up", "down", "bfly", "idx"})
    if (in.has(known)) how = known;
  if (how.empty() || !in.has("sync")) in.refuse();
  const Operand d = in.operand(0), a = in.operand(1), b = in.operand(2), c = in.operand(3),
                mask = in.operand(4);
  return [=](Frame& f) {
    const int lane = static_cast<int>(lane_id()), value = static_cast<int>(low(f, b) & 31);
    const int clamp = static_cast<int>(low(f, c) & 31), segment = static_cast<int>(low(f, c) >> 8 & 31);
    const int most = (lane & segment) | (clamp & ~segment), least = lane & segment;
    int source;
    bool inside;
    if (how == "up") {
      source = lane - value, inside = source >= most;
    } else if (how == "down") {
      source = lane + value, inside = source <= most;
    } else if (how == "bfly") {
      source = lane ^ value, inside = source <= most;
    } else {
      source = least | (value & ~segment), inside = source <= most;
    }
    if (!inside) source = lane;
    const std::uint32_t got = shuffle(low(f, mask), low(f, a), source, f.site);
    write(f, d.what == Operand::list ? d.parts[0] : d, got);
    if (d.what == Operand::list) write(f, d.parts.at(1), inside);
  };
}

Step vote(const Instruction& in) {
  if (!in.has("sync")) in.refuse();
  const Operand d = in.operand(0), p = in.operand(1), mask = in.operand(2);
  const bool gives_bits = in.has("ballot"), any = in.has("any"), uni = in.has("uni");
  return [=](Frame& f) {
    const std::uint32_t lanes = low(f, mask);
    const bool mine = (read(f, p) & 1) != 0;
    const std::uint32_t yes = ballot(lanes, mine, f.site);
    if (gives_bits) return write(f, d, yes);
    if (any) return write(f, d, yes != 0);
    const std::uint32_t no = ballot(lanes, !mine, f.site);
    write(f, d, no == 0 || (uni && yes == 0));
  };
}

Step match(const Instruction& in) {
  const Operand d = in.operand(0), a = in.operand(1), mask = in.operand(2);
  const bool all = in.has("all"), wide = in.type().bits == 64;
  return [=](Frame& f) {
    const std::uint64_t value = wide ? read(f, a) : low(f, a);
    const std::uint32_t equal =
        all ? match_all(low(f, mask), value, f.site) : match_any(low(f, mask), value, f.site);
    write(f, d.what == Operand::list ? d.parts[0] : d, equal);
    if (d.what == Operand::list) write(f, d.parts.at(1), equal != 0);
  };
}

template <class T, class Fold>
Step reduction(const Instruction& in, Fold) {
  const Operand d = in.operand(0), a = in.operand(1), mask = in.operand(2);
  return [=](Frame& f) {
    write(f, d, static_cast<std::uint32_t>(reduce(low(f, mask), static_cast<T>(low(f, a)), Fold{}, f.site)));
  };
}

Step redux(const Instruction& in) {
  const bool is_signed = in.type().kind == 's';
  if (in.has("add"))
    return reduction<std::uint32_t>(in, [](std::uint32_t a, std::uint32_t b) { return a + b; });
  if (in.has("and"))
    return reduction<std::uint32_t>(in, [](std::uint32_t a, std::uint32_t b) { return a & b; });
  if (in.has("or"))
    return reduction<std::uint32_t>(in, [](std::uint32_t a, std::uint32_t b) { return a | b; });
  if (in.has("xor"))
    return reduction<std::uint32_t>(in, [](std::uint32_t a, std::uint32_t b) { return a ^ b; });
  const auto min = [](auto a, auto b) { return b < a ? b : a; };
  const auto max = [](auto a, auto b) { return a < b ? b : a; };
  if (in.has("min")) return is_signed ? reduction<std::int32_t>(in, min) : reduction<std::uint32_t>(in, min);
  if (in.has("max")) return is_signed ? reduction<std::int32_t>(in, max) : reduction<std::uint32_t>(in, max);
  in.refuse();
}

// The lowest lane of the mask is elected.
Step elect(const Instruction& in) {
  const Operand d = in.operand(0), mask = in.operand(1);
  if (d.what != Operand::list) in.refuse();
  return [=](Frame& f) {
    const std::uint32_t lanes = low(f, mask);
    sync_warp(lanes, f.site);
    const auto leader = static_cast<unsigned>(__builtin_ctz(lanes));
    write(f, d.parts[0], leader);
    write(f, d.parts.at(1), lane_id() == leader);
  };
}

// bar.sync id{, threads}; bar.arrive id, threads; bar.red.popc.u32 d, id{, threads}, p;
Step barrier(const Instruction& in) {
  const bool arrive = in.has("arrive"), red = in.has("red");
  const std::size_t first = red ? 1 : 0, count = in.operands.size() - first - (red ? 1 : 0);
  const Operand d = red ? in.operand(0) : Operand(), id = in.operand(first),
                threads = count > 1 ? in.operand(first + 1) : Operand();
  const Operand p = red ? in.operands.back() : Operand();
  const Vote vote = in.has("popc") ? Vote::count : in.has("and") ? Vote::all : Vote::any;
  return [=](Frame& f) {
    if (arrive) return bar_arrive(low(f, id), low(f, threads), f.site);
    if (!red) return bar_sync(low(f, id), low(f, threads), f.site);
    write(f, d,
          static_cast<std::uint64_t>(bar_red(low(f, id), low(f, threads), vote, read(f, p) & 1, f.site)));
  };
}

// ---- matrices ----

int number_before(const std::string& text, char after) {
  const std::size_t at = text.find(after);
  return at == std::string::npos ? 0 : std::atoi(text.c_str() + at + 1);
}

std::size_t matrices_of(const Instruction& in) {
  return in.has("x4") ? 4 : in.has("x2") ? 2 : 1;
}

Step load_matrices(const Instruction& in) {
  const Operand d = in.operand(0), from = in.operand(1);
  const std::size_t count = matrices_of(in);
  const std::vector<Operand> to = d.what == Operand::list ? d.parts : std::vector<Operand>{d};
  if (!in.has("m8n8") || to.size() != count) in.refuse();
  const bool shared = is_shared_space(in), transposed = in.has("trans");
  return [=](Frame& f) {
    const bool used = lane_id() < count * 8;
    std::uint32_t registers[4];
    ldmatrix(registers, used ? resolve(f, from, shared) : nullptr, static_cast<int>(count), transposed,
             f.site);
    for (std::size_t i = 0; i < count; ++i) write(f, to[i], registers[i]);
  };
}

Step store_matrices(const Instruction& in) {
  const Operand to = in.operand(0), a = in.operand(1);
  const std::size_t count = matrices_of(in);
  const std::vector<Operand> from = a.what == Operand::list ? a.parts : std::vector<Operand>{a};
  if (!in.has("m8n8") || from.size() != count) in.refuse();
  const bool shared = is_shared_space(in), transposed = in.has("trans");
  return [=](Frame& f) {
    const bool used = lane_id() < count * 8;
    std::uint32_t registers[4];
    for (std::size_t i = 0; i < count; ++i) registers[i] = low(f, from[i]);
    stmatrix(used ? resolve(f, to, shared) : nullptr, registers, static_cast<int>(count), transposed, f.site);
  };
}

MatrixType matrix_type(const std::string& text, const Instruction& in) {
  static const auto& all = *new const std::map<std::string, MatrixType>{
      {"f16", MatrixType::f16},   {"bf16", MatrixType::bf16}, {"tf32", MatrixType::tf32},
      {"f32", MatrixType::f32},   {"f64", MatrixType::f64},   {"e4m3", MatrixType::e4m3},
      {"e5m2", MatrixType::e5m2}, {"s8", MatrixType::s8},     {"u8", MatrixType::u8},
      {"s4", MatrixType::s4},     {"u4", MatrixType::u4},     {"b1", MatrixType::b1},
      {"s32", MatrixType::s32}};
  const auto found = all.find(text);
  if (found == all.end()) in.refuse();
  return found->second;
}

// mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 d, a, b, c;
Step multiply_matrices(const Instruction& in) {
  std::vector<MatrixType> types;
  std::string shape;
  for (const std::string& m : in.modifiers) {
    if (m[0] == 'm' && m.find('n') != std::string::npos && m.find('k') != std::string::npos) shape = m;
  }
  const std::size_t parts = in.modifiers.size();
  for (std::size_t i = 1; i < parts; ++i) {
    const std::string& m = in.modifiers[i];
    if (m == "f16" || m == "bf16" || m == "tf32" || m == "f32" || m == "f64" || m == "e4m3" || m == "e5m2" ||
        m == "s8" || m == "u8" || m == "s4" || m == "u4" || m == "b1" || m == "s32")
      types.push_back(matrix_type(m, in));
  }
  if (shape.empty() || types.size() != 4 || in.operands.size() != 4) in.refuse();
  MmaShape s{};
  s.m = static_cast<std::uint8_t>(std::atoi(shape.c_str() + 1));
  s.n = static_cast<std::uint8_t>(number_before(shape, 'n'));
  s.k = static_cast<std::uint16_t>(number_before(shape, 'k'));
  s.d = types[0], s.a = types[1], s.b = types[2], s.c = types[3];
  s.saturate = in.has("satfinite");
  s.product = in.has("and") ? BitProduct::bit_and : BitProduct::bit_xor;
  if (s.n != 8 || (s.m != 8 && s.m != 16) || (s.m == 8 && s.k == 4 && s.a == MatrixType::f16)) in.refuse();
  const std::size_t bytes = s.a == MatrixType::f64 ? 8 : 4;
  const std::vector<Operand> d = in.operand(0).parts, a = in.operand(1).parts, b = in.operand(2).parts,
                             c = in.operand(3).parts;
  if (d.empty() || a.size() > 8 || b.size() > 8 || c.size() > 8 || d.size() > 8) in.refuse();
  return [=](Frame& f) {
    char registers[4][64] = {};
    const auto fill = [&](char* to, const std::vector<Operand>& from) {
      for (std::size_t i = 0; i < from.size(); ++i) {
        const std::uint64_t bits = read(f, from[i]);
        std::memcpy(to + i * bytes, &bits, bytes);
      }
    };
    fill(registers[0], a), fill(registers[1], b), fill(registers[2], c);
    mma_sync(s, registers[0], registers[1], registers[2], registers[3], f.site);
    for (std::size_t i = 0; i < d.size(); ++i) {
      std::uint64_t bits = 0;
      std::memcpy(&bits, registers[3] + i * bytes, bytes);
      write(f, d[i], bits);
    }
  };
}

}  // namespace

void add_warp(Builders& b) {
  b["shfl"] = shuffle_step;
  b["vote"] = vote;
  b["match"] = match;
  b["redux"] = redux;
  b["elect"] = elect;
  b["activemask"] = [](const Instruction& in) -> Step {
    const Operand d = in.operand(0);
    return [=](Frame& f) { write(f, d, active_mask(f.site)); };
  };
  b["bar"] = b["barrier"] = barrier;
  b["bar.warp.sync"] = [](const Instruction& in) -> Step {
    const Operand mask = in.operand(0);
    return [=](Frame& f) { sync_warp(low(f, mask), f.site); };
  };
  b["barrier.cluster.arrive"] = [](const Instruction&) -> Step {
    return [](Frame& f) { cluster_arrive(f.site); };
  };
  b["barrier.cluster.wait"] = [](const Instruction&) -> Step {
    return [](Frame& f) { cluster_wait(f.site); };
  };
  b["nanosleep"] = [](const Instruction&) -> Step { return [](Frame&) { tick_slow(); }; };
  b["trap"] = [](const Instruction&) -> Step {
    return [](Frame& f) { fail_at(f.site, "simt-trap", "trap in inline PTX"); };
  };
  b["ldmatrix"] = load_matrices;
  b["stmatrix"] = store_matrices;
  b["movmatrix"] = [](const Instruction& in) -> Step {
    const Operand d = in.operand(0), a = in.operand(1);
    return [=](Frame& f) { write(f, d, movmatrix_transposed(low(f, a), f.site)); };
  };
  b["mma"] = multiply_matrices;
}

}  // namespace simt::ptx_code
