// SPDX-License-Identifier: MIT
//
// cvt: between integers and floats of all widths.
#include <cfenv>
#include <cmath>

#include "program.h"
#include "simt/float16_bits.h"
#include "simt/tensor_cores.h"

namespace simt::ptx_code {
namespace {

double rounded_to_integer(const Instruction& in, double x) {
  if (in.has("rzi") || in.has("rz")) return std::trunc(x);
  if (in.has("rmi") || in.has("rm")) return std::floor(x);
  if (in.has("rpi") || in.has("rp")) return std::ceil(x);
  return std::nearbyint(x);
}

// Out of range: the nearest value that there is; NaN: 0, or the top bit of 64.
std::uint64_t integer_of(Type to, double x) {
  if (std::isnan(x)) return to.bits == 64 ? std::uint64_t{1} << 63 : 0;
  const double limit = std::ldexp(1.0, to.kind == 's' ? to.bits - 1 : to.bits);
  const std::uint64_t most = to.kind == 's'  ? (std::uint64_t{1} << (to.bits - 1)) - 1
                             : to.bits == 64 ? ~std::uint64_t{0}
                                             : (std::uint64_t{1} << to.bits) - 1;
  if (x >= limit) return most;
  if (to.kind == 's') return x <= -limit ? ~most : static_cast<std::uint64_t>(static_cast<std::int64_t>(x));
  return x <= 0 ? 0 : static_cast<std::uint64_t>(x);
}

std::uint64_t float_of_integer(Type to, Type from, std::uint64_t bits, int mode) {
  const std::uint64_t value = extended(from, bits);
  std::fesetround(mode);
  std::uint64_t result;
  if (to.bits == 64) {
    const volatile double d =
        from.kind == 's' ? static_cast<double>(static_cast<std::int64_t>(value)) : static_cast<double>(value);
    result = bits_of_value(static_cast<double>(d));
  } else {
    const volatile float s =
        from.kind == 's' ? static_cast<float>(static_cast<std::int64_t>(value)) : static_cast<float>(value);
    result = to.bits == 32 ? bits_of_value(static_cast<float>(s)) : from_double_value(to, s);
  }
  std::fesetround(FE_TONEAREST);
  return result;
}

// Between floats.
std::uint64_t float_of(Type to, double x, int mode) {
  if (to.kind == 't') return bits_of_value(round_to_tf32_even(static_cast<float>(x)));
  if (to.bits == 16 && mode != FE_TONEAREST) {
    const auto s = static_cast<float>(x);
    const bool half = to.kind == 'f';
    if (mode == FE_TOWARDZERO) return half ? round_to_zero<HalfFormat>(s) : round_to_zero<Bfloat16Format>(s);
    if (mode == FE_DOWNWARD) return half ? round_down<HalfFormat>(s) : round_down<Bfloat16Format>(s);
    return half ? round_up<HalfFormat>(s) : round_up<Bfloat16Format>(s);
  }
  std::fesetround(to.bits == 32 ? mode : FE_TONEAREST);
  const volatile double exact = x;
  const std::uint64_t result =
      to.bits == 32 ? bits_of_value(static_cast<float>(exact)) : from_double_value(to, exact);
  std::fesetround(FE_TONEAREST);
  return result;
}

int mode_of(const Instruction& in) {
  return in.has("rz") ? FE_TOWARDZERO : in.has("rm") ? FE_DOWNWARD : in.has("rp") ? FE_UPWARD : FE_TONEAREST;
}

Step convert(const Instruction& in) {
  const Type to = in.type(0), from = in.type(1);
  const Operand d = in.operand(0), a = in.operand(1, from);
  const bool sat = in.has("sat"), relu = in.has("relu");
  const int mode = mode_of(in);
  if (to.kind == 'e' || to.kind == 'g' || from.kind == 'e' || from.kind == 'g') in.refuse();
  if (to.packed) {  // cvt.rn.f16x2.f32 d, high, low
    const Type one{to.kind, 16, false};
    const Operand b = in.operand(2, from);
    return [=](Frame& f) {
      std::uint64_t high = float_of(one, to_double(from, read(f, a)), mode);
      std::uint64_t low = float_of(one, to_double(from, read(f, b)), mode);
      if (relu && high & 0x8000) high = 0;
      if (relu && low & 0x8000) low = 0;
      write(f, d, high << 16 | low);
    };
  }
  const bool to_float = to.is_float() || to.kind == 't', from_float = from.is_float();
  if (!to_float && !from_float) {
    return [=](Frame& f) {
      std::uint64_t value = extended(from, read(f, a));
      if (sat) {  // the nearest value that the result's type has
        const bool negative = from.kind == 's' && value >> 63;
        const std::uint64_t most = to.kind == 's'  ? (std::uint64_t{1} << (to.bits - 1)) - 1
                                   : to.bits == 64 ? ~std::uint64_t{0}
                                                   : (std::uint64_t{1} << to.bits) - 1;
        if (!negative && value > most) value = most;
        if (negative && to.kind != 's') value = 0;
        if (negative && to.kind == 's' && value < ~most) value = ~most;
      }
      write(f, d, extended(to, value));
    };
  }
  if (!to_float) {
    return [=](Frame& f) {
      write(f, d, extended(to, integer_of(to, rounded_to_integer(in, to_double(from, read(f, a))))));
    };
  }
  if (!from_float) return [=](Frame& f) { write(f, d, float_of_integer(to, from, read(f, a), mode)); };
  const bool away = to.kind == 't' && in.has("rna");
  const bool to_whole = in.has("rni") || in.has("rzi") || in.has("rmi") || in.has("rpi");
  return [=](Frame& f) {
    double x = to_double(from, read(f, a));
    if (to_whole) x = rounded_to_integer(in, x);
    if (sat) x = x > 0 ? std::fmin(x, 1) : 0;
    if (relu) x = std::fmax(x, 0);
    write(f, d, away ? bits_of_value(round_to_tf32(static_cast<float>(x))) : float_of(to, x, mode));
  };
}

}  // namespace

void add_conversions(Builders& b) {
  b["cvt"] = convert;
}

}  // namespace simt::ptx_code
