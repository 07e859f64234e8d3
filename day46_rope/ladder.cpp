// SPDX-License-Identifier: MIT
// The day's ladders: angles as a product in fp32, exact ones in both orders of pairs, backward, and a position for each token. Host
// code only.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/elementwise.h"
#include "common/ladder.h"
#include "common/random.h"
#include "day46_rope/frequencies.h"
#include "day46_rope/rope.h"
#include "day46_rope/rope_at.h"

namespace day46 {
namespace {

constexpr Scaling kPlain = {};
constexpr Scaling kLinear = {.kind = Scaling::kLinear, .factor = 8};
constexpr Scaling kNtk = {.kind = Scaling::kNtk, .factor = 8};
constexpr Scaling kLlama3 = {.kind = Scaling::kLlama3, .base = 500000, .factor = 8};

template <class P>
using ElementOf = std::remove_cvref_t<decltype(*std::declval<P>().q)>;

// Extents are those of what is there after the call: `context` positions, of which the last `seq` are new.
template <class P>
void set_extents(P& p, days::Shape s, const Scaling& scaling) {
  days::require(s[0] > 0, "context: there is no problem without a position, as of", s[0].value());
  p.start = s[0] - s[1];
  p.seq = s[1];
  p.heads = s[2];
  p.kv_heads = s[3];
  p.dim = s[4];
  p.scaling = scaling;
}
// What all inputs have beside q and k: frequencies in three forms. The table holds the new positions and no other.
template <class P>
void set_frequencies(P& p, days::Inputs& in) {
  const Scaling scaling = p.scaling;
  const int64_t dim = p.dim, start = p.start, half = dim / 2;
  const auto of = [=](size_t i) { return frequency(scaling, static_cast<int64_t>(i), dim); };
  p.frequency = in.fill("frequency", half, of);
  p.turns = in.fill("turns", 2 * half, [=](size_t i) {
    const Turns turns = turns_of(of(i % static_cast<size_t>(half)));
    return static_cast<double>(i < static_cast<size_t>(half) ? turns.high : turns.low);
  });
  const auto angle = [=](size_t i) {
    const size_t row = i / static_cast<size_t>(half), pair = i % static_cast<size_t>(half);
    return (static_cast<double>(start) + static_cast<double>(row)) * of(pair);
  };
  p.table_start = p.start;
  p.positions = p.seq;
  p.cosines = in.fill("cosines", days::Extent(p.seq) * half, [=](size_t i) { return std::cos(angle(i)); });
  p.sines = in.fill("sines", days::Extent(p.seq) * half, [=](size_t i) { return std::sin(angle(i)); });
}
template <class P>
days::Extent of_q(const P& p) {
  return days::Extent(p.seq) * p.heads * p.dim;
}
template <class P>
days::Extent of_k(const P& p) {
  return days::Extent(p.seq) * p.kv_heads * p.dim;
}

// Each array begins some elements past an aligned address; `start` stays below `before`.
struct Past {
  size_t q = 0, k = 0, rotated_q = 0, rotated_k = 0;
};
template <class Values>
auto heads(Values values, const Scaling& scaling = kPlain, Past past = {}, int64_t before = kMaxPosition) {
  return [=](auto& p, days::Shape s, days::Inputs& in) {
    set_extents(p, s, scaling);
    p.start %= before;
    p.q = values("q", p, of_q(p), in) + past.q;
    p.k = values("k", p, of_k(p), in) + past.k;
    set_frequencies(p, in);
    p.rotated_q = in.output("rotated_q", s[1], s[2], s[4]) + past.rotated_q;
    p.rotated_k = in.output("rotated_k", s[1], s[3], s[4]) + past.rotated_k;
  };
}

// By how much an angle in fp32 may be off: the frequency is rounded, its product with the position, and in turns a third time,
// each by half an epsilon. The special function unit adds 2^-20. Position 0 has no error.
double error_of_angle(double angle) {
  return angle == 0 ? 0 : 3 * days::TypeInfo<float>::kEpsilon * angle + 0x1p-20;
}

// 0 for a number, 1 and -1 for the infinities, 2 for NaN.
int kind_of(double x) {
  return std::isnan(x) ? 2 : !std::isinf(x) ? 0 : x > 0 ? 1 : -1;
}
// Infinity times a sine tells the sine's sign, and the largest number turned a little further is infinity. So where the sine or
// the cosine is nearly 0, or a result nearly too large for T, an angle that is a little off makes another kind of number,
// and no kernel that computes in fp32 is wrong about it. Whether (a, b), turned by the angle or back, becomes numbers of the same
// kinds at the angles around it.
template <class T>
bool same_kinds_nearby(double a, double b, double angle) {
  const double off = error_of_angle(angle);
  const auto plain = [](double x) { return std::abs(x) < days::TypeInfo<T>::kMax; };  // not NaN, not infinite
  if (off == 0 || (plain(a) && plain(b))) return true;
  const auto kinds = [&](double at) {
    const double c = std::cos(at), s = std::sin(at);
    std::array<int, 4> all{};
    size_t i = 0;
    for (const double x : {a * c - b * s, a * s + b * c, a * c + b * s, b * c - a * s})
      all[i++] = kind_of(days::to_double(days::from_double<T>(x)));
    return all;
  };
  const auto here = kinds(angle);
  return kinds(angle - off) == here && kinds(angle + off) == here;
}

constexpr auto kNormal = [](const char* name, const auto&, days::Extent n, days::Inputs& in) {
  return in.normal(name, n);
};
// Special values, but for pairs whose result hangs on more digits than the angle has: these are ones.
template <bool kInterleaved>
constexpr auto kSpecial = [](const char* name, const auto& p, days::Extent n, days::Inputs& in) {
  using T = ElementOf<decltype(p)>;
  const auto dim = static_cast<size_t>(p.dim), half = dim / 2,
             of_token = static_cast<size_t>(n.value() / p.seq);
  std::vector<double> frequencies(half);
  for (size_t i = 0; i < half; ++i) frequencies[i] = frequency(p.scaling, static_cast<int64_t>(i), p.dim);
  return in.fill(name, n, [=, start = static_cast<double>(p.start)](size_t i) {
    const size_t in_head = i % dim, pair = kInterleaved ? in_head / 2 : in_head % half;
    const size_t first = i - in_head + (kInterleaved ? 2 * pair : pair);
    const double angle = (start + static_cast<double>(i / of_token)) * frequencies[pair];
    const double a = days::special_value<T>(first),
                 b = days::special_value<T>(first + (kInterleaved ? 1 : half));
    return same_kinds_nearby<T>(a, b, angle) ? days::special_value<T>(i) : 1.0;
  });
};
// A pair of 1 and 0: what comes out is cosine and sine themselves.
constexpr auto kUnit = [](const char* name, const auto& p, days::Extent n, days::Inputs& in) {
  const auto dim = static_cast<size_t>(p.dim);
  return in.fill(name, n, [dim](size_t i) { return i % dim < dim / 2 ? 1.0 : 0.0; });
};

// ---- Tolerances

template <class T>
double largest_of(const T* x, int64_t n) {
  double largest = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double size = std::abs(days::to_double(x[i]));
    if (std::isfinite(size)) largest = std::max(largest, size);
  }
  return largest;
}
// In place the inputs are gone when the tolerance is asked for; a rotation leaves lengths as they were, and so what is
// there is at most 1.42 times smaller.
template <class P>
double largest(const P& p) {
  return 1.42 *
         std::max(largest_of(p.q, p.seq * p.heads * p.dim), largest_of(p.k, p.seq * p.kv_heads * p.dim));
}
// What an error of `angle` in the angle, and some roundings in fp32, do to an element, and the rounding to 16 bits.
template <class T>
days::Bound turned_by(double largest, double angle) {
  using Fp32 = days::TypeInfo<float>;
  using Info = days::TypeInfo<T>;
  constexpr bool kRounded = Info::kEpsilon > Fp32::kEpsilon;
  return {largest * (angle + 4 * Fp32::kEpsilon) + (kRounded ? Info::kDenormMin : 4 * Fp32::kDenormMin),
          4 * Fp32::kEpsilon + (kRounded ? Info::kEpsilon : 0)};
}

// Four fp32 epsilons for an exact angle, its sine and cosine, and the sum of two products: at every position the same.
struct AnyPosition {
  template <class T, class Problem>
  days::Bound operator()(days::Type<T>, const Problem& p, days::Inputs&) const {
    return turned_by<T>(largest(p), 0);
  }
};
// The fastest pair's angle is the position.
struct ByPosition {
  template <class T, class Problem>
  days::Bound operator()(days::Type<T>, const Problem& p, days::Inputs&) const {
    const double angle = static_cast<double>(p.start + p.seq) * frequency(p.scaling, 0, p.dim);
    return turned_by<T>(largest(p), error_of_angle(angle));
  }
};

// ---- What the four have in common

// One pair; dims around vectors of 4 and 8 and of two halves; no whole vectors; one token and many; one head, grouped ones,
// as many of k as of q, more than a block takes at once; positions up to the last that fp32 counts to.
template <class L>
L sizes(const L& ladder) {
  return ladder.extents({"context", "seq", "heads", "kv_heads", "dim"})
      .by_rows([](const auto& p) { return p.seq; },
               [](auto p, size_t begin, size_t end) {
                 const size_t q = begin * static_cast<size_t>(p.heads) * static_cast<size_t>(p.dim);
                 const size_t k = begin * static_cast<size_t>(p.kv_heads) * static_cast<size_t>(p.dim);
                 p.start += static_cast<int64_t>(begin);
                 p.seq = static_cast<int64_t>(end - begin);
                 p.q += q;
                 p.k += k;
                 p.rotated_q += q;
                 p.rotated_k += k;
                 return p;
               })
      .shapes({{1, 1, 1, 1, 2},        {1, 1, 1, 1, 16},        {3, 3, 2, 1, 4},       {7, 5, 3, 1, 6},
               {9, 9, 1, 1, 8},        {33, 2, 5, 5, 32},       {65, 65, 2, 2, 16},    {100001, 2, 4, 1, 64},
               {131072, 3, 4, 2, 128}, {1000003, 1, 8, 2, 128}, {40, 4, 32, 8, 64},    {5, 5, 3, 2, 80},
               {17, 17, 1, 2, 96},     {1 << 24, 2, 1, 1, 24},  {300, 3, 71, 1, 32},   {12, 3, 9, 9, 256},
               {4, 2, 5, 4, 2048},     {3, 3, 2, 1, 2064},      {20000, 37, 3, 3, 48}, {2, 2, 1, 1, 1032}})
      .gpu_shapes({{2053, 2053, 32, 8, 128}, {100003, 4099, 14, 2, 64}})
      .bench({{16384, 16384, 32, 8, 128}})
      .sweep({{4096, 4096, 32, 8, 128},
              {131072, 16384, 32, 8, 128},
              {16384, 16384, 32, 32, 64},
              {16383, 16383, 40, 10, 96},
              {32768, 32768, 8, 8, 256},
              {131072, 1, 32, 8, 128}})
      .show({{4096, 64, 8, 2, 64}});
}
template <bool kInterleaved = false, class L>
L inputs(const L& ladder) {
  return ladder.inputs(heads(kNormal))
      .hostile("linear scaling", heads(kNormal, kLinear))
      .hostile("NTK scaling", heads(kNormal, kNtk))
      .hostile("Llama 3's scaling", heads(kNormal, kLlama3))
      .hostile("special values", heads(kSpecial<kInterleaved>, kPlain, {}, 64))
      .hostile("unit vectors", heads(kUnit))
      .hostile("misaligned q", heads(kNormal, kPlain, {.q = 1}))
      .hostile("misaligned k", heads(kNormal, kPlain, {.k = 3}))
      .hostile("misaligned rotated_q", heads(kNormal, kPlain, {.rotated_q = 2}))
      .hostile("misaligned rotated_k", heads(kNormal, kPlain, {.rotated_k = 1}))
      .hostile("in place",
               [](auto& p, days::Shape s, days::Inputs& in) {
                 set_extents(p, s, kPlain);
                 p.rotated_q = in.normal("rotated_q", of_q(p)).as(s[1], s[2], s[4]);
                 p.rotated_k = in.normal("rotated_k", of_k(p)).as(s[1], s[3], s[4]);
                 p.q = p.rotated_q;
                 p.k = p.rotated_k;
                 set_frequencies(p, in);
               })
      .traffic([](const auto& p) {
        const double q = 1.0 * static_cast<double>(p.seq) * p.heads * p.dim;
        const double k = 1.0 * static_cast<double>(p.seq) * p.kv_heads * p.dim;
        return days::reads(p.q, q) + days::reads(p.k, k) + days::writes(p.rotated_q, q) +
               days::writes(p.rotated_k, k);
      });
}

const auto rope_product_ladder =
    inputs(sizes(days::ladder<Rope>("rope_product").types<float, days::half, days::bf16>()))
        .variant("product", LAUNCHER(rope_product))
        .variant("approx", LAUNCHER(rope_approx))
        .reference(LAUNCHER(rope_reference))
        .parallel(LAUNCHER(rope_parallel))
        .tolerance(ByPosition{})
        .lesson("an angle of 100,000 in fp32 is off by up to 1/256 before anybody takes its sine.");

const auto rope =
    inputs(sizes(days::ladder<Rope>("rope").types<float, days::half, days::bf16>()))
        .variant("table", LAUNCHER(rope_table))
        .variant("turns", LAUNCHER(rope_turns))
        .variant("vectors", LAUNCHER(rope_vectors))
        .needs(kWholeHalves)
        .exercise(LAUNCHER(exercise), "q and k in one launch, every sine once, exact at any position",
                  "table", "turns", {.reads_per_input = 1.3, .launches = 1})
        .reference(LAUNCHER(rope_reference))
        .parallel(LAUNCHER(rope_parallel))
        .tolerance(AnyPosition{})
        .lesson("count turns and not radians: whole turns are taken away before anything is rounded.");

const auto rope_interleaved_ladder =
    inputs<true>(sizes(days::ladder<Rope>("rope_interleaved").types<float, days::half, days::bf16>()))
        .variant("interleaved", LAUNCHER(rope_interleaved))
        .needs(kWholeHeads)
        .reference(LAUNCHER(rope_interleaved_reference))
        .parallel(LAUNCHER(rope_interleaved_parallel))
        .tolerance(AnyPosition{})
        .lesson("the same bytes and the same angles, another order: no kernel can tell which a model wants.");

const auto rope_backward =
    inputs(sizes(days::ladder<Rope>("rope_backward").types<float, days::half, days::bf16>()))
        .variant("inverse", LAUNCHER(rope_inverse))
        .needs(kWholeHalves)
        .reference(LAUNCHER(rope_backward_reference))
        .parallel(LAUNCHER(rope_backward_parallel))
        .tolerance(AnyPosition{})
        .lesson("backward is the rotation the other way: the sign of the sine, and nothing kept.");

// ---- A position for each token

// Tokens of many texts, far apart and in no order: a hash, and the last position that fp32 counts to.
int32_t any_position(size_t token) {
  return token % 7 == 3 ? static_cast<int32_t>(kMaxPosition - 1)
                        : static_cast<int32_t>(days::random_bits(46, token) % (int64_t{1} << 17));
}
int32_t near_position(size_t token) {
  return static_cast<int32_t>(token * 37 % 64);
}
// Beside these, what is no position.
int32_t no_position(size_t token) {
  const int32_t none[] = {-1, INT32_MIN, static_cast<int32_t>(kMaxPosition), INT32_MAX};
  return token % 3 == 1 ? none[token / 3 % 4] : any_position(token);
}

// Elements past an aligned address, and between tokens.
struct PastAt {
  size_t q = 0, k = 0, rotated_q = 0, rotated_k = 0, turns = 0;
  int q_gap = 0, k_gap = 0;
};
template <class P>
void set_tokens(P& p, days::Shape s, const Scaling& scaling, const PastAt& past, int32_t (*position)(size_t),
                days::Inputs& in) {
  p.tokens = s[0];
  p.heads = s[1];
  p.kv_heads = s[2];
  p.dim = s[3];
  p.q_pitch = int64_t{p.heads} * p.dim + past.q_gap;
  p.k_pitch = int64_t{p.kv_heads} * p.dim + past.k_gap;
  p.scaling = scaling;
  p.positions = in.fill("positions", s[0], [=](size_t i) { return static_cast<double>(position(i)); });
  const int64_t dim = p.dim, half = dim / 2;
  p.turns = in.fill("turns", 2 * half, [=](size_t i) {
    const auto pair = static_cast<int64_t>(i) % half;
    const Turns turns = turns_of(frequency(scaling, pair, dim));
    return static_cast<double>(static_cast<int64_t>(i) < half ? turns.high : turns.low);
  }) + past.turns;
}
template <class Values>
auto tokens(Values values, int32_t (*position)(size_t) = any_position, const Scaling& scaling = kPlain,
            PastAt past = {}) {
  return [=](auto& p, days::Shape s, days::Inputs& in) {
    set_tokens(p, s, scaling, past, position, in);
    p.q = values("q", p, s[0] * s[1] * s[3], in, position) + past.q;
    p.k = values("k", p, s[0] * s[2] * s[3], in, position) + past.k;
    p.rotated_q = in.output("rotated_q", s[0], s[1], s[3]) + past.rotated_q;
    p.rotated_k = in.output("rotated_k", s[0], s[2], s[3]) + past.rotated_k;
  };
}
constexpr auto kNormalAt = [](const char* name, const auto&, days::Extent n, days::Inputs& in,
                              int32_t (*)(size_t)) { return in.normal(name, n); };
// As kSpecial above.
constexpr auto kSpecialAt = [](const char* name, const auto& p, days::Extent n, days::Inputs& in,
                               int32_t (*position)(size_t)) {
  using T = ElementOf<decltype(p)>;
  const auto dim = static_cast<size_t>(p.dim), half = dim / 2,
             of_token = static_cast<size_t>(n.value() / p.tokens);
  std::vector<double> frequencies;
  for (size_t i = 0; i < half; ++i)
    frequencies.push_back(frequency(p.scaling, static_cast<int64_t>(i), p.dim));
  return in.fill(name, n, [=](size_t i) {
    const size_t pair = i % dim % half, first = i - i % dim + pair;
    const double angle = position(i / of_token) * frequencies[pair];
    const double a = days::special_value<T>(first), b = days::special_value<T>(first + half);
    return same_kinds_nearby<T>(a, b, angle) ? days::special_value<T>(i) : 1.0;
  });
};
// In place in a wider matrix, whose other columns stay as they are.
auto in_wider_rows(int q_gap, int k_gap) {
  return [=](auto& p, days::Shape s, days::Inputs& in) {
    set_tokens(p, s, kPlain, {.q_gap = q_gap, .k_gap = k_gap}, any_position, in);
    p.rotated_q = in.normal("rotated_q", s[0] * p.q_pitch).as(s[0], p.q_pitch);
    p.rotated_k = in.normal("rotated_k", s[0] * p.k_pitch).as(s[0], p.k_pitch);
    p.q = p.rotated_q;
    p.k = p.rotated_k;
  };
}
struct AnyPositionAt {
  template <class T, class Problem>
  days::Bound operator()(days::Type<T>, const Problem& p, days::Inputs&) const {
    const double largest =
        std::max(largest_of(p.q, (p.tokens - 1) * p.q_pitch + int64_t{p.heads} * p.dim),
                 largest_of(p.k, (p.tokens - 1) * p.k_pitch + int64_t{p.kv_heads} * p.dim));
    return turned_by<T>(1.42 * largest, 0);
  }
};

const auto rope_at =
    days::ladder<RopeAt>("rope_at")
        .types<float, days::half, days::bf16>()
        .extents({"tokens", "heads", "kv_heads", "dim"})
        .variant("positions", LAUNCHER(rope_positions))
        .needs(kWholeTokens)
        .reference(LAUNCHER(rope_at_reference))
        .by_rows([](const auto& p) { return p.tokens; },
                 [](auto p, size_t begin, size_t end) {
                   const auto first = static_cast<int64_t>(begin);
                   p.tokens = static_cast<int64_t>(end) - first;
                   p.positions += first;
                   p.q += first * p.q_pitch;
                   p.k += first * p.k_pitch;
                   p.rotated_q += first * p.q_pitch;
                   p.rotated_k += first * p.k_pitch;
                   return p;
                 })
        .parallel(LAUNCHER(rope_at_parallel))
        // One pair of vectors, and no whole ones; one token, as when one text is written, and many; groups of three heads, more heads
        // than a block takes at once, blocks of several tokens with some left.
        .shapes({{1, 1, 1, 8},
                 {1, 1, 1, 16},
                 {3, 2, 1, 6},
                 {1, 9, 3, 64},
                 {33, 9, 3, 64},
                 {5, 32, 8, 64},
                 {4, 3, 2, 80},
                 {7, 4, 2, 128},
                 {12, 71, 9, 32},
                 {3, 5, 4, 2048},
                 {2, 2, 1, 2064},
                 {65, 1, 1, 24}})
        .gpu_shapes({{4099, 9, 3, 64}, {2053, 32, 8, 128}})
        .bench({{16384, 32, 8, 128}})
        .sweep({{1, 9, 3, 64}, {32, 9, 3, 64}, {1, 32, 8, 128}, {32, 32, 8, 128}, {16384, 32, 8, 128}})
        .show({{64, 9, 3, 64}})
        .inputs(tokens(kNormalAt))
        .hostile("Llama 3's scaling", tokens(kNormalAt, any_position, kLlama3))
        .hostile("special values", tokens(kSpecialAt, near_position))
        .hostile("no positions", tokens(kNormalAt, no_position))
        .hostile("misaligned q", tokens(kNormalAt, any_position, kPlain, {.q = 1}))
        .hostile("misaligned k", tokens(kNormalAt, any_position, kPlain, {.k = 3}))
        .hostile("misaligned rotated_q", tokens(kNormalAt, any_position, kPlain, {.rotated_q = 2}))
        .hostile("misaligned rotated_k", tokens(kNormalAt, any_position, kPlain, {.rotated_k = 1}))
        .hostile("misaligned turns", tokens(kNormalAt, any_position, kPlain, {.turns = 1}))
        .hostile("in place, rows of whole vectors", in_wider_rows(24, 16))
        .hostile("in place, a pitch of q that is none", in_wider_rows(1, 8))
        .hostile("in place, a pitch of k that is none", in_wider_rows(8, 1))
        .traffic([](const auto& p) {
          const double q = 1.0 * static_cast<double>(p.tokens) * p.heads * p.dim;
          const double k = 1.0 * static_cast<double>(p.tokens) * p.kv_heads * p.dim;
          return days::reads(p.q, q) + days::reads(p.k, k) + days::reads(p.positions, p.tokens) +
                 days::writes(p.rotated_q, q) + days::writes(p.rotated_k, k);
        })
        .tolerance(AnyPositionAt{})
        .lesson("a position is one number more for a token: what the kernel waits for is the same.");

REGISTER_LADDER(rope_product_ladder);
REGISTER_LADDER(rope);
REGISTER_LADDER(rope_interleaved_ladder);
REGISTER_LADDER(rope_backward);
REGISTER_LADDER(rope_at);

}  // namespace
}  // namespace day46
