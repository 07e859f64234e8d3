// SPDX-License-Identifier: MIT
//
// Moves, bits, comparisons, selections, dot products of bytes.
#include <cmath>

#include "program.h"

namespace simt::ptx_code {
namespace {

using Bits = std::uint64_t (*)(std::uint64_t a, std::uint64_t b, std::uint64_t c, Type type);

// Operands and result cut to the type's width, sign extended for signed types.
Step bits_step(const Instruction& in, Bits compute) {
  const Type type = in.type();
  const std::size_t count = in.operands.size();
  const Operand d = in.operand(0), a = in.operand(1, type), b = count > 2 ? in.operand(2) : a,
                c = count > 3 ? in.operand(3) : b;
  return [=](Frame& f) {
    write(f, d, extended(type, compute(extended(type, read(f, a)), read(f, b), read(f, c), type)));
  };
}

// mov, also between a register and the parts of it: mov.b64 {lo, hi}, x;
Step move(const Instruction& in) {
  const Type type = in.type();
  const Operand d = in.operand(0), a = in.operand(1, type);
  if (d.what != Operand::list && a.what != Operand::list) return [=](Frame& f) { write(f, d, read(f, a)); };
  const std::vector<Operand>& parts = d.what == Operand::list ? d.parts : a.parts;
  if (parts.empty()) in.refuse();
  const int bits = type.bits / static_cast<int>(parts.size());
  const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
  if (d.what == Operand::list) {
    return [=](Frame& f) {
      std::uint64_t value = read(f, a);
      for (const Operand& part : d.parts) {
        write(f, part, value & mask);
        value >>= bits;
      }
    };
  }
  return [=](Frame& f) {
    std::uint64_t value = 0;
    for (std::size_t i = a.parts.size(); i-- > 0;) value = value << bits | (read(f, a.parts[i]) & mask);
    write(f, d, value);
  };
}

Step lop3(const Instruction& in) {
  const Operand d = in.operand(0), a = in.operand(1), b = in.operand(2), c = in.operand(3),
                table = in.operand(4);
  return [=](Frame& f) {
    const std::uint64_t x = read(f, a), y = read(f, b), z = read(f, c), t = read(f, table);
    std::uint64_t result = 0;
    for (int i = 0; i < 8; ++i) {
      if (t >> i & 1) result |= (i & 4 ? x : ~x) & (i & 2 ? y : ~y) & (i & 1 ? z : ~z);
    }
    write(f, d, result & 0xffffffffu);
  };
}

Step prmt(const Instruction& in) {
  for (const char* mode : {"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"})
    if (in.has(mode)) in.refuse();
  return bits_step(in, [](std::uint64_t a, std::uint64_t b, std::uint64_t selector, Type) {
    const std::uint64_t bytes = (a & 0xffffffffu) | b << 32;
    std::uint64_t result = 0;
    for (int i = 0; i < 4; ++i) {
      const std::uint64_t s = selector >> 4 * i & 15;
      std::uint64_t byte = bytes >> 8 * (s & 7) & 0xff;
      if (s & 8) byte = byte & 0x80 ? 0xff : 0;  // its sign
      result |= byte << 8 * i;
    }
    return result;
  });
}

Step funnel_shift(const Instruction& in) {
  const Operand d = in.operand(0), a = in.operand(1), b = in.operand(2), c = in.operand(3);
  const bool left = in.has("l"), wrap = in.has("wrap");
  return [=](Frame& f) {
    const std::uint64_t both = (read(f, a) & 0xffffffffu) | read(f, b) << 32;
    const std::uint64_t given = read(f, c) & 0xffffffffu,
                        n = wrap ? given & 31 : std::min<std::uint64_t>(given, 32);
    write(f, d, (left ? (n == 32 ? both : both << n >> 32) : both >> n) & 0xffffffffu);
  };
}

// ---- comparisons ----

template <class T>
bool compare(const std::string& how, T a, T b) {
  const bool unordered = a != a || b != b;
  const std::string op = how.size() == 3 && how.back() == 'u' ? how.substr(0, 2) : how;
  if (how == "num") return !unordered;
  if (how == "nan") return unordered;
  if (unordered) return op != how || how == "neu";
  if (op == "eq") return a == b;
  if (op == "ne") return a != b;
  if (op == "lt" || op == "lo") return a < b;
  if (op == "le" || op == "ls") return a <= b;
  if (op == "gt" || op == "hi") return a > b;
  return a >= b;
}

bool compare(const std::string& how, Type type, std::uint64_t a, std::uint64_t b) {
  if (type.is_float()) return compare(how, to_double(type, a), to_double(type, b));
  if (type.kind == 's')
    return compare(how, static_cast<std::int64_t>(extended(type, a)),
                   static_cast<std::int64_t>(extended(type, b)));
  return compare(how, extended(type, a), extended(type, b));
}

bool combined(const std::string& how, bool a, bool b) {
  return how == "and" ? (a && b) : how == "or" ? (a || b) : how == "xor" ? a != b : a;
}

// setp.lt.and.s32 p|q, a, b, c; and set.lt.u32.s32 d, a, b; which writes all ones or 1.0
Step set(const Instruction& in) {
  const bool predicate = in.modifiers[0] == "setp";
  if (in.modifiers.size() < 3) in.refuse();
  const std::string how = in.modifiers[1];
  std::string boolean;
  for (const char* b : {"and", "or", "xor"})
    if (in.has(b)) boolean = b;
  const Type type = in.type(predicate ? 0 : 1), result = in.type();
  const Operand d = in.operand(0), a = in.operand(1, type), b = in.operand(2, type),
                c = boolean.empty() ? Operand() : in.operand(3);
  return [=](Frame& f) {
    const bool outcome = compare(how, type, read(f, a), read(f, b)), other = (read(f, c) & 1) != 0;
    const bool yes = combined(boolean, outcome, other);
    if (!predicate) {
      write(f, d, !yes ? 0 : result.is_float() ? from_double_value(result, 1) : 0xffffffffu);
    } else if (d.what == Operand::list) {
      write(f, d.parts[0], yes);
      write(f, d.parts.at(1), combined(boolean, !outcome, other));
    } else {
      write(f, d, yes);
    }
  };
}

Step select(const Instruction& in) {
  const Type type = in.type();
  const Operand d = in.operand(0), a = in.operand(1, type), b = in.operand(2, type), p = in.operand(3);
  const bool by_sign = in.modifiers[0] == "slct";
  const Type of_c = by_sign ? in.type(1) : Type{};
  return [=](Frame& f) {
    const bool first = by_sign ? to_double(of_c, read(f, p)) >= 0 : (read(f, p) & 1) != 0;
    write(f, d, read(f, first ? a : b));
  };
}

Step test(const Instruction& in) {
  const Type type = in.type();
  const Operand d = in.operand(0), a = in.operand(1, type);
  const std::string what = in.modifiers[1];
  return [=](Frame& f) {
    const double x = to_double(type, read(f, a));
    const bool tiny = std::fabs(x) < (type.bits == 64 ? 0x1p-1022 : 0x1p-126) && x != 0;
    write(f, d,
          what == "finite"       ? std::isfinite(x)
          : what == "infinite"   ? std::isinf(x)
          : what == "number"     ? !std::isnan(x)
          : what == "notanumber" ? std::isnan(x)
          : what == "subnormal"  ? tiny
                                 : std::isfinite(x) && !tiny && x != 0);
  };
}

// dp4a.s32.u32 d, a, b, c: the types of a and b.
Step dot_product(const Instruction& in) {
  const bool four = in.modifiers[0] == "dp4a", high = in.has("hi");
  const Type ta{in.type(0).kind, four ? 8 : 16, false}, tb{in.type(1).kind, 8, false};
  const Operand d = in.operand(0), a = in.operand(1), b = in.operand(2), c = in.operand(3);
  return [=](Frame& f) {
    std::uint64_t sum = read(f, c);
    const std::uint64_t x = read(f, a), y = read(f, b) >> (high ? 16 : 0);
    for (int i = 0; i < (four ? 4 : 2); ++i) sum += extended(ta, x >> ta.bits * i) * extended(tb, y >> 8 * i);
    write(f, d, sum & 0xffffffffu);
  };
}

Step bit_field_insert(const Instruction& in) {
  const Type type = in.type();
  const Operand d = in.operand(0), a = in.operand(1), b = in.operand(2), c = in.operand(3), e = in.operand(4);
  return [=](Frame& f) {
    const auto at = static_cast<int>(read(f, c) & 255), length = static_cast<int>(read(f, e) & 255);
    std::uint64_t result = read(f, b);
    const std::uint64_t x = read(f, a);
    for (int i = 0; i < length && at + i < type.bits; ++i) {
      const std::uint64_t bit = std::uint64_t{1} << (at + i);
      result = x >> i & 1 ? result | bit : result & ~bit;
    }
    write(f, d, extended(type, result));
  };
}

}  // namespace

void add_logic(Builders& b) {
  b["mov"] = move;
  b["and"] = [](const Instruction& in) {
    return bits_step(in, [](std::uint64_t x, std::uint64_t y, std::uint64_t, Type) { return x & y; });
  };
  b["or"] = [](const Instruction& in) {
    return bits_step(in, [](std::uint64_t x, std::uint64_t y, std::uint64_t, Type) { return x | y; });
  };
  b["xor"] = [](const Instruction& in) {
    return bits_step(in, [](std::uint64_t x, std::uint64_t y, std::uint64_t, Type) { return x ^ y; });
  };
  b["not"] = [](const Instruction& in) {
    return bits_step(in, [](std::uint64_t x, std::uint64_t, std::uint64_t, Type) { return ~x; });
  };
  b["cnot"] = [](const Instruction& in) {
    return bits_step(
        in, [](std::uint64_t x, std::uint64_t, std::uint64_t, Type) { return std::uint64_t{x == 0}; });
  };
  b["shl"] = [](const Instruction& in) {
    return bits_step(in, [](std::uint64_t x, std::uint64_t n, std::uint64_t, Type type) {
      n &= 0xffffffffu;
      return n >= static_cast<unsigned>(type.bits) ? 0 : x << n;
    });
  };
  b["shr"] = [](const Instruction& in) {
    return bits_step(in, [](std::uint64_t x, std::uint64_t n, std::uint64_t, Type type) {
      n = std::min<std::uint64_t>(n & 0xffffffffu, static_cast<unsigned>(type.bits));
      if (type.kind == 's')
        return static_cast<std::uint64_t>(static_cast<std::int64_t>(x) >> std::min<std::uint64_t>(n, 63));
      return n >= 64 ? 0 : x >> n;
    });
  };
  b["popc"] = [](const Instruction& in) {
    return bits_step(in, [](std::uint64_t x, std::uint64_t, std::uint64_t, Type) {
      return static_cast<std::uint64_t>(__builtin_popcountll(x));
    });
  };
  b["clz"] = [](const Instruction& in) {
    return bits_step(in, [](std::uint64_t x, std::uint64_t, std::uint64_t, Type type) {
      return static_cast<std::uint64_t>(x ? __builtin_clzll(x) - (64 - type.bits) : type.bits);
    });
  };
  // The highest bit that is not the sign; .shiftamt: how far to shift it to the top.
  b["bfind"] = [](const Instruction& in) -> Step {
    const Type type = in.type();
    const Operand d = in.operand(0), a = in.operand(1);
    const bool amount = in.has("shiftamt");
    return [=](Frame& f) {
      std::uint64_t x = extended(type, read(f, a));
      if (type.kind == 's' && x >> 63) x = ~x;
      const int at = x ? 63 - __builtin_clzll(x) : -1;
      write(f, d, static_cast<std::uint32_t>(at < 0 ? -1 : amount ? type.bits - 1 - at : at));
    };
  };
  b["brev"] = [](const Instruction& in) {
    return bits_step(in, [](std::uint64_t x, std::uint64_t, std::uint64_t, Type type) {
      std::uint64_t r = 0;
      for (int i = 0; i < type.bits; ++i) r |= (x >> i & 1) << (type.bits - 1 - i);
      return r;
    });
  };
  b["bfe"] = [](const Instruction& in) {
    return bits_step(in, [](std::uint64_t x, std::uint64_t at, std::uint64_t length, Type type) {
      at &= 255, length &= 255;
      const auto bits = static_cast<unsigned>(type.bits);
      if (length == 0) return std::uint64_t{0};
      const std::uint64_t sign =
          type.kind == 's' ? x >> std::min<std::uint64_t>(at + length - 1, bits - 1) & 1 : 0;
      std::uint64_t r = 0;
      for (std::uint64_t i = 0; i < bits; ++i)
        r |= (i < length && at + i < bits ? x >> (at + i) & 1 : sign) << i;
      return r;
    });
  };
  b["bfi"] = bit_field_insert;
  b["lop3"] = lop3;
  b["prmt"] = prmt;
  b["shf"] = funnel_shift;
  b["setp"] = set;
  b["set"] = set;
  b["selp"] = select;
  b["slct"] = select;
  b["testp"] = test;
  b["dp4a"] = dot_product;
  b["dp2a"] = dot_product;
}

}  // namespace simt::ptx_code
