// SPDX-License-Identifier: MIT
// Day 75's ladders, one for each way to keep weights: who competes, on which shapes and inputs, measured against what. Host code only.

#include <cmath>
#include <limits>

#include "common/ladder.h"
#include "day75_weight_only_matmul/weight_only_matmul.h"

namespace day75 {
namespace {

// A dot product of k whose terms are x times a weight of the size `size(inputs)`. kRounded: each weight has been rounded to T
// once. That moves a product by half an epsilon of itself, and the errors of k products add up like random signs.
template <class Size, bool kRounded = false>
struct OfWeights {
  Size size;

  template <class T, class Problem, class Inputs>
  days::Bound operator()(days::Type<T>, const Problem& p, Inputs& in) const {
    days::Bound bound = days::dot_product([](const auto& q) { return q.k; })(days::Type<T>{}, p, in);
    const double weight = size(in);
    bound.absolute = bound.absolute * weight + days::TypeInfo<T>::kDenormMin;
    if (kRounded) {
      const double products = std::sqrt(static_cast<double>(p.k)) * in.template rms<T>() * weight;
      bound.absolute += 2 * days::TypeInfo<T>::kEpsilon * products;
    }
    return bound;
  }
};

template <class Size>
OfWeights<Size> of_weights(Size size) {
  return {size};
}
template <class Size>
OfWeights<Size, true> rounded_weights(Size size) {
  return {size};
}

// ---- int4 ----

template <class X, class Codes, class Scales>
auto of_int4(X x, Codes codes, Scales scales, int lead_x = 0, int lead_w = 0) {
  return [=](auto& p, days::Shape s, days::Inputs& in) {
    p.m = s[0];
    p.n = s[1];
    p.k = s[2];
    const size_t k = s[2], groups = s[2] / kGroup;
    p.x = in.fill("x", s[0] * s[2], [=](size_t i) { return x(i / k, i % k); }) + static_cast<size_t>(lead_x);
    p.w = in.fill("w", s[1] * s[2], [=](size_t i) { return codes(i / k, i % k); }) +
          static_cast<size_t>(lead_w);
    p.scale = in.fill("scale", s[1] * groups, [=](size_t i) { return scales(i / groups, i % groups); });
    p.y = in.output("y", s[0], s[1]);
  };
}
// Weights of some 0.02, each group with a scale of its own.
double usual_scale(size_t row, size_t group) {
  return 0.004 + 0.001 * static_cast<double>((row + 3 * group) % 7);
}
double random_x(size_t token, size_t i) {
  return static_cast<double>(days::normal(75, token << 32 | i));
}
double random_code(size_t row, size_t i) {
  return static_cast<double>(days::uniform_integer(76, row << 32 | i, 0, 16));
}
auto constant(double value) {
  return [=](size_t, size_t) { return value; };
}

const auto int4 =
    days::ladder<Int4Matmul>("int4")
        .extents({"m", "n", "k"})
        .types<days::half, days::bf16>()
        .variant("rows", LAUNCHER(int4_rows))
        .needs(kWholeGroups, kGridTokens)
        .variant("magic", LAUNCHER(int4_magic))
        .needs(kWholeGroups, kGridTokens, kAligned)
        .variant("fragments", LAUNCHER(int4_fragments))
        .runs_on(days::sm_80)
        .needs(kFewTokens, kWholeGroups, kAligned)
        .variant("repacked", LAUNCHER(int4_repacked))
        .runs_on(days::sm_80)
        .needs(kFewTokens, kWholeGroups, kAlignedX)
        .workspace(LAUNCHER(repacked_workspace))
        .setup(LAUNCHER(int4_repack))
        .variant("striped", LAUNCHER(int4_striped))
        .runs_on(days::sm_80)
        .needs(kFewTokens, kWholeGroups, kAlignedX)
        .workspace(LAUNCHER(repacked_workspace))
        .setup(LAUNCHER(int4_repack))
        .exercise(LAUNCHER(exercise), "eight weights from a word of codes", "rows", "magic",
                  {.bytes_per_request = 200})
        .needs(kWholeGroups, kGridTokens, kAligned)
        .reference(LAUNCHER(int4_reference))
        .parallel(LAUNCHER(int4_reference))
        .shapes({{1, 1, 128},
                 {2, 8, 256},
                 {7, 63, 128},
                 {8, 64, 384},
                 {9, 65, 256},
                 {16, 129, 128},
                 {17, 16, 256},
                 {33, 40, 128},
                 {64, 17, 384},
                 {3, 5, 130}})
        .gpu_shapes({{16, 1031, 4096}, {64, 300, 1152}})
        .bench({{16, 28672, 8192}, {1, 28672, 8192}, {64, 28672, 8192}})
        .show({{4, 256, 512}})
        .inputs([](auto& p, days::Shape s, days::Inputs& in) {
          p.m = s[0];
          p.n = s[1];
          p.k = s[2];
          const size_t groups = s[2] / kGroup;
          p.x = in.normal("x", s[0] * s[2]);
          p.w = in.uniform("w", s[1] * s[2], 0, 16);
          p.scale = in.uniform("scale", s[1] * groups, 0.002, 0.01);
          p.y = in.output("y", s[0], s[1]);
        })
        .hostile("codes 0", of_int4(random_x, constant(0), usual_scale))
        .hostile("codes 15", of_int4(random_x, constant(15), usual_scale))
        // A weight of 4.8e5 is infinite in fp16; the sums are not.
        .hostile("scales of 6e4", of_int4([](size_t t, size_t i) { return 1e-4 * random_x(t, i); },
                                          random_code, constant(6e4)))
        .hostile("scales of 1e-7", of_int4(random_x, random_code, constant(1e-7)))
        .hostile("a token of 6e4", of_int4([](size_t t, size_t i) { return t == 0 ? 6e4 : random_x(t, i); },
                                           random_code, constant(0x1p-10)))
        .hostile("a scale for each group", of_int4(constant(1), random_code,
                                                   [](size_t row, size_t group) {
                                                     return std::ldexp(1.0,
                                                                       static_cast<int>((row + group) % 5));
                                                   }))
        .hostile("a NaN in the last token",
                 [](auto& p, days::Shape s, days::Inputs& in) {
                   const size_t last = static_cast<size_t>(s[0]) - 1;
                   of_int4(
                       [=](size_t t, size_t i) {
                         return t == last && i == 5 ? std::numeric_limits<double>::quiet_NaN()
                                                    : random_x(t, i);
                       },
                       random_code, usual_scale)(p, s, in);
                 })
        .hostile("misaligned x", of_int4(random_x, random_code, usual_scale, 1, 0))
        .hostile("misaligned w", of_int4(random_x, random_code, usual_scale, 0, 2))
        .traffic([](const auto& p) {
          const double weights = 1.0 * p.n * p.k;
          return days::reads(p.x, 1.0 * p.m * p.k) + days::reads(p.w, weights) +
                 days::reads(p.scale, weights / kGroup) + days::writes(p.y, 1.0 * p.m * p.n);
        })
        .tolerance(of_weights([](auto&) { return 8.0; }))  // the largest a code less 8 may be
        .lesson(
            "few tokens: a product is a read of its weights. Make them small, and read them as they are "
            "used.");
REGISTER_LADDER(int4);

// What the ladders of other weights share.
template <class Ladder>
Ladder of_few_tokens(const Ladder& rows) {
  return rows
      .shapes({{1, 1, 128},
               {2, 8, 64},
               {7, 63, 192},
               {9, 65, 256},
               {16, 300, 128},
               {17, 16, 320},
               {32, 33, 64},
               {1, 40, 1160},
               {5, 3, 72},
               {3, 5, 100}})
      .gpu_shapes({{16, 1031, 4096}, {30, 300, 1152}})
      .bench({{16, 28672, 8192}, {1, 28672, 8192}})
      .show({{4, 256, 512}});
}

// ---- int8 ----

template <class X, class Weights, class Scales>
auto of_int8(X x, Weights weights, Scales scales) {
  return [=](auto& p, days::Shape s, days::Inputs& in) {
    p.m = s[0];
    p.n = s[1];
    p.k = s[2];
    const size_t k = s[2];
    p.x = in.fill("x", s[0] * s[2], [=](size_t i) { return x(i / k, i % k); });
    p.w = in.fill("w", s[1] * s[2], [=](size_t i) { return weights(i / k, i % k); });
    p.scale = in.fill("scale", s[1], [=](size_t i) { return scales(i, 0); });
    p.y = in.output("y", s[0], s[1]);
  };
}

const auto int8 =
    of_few_tokens(days::ladder<Int8Matmul>("int8")
                      .extents({"m", "n", "k"})
                      .types<days::half, days::bf16>()
                      .variant("bytes", LAUNCHER(int8_bytes))
                      .runs_on(days::sm_80)
                      .needs(kFewTokens, kWholeChunks, kAlignedX)
                      .workspace(LAUNCHER(repacked_workspace))
                      .setup(LAUNCHER(int8_repack))
                      .reference(LAUNCHER(int8_reference))
                      .parallel(LAUNCHER(int8_reference)))
        .inputs([](auto& p, days::Shape s, days::Inputs& in) {
          p.m = s[0];
          p.n = s[1];
          p.k = s[2];
          p.x = in.normal("x", s[0] * s[2]);
          p.w = in.uniform("w", s[1] * s[2]);
          p.scale = in.uniform("scale", s[1], 1e-4, 1e-3);
          p.y = in.output("y", s[0], s[1]);
        })
        .hostile("weights of -128", of_int8(random_x, constant(-128), constant(0x1p-10)))
        .hostile(
            "every weight",
            of_int8(
                random_x, [](size_t row, size_t i) { return static_cast<double>((row + i) % 256) - 128; },
                usual_scale))
        .hostile("scales of 6e4",
                 of_int8([](size_t t, size_t i) { return 1e-5 * random_x(t, i); },
                         [](size_t row, size_t i) { return random_code(row, i) - 8; }, constant(6e4)))
        .traffic([](const auto& p) {
          return days::reads(p.x, 1.0 * p.m * p.k) + days::reads(p.w, 1.0 * p.n * p.k) +
                 days::reads(p.scale, p.n) + days::writes(p.y, 1.0 * p.m * p.n);
        })
        .tolerance(of_weights([](auto& in) { return in.rms("w"); }))
        .lesson("half the bytes, and a sign's bit away from a number of 16 bits.");
REGISTER_LADDER(int8);

// ---- nf4 ----

template <class X, class Codes, class Scales>
auto of_nf4(X x, Codes codes, Scales scales) {
  return [=](auto& p, days::Shape s, days::Inputs& in) {
    p.m = s[0];
    p.n = s[1];
    p.k = s[2];
    const size_t k = s[2], bytes = k / 2, blocks = k / static_cast<size_t>(days::kNf4Block);
    p.x = in.fill("x", s[0] * s[2], [=](size_t i) { return x(i / k, i % k); });
    p.codes = in.fill("codes", s[1] * bytes, [=](size_t i) { return codes(i / bytes, i % bytes); });
    p.absmax = in.fill("absmax", s[1] * blocks, [=](size_t i) { return scales(i / blocks, i % blocks); });
    p.y = in.output("y", s[0], s[1]);
  };
}

const auto nf4 =
    of_few_tokens(days::ladder<Nf4Matmul>("nf4")
                      .extents({"m", "n", "k"})
                      .types<days::half, days::bf16>()
                      .variant("pairs", LAUNCHER(nf4_pairs))
                      .runs_on(days::sm_80)
                      .needs(kSkinny, kWholeBlocks, kAlignedX)
                      .workspace(LAUNCHER(repacked_workspace))
                      .setup(LAUNCHER(nf4_repack))
                      .reference(LAUNCHER(nf4_reference))
                      .parallel(LAUNCHER(nf4_reference)))
        .inputs([](auto& p, days::Shape s, days::Inputs& in) {
          p.m = s[0];
          p.n = s[1];
          p.k = s[2];
          p.x = in.normal("x", s[0] * s[2]);
          p.codes = in.uniform("codes", s[1] * (s[2] / 2), 0, 256);
          p.absmax = in.uniform("absmax", s[1] * (s[2] / static_cast<size_t>(days::kNf4Block)), 0.02, 0.1);
          p.y = in.output("y", s[0], s[1]);
        })
        .hostile("every pair",
                 of_nf4(
                     random_x, [](size_t row, size_t i) { return static_cast<double>((row + i) % 256); },
                     usual_scale))
        .hostile("scales of 1e6",
                 of_nf4([](size_t t, size_t i) { return 1e-4 * random_x(t, i); }, constant(0x0f),
                        [](size_t row, size_t i) { return (row + i) % 2 == 0 ? 1e6 : 1e-6; }))
        .traffic([](const auto& p) {
          const double weights = 1.0 * p.n * p.k;
          return days::reads(p.x, 1.0 * p.m * p.k) + days::reads(p.codes, weights / 2) +
                 days::reads(p.absmax, weights / days::kNf4Block) + days::writes(p.y, 1.0 * p.m * p.n);
        })
        .tolerance(rounded_weights([](auto& in) { return in.rms("absmax"); }))
        .lesson("values that no arithmetic makes are looked up, two at a time.");
REGISTER_LADDER(nf4);

// ---- plain ----

template <class X, class Weights>
auto of_plain(X x, Weights weights, size_t lead_x = 0, size_t lead_w = 0) {
  return [=](auto& p, days::Shape s, days::Inputs& in) {
    p.m = s[0];
    p.n = s[1];
    p.k = s[2];
    const size_t k = s[2];
    p.x = in.fill("x", s[0] * s[2], [=](size_t i) { return x(i / k, i % k); }) + lead_x;
    p.w = in.fill("w", s[1] * s[2], [=](size_t i) { return weights(i / k, i % k); }) + lead_w;
    p.y = in.output("y", s[0], s[1]);
  };
}
double random_weight(size_t row, size_t i) {
  return static_cast<double>(days::normal(77, row << 32 | i));
}

const auto plain =
    of_few_tokens(days::ladder<PlainMatmul>("plain")
                      .extents({"m", "n", "k"})
                      .types<days::bf16, days::half>()
                      .variant("skinny", LAUNCHER(plain_skinny))
                      .runs_on(days::sm_80)
                      .needs(kSkinny, kWholeChunks, kAligned)
                      .reference(LAUNCHER(plain_reference))
                      .parallel(LAUNCHER(plain_reference)))
        .inputs([](auto& p, days::Shape s, days::Inputs& in) {
          p.m = s[0];
          p.n = s[1];
          p.k = s[2];
          p.x = in.normal("x", s[0] * s[2]);
          p.w = in.normal("w", s[1] * s[2]);
          p.y = in.output("y", s[0], s[1]);
        })
        .hostile("large sums",
                 of_plain(constant(32), [](size_t, size_t i) { return i % 64 < 32 ? 32.0 : -32.0; }))
        .hostile("a NaN in the last token",
                 [](auto& p, days::Shape s, days::Inputs& in) {
                   const size_t last = static_cast<size_t>(s[0]) - 1;
                   of_plain(
                       [=](size_t t, size_t i) {
                         return t == last && i == 5 ? std::numeric_limits<double>::quiet_NaN()
                                                    : random_x(t, i);
                       },
                       random_weight)(p, s, in);
                 })
        .hostile("misaligned x", of_plain(random_x, random_weight, 1, 0))
        .hostile("misaligned w", of_plain(random_x, random_weight, 0, 1))
        .traffic([](const auto& p) {
          return days::reads(p.x, 1.0 * p.m * p.k) + days::reads(p.w, 1.0 * p.n * p.k) +
                 days::writes(p.y, 1.0 * p.m * p.n);
        })
        .tolerance(days::dot_product([](const auto& p) { return p.k; }))
        .lesson("a load of 16 bytes is two fragments, if both sides agree on the order of k.");
REGISTER_LADDER(plain);

}  // namespace
}  // namespace day75
