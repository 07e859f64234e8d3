// SPDX-License-Identifier: MIT
//
// Arithmetic on integers and floats.
#include <cfenv>
#include <cmath>
#include <limits>

#include "program.h"
#include "simt/float16_bits.h"

namespace simt::ptx_code {
namespace {

using Wide = __int128;
using Integers = Wide (*)(Wide a, Wide b, Wide c);
using Floats = double (*)(double a, double b, double c);
template <class F>
using FloatsAs = F (*)(F a, F b, F c);

Wide integer(Type type, std::uint64_t bits) {
  const std::uint64_t value = extended(type, bits);
  return type.kind == 's' ? Wide{static_cast<std::int64_t>(value)} : Wide{value};
}

// ---- integers: exact in 128 bits, then cut, or saturated ----

Wide saturated(Type type, Wide value) {
  const Wide one = 1, most = type.kind == 's' ? (one << (type.bits - 1)) - 1 : (one << type.bits) - 1;
  const Wide least = type.kind == 's' ? -(one << (type.bits - 1)) : Wide{0};
  return value < least ? least : value > most ? most : value;
}

// `high`: the upper half of the result of twice the width; wide: all of it.
Step integer_step(const Instruction& in, Type type, Integers compute, bool high = false) {
  const std::size_t count = in.operands.size();
  const Operand d = in.operand(0), a = in.operand(1, type), b = count > 2 ? in.operand(2, type) : a,
                c = count > 3 ? in.operand(3, type) : b;
  const bool sat = in.has("sat"), wide = in.has("wide");
  const Type wide_type{type.kind, type.bits * 2, false};
  return [=](Frame& f) {
    Wide r = compute(integer(type, read(f, a)), integer(type, read(f, b)),
                     integer(wide ? wide_type : type, read(f, c)));
    if (high) r >>= type.bits;
    if (sat) r = saturated(type, r);
    const auto bits = static_cast<std::uint64_t>(r);
    write(f, d, wide ? bits : extended(type, bits));
  };
}

// ---- floats ----

int rounding_mode(const Instruction& in) {
  if (in.has("rz")) return FE_TOWARDZERO;
  if (in.has("rm")) return FE_DOWNWARD;
  if (in.has("rp")) return FE_UPWARD;
  return FE_TONEAREST;
}

template <class F>
F flushed(F x) {
  return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(F{0}, x) : x;
}
template <class F>
F clamped(F x) {
  return x > F{0} ? (x < F{1} ? x : F{1}) : F{0};  // NaN becomes 0
}

template <class F>
Step float_step(const Instruction& in, Type type, FloatsAs<F> compute) {
  const std::size_t count = in.operands.size();
  const Operand d = in.operand(0), a = in.operand(1, type), b = count > 2 ? in.operand(2, type) : a,
                c = count > 3 ? in.operand(3, type) : b;
  const bool ftz = in.has("ftz"), sat = in.has("sat");
  const int mode = rounding_mode(in);
  return [=](Frame& f) {
    const auto input = [&](const Operand& o) {
      const F value = as<F>(read(f, o));
      return ftz ? flushed<F>(value) : value;
    };
    const volatile F x = input(a), y = input(b), z = input(c);  // no rounding before the mode is set
    if (mode != FE_TONEAREST) std::fesetround(mode);
    volatile F r = compute(x, y, z);
    if (mode != FE_TONEAREST) std::fesetround(FE_TONEAREST);
    if (sat) r = clamped<F>(r);
    if (ftz) r = flushed<F>(r);
    write(f, d, bits_of_value(static_cast<F>(r)));
  };
}

// 16-bit floats, one or two: computed so that one rounding remains (a fused product rounds to odd in
// between).
std::uint64_t half_result(Type type, Floats compute, bool fused, std::uint64_t a, std::uint64_t b,
                          std::uint64_t c) {
  const double x = to_double(type, a), y = to_double(type, b), z = to_double(type, c);
  if (fused) {
    const float r = fma_round_to_odd(static_cast<float>(x), static_cast<float>(y), static_cast<float>(z));
    return type.kind == 'n' ? Bfloat16Format::from_float(r) : HalfFormat::from_float(r);
  }
  return from_double_value(type, compute(x, y, z));
}

Step half_step(const Instruction& in, Type type, Floats compute, bool fused) {
  const std::size_t count = in.operands.size();
  const Operand d = in.operand(0), a = in.operand(1, type), b = count > 2 ? in.operand(2, type) : a,
                c = count > 3 ? in.operand(3, type) : b;
  const bool relu = in.has("relu");
  return [=](Frame& f) {
    const std::uint64_t x = read(f, a), y = read(f, b), z = read(f, c);
    std::uint64_t bits = 0;
    for (int i = 0; i < (type.packed ? 2 : 1); ++i) {
      std::uint64_t r =
          half_result(type, compute, fused, x >> 16 * i & 0xffff, y >> 16 * i & 0xffff, z >> 16 * i & 0xffff);
      if (relu && r & 0x8000) r = 0;
      bits |= r << 16 * i;
    }
    write(f, d, bits);
  };
}

template <class Op>
Step float_of_type(const Instruction& in, Type type, Op op, bool fused = false) {
  if (type.bits == 16)
    return half_step(
        in, type, [](double a, double b, double c) { return Op{}(a, b, c); }, fused);
  if (type.bits == 32)
    return float_step<float>(in, type, [](float a, float b, float c) { return Op{}(a, b, c); });
  static_cast<void>(op);
  return float_step<double>(in, type, [](double a, double b, double c) { return Op{}(a, b, c); });
}

// One operation, on whatever the instruction's type is. Lambdas have no names to be template arguments before
// C++20's default constructors, which these have.
template <class Op>
Step any(const Instruction& in, Op op) {
  const Type type = in.type();
  if (type.is_float()) return float_of_type(in, type, op);
  return integer_step(in, type, [](Wide a, Wide b, Wide c) { return Op{}(a, b, c); });
}

constexpr auto kAdd = [](auto a, auto b, auto) { return a + b; };
constexpr auto kSubtract = [](auto a, auto b, auto) { return a - b; };
constexpr auto kMultiply = [](auto a, auto b, auto) { return a * b; };
constexpr auto kNegate = [](auto a, auto, auto) { return -a; };
constexpr auto kAbsolute = [](auto a, auto, auto) {
  if constexpr (std::is_floating_point_v<decltype(a)>)
    return std::fabs(a);
  else
    return a < 0 ? -a : a;
};
constexpr auto kMinimum = [](auto a, auto b, auto) {
  if constexpr (std::is_floating_point_v<decltype(a)>)
    return std::fmin(a, b);
  else
    return a < b ? a : b;
};
constexpr auto kMaximum = [](auto a, auto b, auto) {
  if constexpr (std::is_floating_point_v<decltype(a)>)
    return std::fmax(a, b);
  else
    return a < b ? b : a;
};
constexpr auto kFused = [](auto a, auto b, auto c) { return std::fma(a, b, c); };
// A GPU's integer division by zero has no defined result; all ones is what it gives.
constexpr auto kDivide = [](auto a, auto b, auto) {
  if constexpr (std::is_floating_point_v<decltype(a)>)
    return a / b;
  else
    return b == 0 ? decltype(a){-1} : a / b;
};

Step multiply(const Instruction& in) {
  const Type type = in.type();
  if (type.is_float()) return float_of_type(in, type, kMultiply);
  return integer_step(
      in, type, [](Wide a, Wide b, Wide) { return a * b; }, in.has("hi"));
}

Step multiply_add(const Instruction& in) {
  const Type type = in.type();
  if (type.is_float()) return float_of_type(in, type, kFused, true);
  if (!in.has("hi")) return integer_step(in, type, [](Wide a, Wide b, Wide c) { return a * b + c; });
  const Operand d = in.operand(0), a = in.operand(1, type), b = in.operand(2, type), c = in.operand(3, type);
  return [=](Frame& f) {
    const Wide high = integer(type, read(f, a)) * integer(type, read(f, b)) >> type.bits;
    write(f, d, extended(type, static_cast<std::uint64_t>(high + integer(type, read(f, c)))));
  };
}

// add.cc, addc, sub.cc, subc, mad.lo.cc, madc.hi, ...: with the carry of the steps before.
template <class Compute>
Step with_carry(const Instruction& in, bool takes, Compute compute) {
  const Type given = in.type(), type{'u', given.bits, false};
  const std::size_t count = in.operands.size();
  const Operand d = in.operand(0), a = in.operand(1), b = in.operand(2), c = count > 3 ? in.operand(3) : b;
  const bool gives = in.has("cc"), high = in.has("hi");
  return [=](Frame& f) {
    const Wide carry = takes && f.carry ? 1 : 0;
    const Type factor = high ? given : type;
    const Wide r = compute(integer(factor, read(f, a)), integer(factor, read(f, b)),
                           integer(type, read(f, c)), carry, high, type.bits);
    write(f, d, extended(type, static_cast<std::uint64_t>(r)));
    if (gives) f.carry = r < 0 || r >> type.bits != 0;
  };
}

Wide add_carry(Wide a, Wide b, Wide, Wide carry, bool, int) {
  return a + b + carry;
}
Wide subtract_carry(Wide a, Wide b, Wide, Wide carry, bool, int) {
  return a - b - carry;
}
Wide multiply_add_carry(Wide a, Wide b, Wide c, Wide carry, bool high, int bits) {
  const Wide mask = (Wide{1} << bits) - 1, product = a * b;
  return ((high ? product >> bits : product) & mask) + c + carry;
}

// rcp, sqrt, ...: .approx is computed exactly here, a GPU's may differ in the last bits.
template <class Op>
Step function(const Instruction& in, Op op) {
  return float_of_type(in, in.type(), op);
}

}  // namespace

void add_arithmetic(Builders& b) {
  b["add"] = [](const Instruction& in) {
    return in.has("cc") ? with_carry(in, false, add_carry) : any(in, kAdd);
  };
  b["addc"] = [](const Instruction& in) { return with_carry(in, true, add_carry); };
  b["sub"] = [](const Instruction& in) {
    return in.has("cc") ? with_carry(in, false, subtract_carry) : any(in, kSubtract);
  };
  b["subc"] = [](const Instruction& in) { return with_carry(in, true, subtract_carry); };
  b["mul"] = multiply;
  b["mad"] = [](const Instruction& in) {
    return in.has("cc") ? with_carry(in, false, multiply_add_carry) : multiply_add(in);
  };
  b["madc"] = [](const Instruction& in) { return with_carry(in, true, multiply_add_carry); };
  b["fma"] = multiply_add;
  b["mul24"] = [](const Instruction& in) {
    return integer_step(in, in.type(),
                        [](Wide x, Wide y, Wide) { return (x << 104 >> 104) * (y << 104 >> 104); });
  };
  b["mad24"] = [](const Instruction& in) {
    return integer_step(in, in.type(),
                        [](Wide x, Wide y, Wide z) { return (x << 104 >> 104) * (y << 104 >> 104) + z; });
  };
  b["div"] = [](const Instruction& in) { return any(in, kDivide); };
  b["rem"] = [](const Instruction& in) {
    return integer_step(in, in.type(), [](Wide x, Wide y, Wide) { return y == 0 ? x : x % y; });
  };
  b["neg"] = [](const Instruction& in) { return any(in, kNegate); };
  b["abs"] = [](const Instruction& in) { return any(in, kAbsolute); };
  b["min"] = [](const Instruction& in) { return any(in, kMinimum); };
  b["max"] = [](const Instruction& in) { return any(in, kMaximum); };
  b["sad"] = [](const Instruction& in) {
    return integer_step(in, in.type(), [](Wide x, Wide y, Wide z) { return z + (x < y ? y - x : x - y); });
  };
  b["copysign"] = [](const Instruction& in) {
    return function(in, [](auto x, auto y, auto) { return std::copysign(y, x); });
  };
  b["rcp"] = [](const Instruction& in) { return function(in, [](auto x, auto, auto) { return 1 / x; }); };
  b["sqrt"] = [](const Instruction& in) {
    return function(in, [](auto x, auto, auto) { return std::sqrt(x); });
  };
  b["rsqrt"] = [](const Instruction& in) {
    return function(in, [](auto x, auto, auto) { return 1 / std::sqrt(x); });
  };
  b["sin"] = [](const Instruction& in) {
    return function(in, [](auto x, auto, auto) { return std::sin(x); });
  };
  b["cos"] = [](const Instruction& in) {
    return function(in, [](auto x, auto, auto) { return std::cos(x); });
  };
  b["lg2"] = [](const Instruction& in) {
    return function(in, [](auto x, auto, auto) { return std::log2(x); });
  };
  b["ex2"] = [](const Instruction& in) {
    return function(in, [](auto x, auto, auto) { return std::exp2(x); });
  };
  b["tanh"] = [](const Instruction& in) {
    return function(in, [](auto x, auto, auto) { return std::tanh(x); });
  };
}

}  // namespace simt::ptx_code
