// SPDX-License-Identifier: MIT
// The day's ladders: AdamW on a list of tensors, and a whole training step. Host code only.

#include <cuda_fp8.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "common/ladder.h"
#include "common/scalar.h"
#include "day53_adam/adam.h"

namespace day53 {
namespace {

// The tensors of a GPT-2 as parts of arrays: 12 for each layer and 4 besides.
struct Part {
  int64_t begin, n;
  bool decays;
};
struct Parts {
  std::vector<Part> list;
  days::Extent size = 0;  // of the arrays

  void add(days::Extent n, bool decays, int64_t multiple) {
    list.push_back({days::round_up(static_cast<int64_t>(size), multiple), n, decays});
    size = days::Extent(list.back().begin) + n;
  }
};
// Each tensor begins at a multiple of so many elements. A number that is no size gives one tensor of so many elements, which every
// launcher refuses.
Parts gpt2(const days::Shape& s, int64_t multiple) {
  const days::Extent width = s[1];
  Parts parts;
  for (const int64_t size : s.numbers())
    if (size <= 0) {
      parts.list.push_back({0, size, true});
      return parts;
    }
  const auto layer_norm = [&] {
    for (int i = 0; i < 2; ++i) parts.add(width, false, multiple);
  };
  const auto linear = [&](int in, int out) {
    parts.add(in * width * (out * width), true, multiple);
    parts.add(out * width, false, multiple);
  };
  parts.add(s[2] * width, true, multiple);
  parts.add(s[3] * width, true, multiple);
  for (int64_t layer = 0; layer < s[0].value(); ++layer) {
    layer_norm();
    linear(1, 3);
    linear(1, 1);
    layer_norm();
    linear(1, 4);
    linear(4, 1);
  }
  layer_norm();
  return parts;
}

// ---- what a weight holds before the step: given a number of the place, all of it in double ----

struct Values {
  double w = 0.02, g = 1e-3, m = 1e-3;  // standard deviations
  double v = 1e-6;                      // the largest
};
constexpr Values kZeros{0.02, 0, 0, 0}, kFirst{0.02, 1e-3, 0, 0}, kTiny{0.02, 1e-8, 0, 0},
    kVanishing{0.02, 1e-14, 0, 0};

using Special = double (*)(size_t i);  // a gradient for every place, or NaN's place alone
double with_extremes(size_t i) {
  const double values[] = {1e-3, 1e20, -1e-25, 0, 1e-9, -1e18, 3e-20, -2e-3};
  return values[i % 8];
}
double one_nan(size_t i) {
  return i == 0 ? std::nan("") : 1e-3 * static_cast<double>(i % 7);
}
double infinities(size_t i) {
  return i % 2 == 0 ? std::numeric_limits<double>::infinity() : 1e-3;
}
// One in 50 is 2^20 times the others, whose roots' codes would be 0.
double outliers(size_t i) {
  return (i % 50 == 7 ? 1e-2 : 1e-8) * static_cast<double>(1 + i % 3);
}
double overflowing(size_t i) {
  return i == 0 ? 1e20 : 1e-3;
}

struct How {
  Values values = {};
  Special gradient = nullptr;
  int64_t multiple = 4;
  int64_t t = 10;
  double max_norm = 0.1;
  double scale_w = 1;
};

template <class T>
void fill(std::vector<AdamTensor<T>>& tensors, const How& how, const days::Shape& s, days::Inputs& in) {
  const Parts parts = gpt2(s, how.multiple);
  float* const w = in.normal("w", parts.size, how.values.w * how.scale_w);
  const float* const g =
      how.gradient ? in.fill("g", parts.size, how.gradient) : in.normal("g", parts.size, how.values.g);
  float* const m = in.normal("m", parts.size, how.values.m);
  float* const v =
      how.values.v == 0 ? in.constant("v", parts.size, 0) : in.uniform("v", parts.size, 0, how.values.v);
  T* copy = nullptr;
  if constexpr (!std::is_same_v<T, float>) copy = in.constant("copy", parts.size, 0.5);
  tensors.clear();
  for (const Part& part : parts.list)
    tensors.push_back({w + part.begin, g + part.begin, m + part.begin, v + part.begin,
                       copy == nullptr ? nullptr : copy + part.begin, part.n, part.decays});
}

template <class T>
void fill(std::vector<BytesTensor<T>>& tensors, const How& how, const days::Shape& s, days::Inputs& in) {
  const Parts parts = gpt2(s, how.multiple);
  days::Extent groups = 0;
  for (const Part& part : parts.list) groups = groups + days::ceil_div(std::max(part.n, int64_t{0}), kGroup);
  const Values& values = how.values;
  float* const w = in.normal("w", parts.size, values.w);
  const float* const g =
      how.gradient ? in.fill("g", parts.size, how.gradient) : in.normal("g", parts.size, values.g);
  const bool none = values.m == 0;
  days::fp8_e4m3* const m = in.normal("m", parts.size, none ? 0 : 100);
  days::fp8_e4m3* const r = in.uniform("r", parts.size, 0, none ? 1e-9 : kLargestCode);
  float* m_scale = in.uniform("m_scale", groups, 0, values.m / 100);
  float* r_scale = in.uniform("r_scale", groups, 0, std::sqrt(values.v) / kLargestCode);
  T* const copy = in.constant("copy", parts.size, 0.5);
  tensors.clear();
  for (const Part& part : parts.list) {
    tensors.push_back({w + part.begin, g + part.begin, m + part.begin, r + part.begin, m_scale, r_scale,
                       copy + part.begin, part.n, part.decays});
    m_scale += days::ceil_div(std::max(part.n, int64_t{0}), kGroup);
    r_scale += days::ceil_div(std::max(part.n, int64_t{0}), kGroup);
  }
}

// days::scalar has the caller's numbers, where somebody calls the day's library.
AdamRule rule_of_caller() {
  return {days::scalar("b1", 0.9), days::scalar("b2", 0.999), days::scalar("eps", 1e-8),
          days::scalar("decay", 0.1)};
}

auto update(const How& how) {
  return [how](auto& p, const days::Shape& s, days::Inputs& in) {
    p.rule = rule_of_caller();
    p.lr = days::scalar("lr", 1e-3);
    p.t = static_cast<int64_t>(days::scalar("t", static_cast<double>(how.t)));
    fill(p.tensors, how, s, in);
  };
}
auto step(const How& how) {
  return [how](auto& p, const days::Shape& s, days::Inputs& in) {
    p.rule = rule_of_caller();
    const AdamRates rates = adam_rates(p.rule, days::scalar("lr", 1e-3),
                                       static_cast<int64_t>(days::scalar("t", static_cast<double>(how.t))));
    p.max_norm = static_cast<float>(days::scalar("max_norm", how.max_norm));
    const float* const on_device =
        in.values("rates", std::vector<float>{rates.decay, rates.size, rates.root});
    p.rates = reinterpret_cast<const AdamRates*>(on_device);
    fill(p.tensors, how, s, in);
    p.norm = in.output("norm", 1);
  };
}

// ---- tolerances, in fp32's epsilons ----

constexpr double kEps = days::TypeInfo<float>::kEpsilon;
// A new w is the old one less a step, and each of the two may be the greater.
constexpr auto kOfW = [](auto, const auto&, days::Inputs& in) -> days::Bound {
  return {8 * kEps * in.rms("w"), 12 * kEps};
};
constexpr auto kOfM = [](auto, const auto&, days::Inputs& in) -> days::Bound {
  return {8 * kEps * (in.rms("m") + in.rms("g")) + 4 * days::TypeInfo<float>::kDenormMin, 8 * kEps};
};
constexpr auto kOfV = [](auto, const auto&, days::Inputs&) -> days::Bound {
  return {8 * days::TypeInfo<float>::kDenormMin, 12 * kEps};
};
constexpr auto kOfCopy = [](auto type, const auto&, days::Inputs& in) -> days::Bound {
  using Info = days::TypeInfo<typename decltype(type)::type>;
  return {8 * kEps * in.rms("w") + Info::kDenormMin, 12 * kEps + Info::kEpsilon};
};

template <class P>
double weights(const P& p) {
  double n = 0;
  for (const auto& t : p.tensors) n += static_cast<double>(t.n);
  return n;
}

constexpr auto kOfNorm = [](auto, const auto& p, days::Inputs&) -> days::Bound {
  return {0, kEps * (4 + std::sqrt(weights(p)) / 4)};
};
// A number between two codes may be rounded to either.
constexpr auto kOfCode = [](auto, const auto&, days::Inputs&) -> days::Bound {
  using Info = days::TypeInfo<days::fp8_e4m3>;
  return {Info::kDenormMin / 2, Info::kEpsilon};
};
constexpr auto kOfScale = [](auto, const auto&, days::Inputs&) -> days::Bound { return {0, 16 * kEps}; };

// Tensors of one element and of three; ends of a warp, a chunk, a norm's chunk; more tensors than a table holds; all of GPT-2.
template <class L>
L measured(const L& ladder) {
  return ladder.extents({"layers", "width", "vocab", "context"})
      .shapes({{1, 1, 1, 1},
               {1, 1, 2047, 255},
               {1, 1, 2049, 16384},
               {1, 5, 3277, 52},
               {2, 32, 65, 31},
               {83, 3, 7, 1}})
      .gpu_shapes({{12, 768, 50257, 1024}})
      .bench({{12, 768, 50257, 1024}, {1, 1, 1 << 28, 1}})
      .show({{3, 64, 700, 64}});
}

const auto adam = measured(days::ladder<Adam>("adam").types<float>())
                      .variant("naive", LAUNCHER(adam_naive))
                      .variant("vectors", LAUNCHER(adam_vectors))
                      .needs(kAligned)
                      .variant("table", LAUNCHER(adam_table))
                      .exercise(LAUNCHER(exercise), "all tensors in one launch", "vectors", "table",
                                {.bytes_per_request = 450, .launches = 1})
                      .reference(LAUNCHER(adam_reference))
                      .by_rows(LAUNCHER(adam_parallel))
                      .parallel(LAUNCHER(adam_parallel))
                      .inputs(update({}))
                      .hostile("first step", update({.values = kFirst, .t = 1}))
                      .hostile("zeros", update({.values = kZeros, .t = 1}))
                      .hostile("gradients of 1e-8", update({.values = kTiny, .t = 1}))
                      .hostile("step 1000000", update({.t = 1000000}))
                      .hostile("gradients of 1e-25 to 1e20", update({.gradient = with_extremes}))
                      .hostile("a NaN", update({.gradient = one_nan}))
                      .hostile("denormal weights", update({.values = kZeros, .scale_w = 1e-38}))
                      .hostile("packed", update({.multiple = 1}))
                      .traffic([](const auto& p) {
                        const double n = weights(p);
                        const auto& t = p.tensors[0];
                        return days::reads(t.w, n) + days::reads(t.g, n) + days::reads(t.m, n) +
                               days::reads(t.v, n) + days::writes(t.w, n) + days::writes(t.m, n) +
                               days::writes(t.v, n);
                      })
                      .tolerance("w", kOfW)
                      .tolerance("m", kOfM)
                      .tolerance("v", kOfV)
                      .lesson("an optimizer is bytes: 28 a weight, in one launch.");

const auto adam_step =
    measured(days::ladder<AdamStep>("adam_step").types<days::bf16, days::half>())
        .variant("apart", LAUNCHER(step_apart))
        .workspace(LAUNCHER(apart_workspace))
        .variant("clipped", LAUNCHER(step_clipped))
        .workspace(LAUNCHER(norm_workspace))
        .variant("mixed", LAUNCHER(step_mixed))
        .workspace(LAUNCHER(norm_workspace))
        .reference(LAUNCHER(step_reference))
        .by_rows(LAUNCHER(step_parallel))
        .parallel(LAUNCHER(step_parallel))
        .inputs(step({.max_norm = 1e-3}))
        .hostile("nothing to clip", step({.max_norm = std::numeric_limits<double>::infinity()}))
        .hostile("first step", step({.values = kFirst, .t = 1}))
        .hostile("zeros", step({.values = kZeros, .t = 1}))
        .hostile("a NaN", step({.gradient = one_nan}))
        .hostile("infinities", step({.gradient = infinities}))
        .hostile("a square beyond fp32", step({.gradient = overflowing}))
        .hostile("packed", step({.multiple = 1, .max_norm = 1e-3}))
        // The norm has to be known before anything is changed: g is read twice.
        .traffic([](const auto& p) {
          const double n = weights(p);
          const auto& t = p.tensors[0];
          return days::reads(t.w, n) + days::reads(t.g, 2 * n) + days::reads(t.m, n) + days::reads(t.v, n) +
                 days::writes(t.w, n) + days::writes(t.m, n) + days::writes(t.v, n) + days::writes(t.copy, n);
        })
        .tolerance("w", kOfW)
        .tolerance("m", kOfM)
        .tolerance("v", kOfV)
        .tolerance("copy", kOfCopy)
        .tolerance("norm", kOfNorm)
        .lesson("a step is bytes: what is known in a register is not stored to be read again.");

const auto adam_bytes =
    measured(days::ladder<AdamBytes>("adam_bytes").types<days::bf16, days::half>())
        .variant("bytes", LAUNCHER(step_bytes))
        .workspace(LAUNCHER(norm_workspace))
        .reference(LAUNCHER(bytes_reference))
        .by_rows(LAUNCHER(bytes_parallel))
        .parallel(LAUNCHER(bytes_parallel))
        .inputs(step({.max_norm = 1e-3}))
        .hostile("huge, and nothing to clip",
                 step({.values = {.g = 1e5}, .max_norm = std::numeric_limits<double>::infinity()}))
        .hostile("first step", step({.values = kFirst, .t = 1}))
        .hostile("zeros", step({.values = kZeros, .t = 1}))
        .hostile("gradients of 1e-14", step({.values = kVanishing, .t = 1}))
        .hostile("outliers", step({.values = kFirst, .gradient = outliers, .t = 1, .max_norm = 1e9}))
        .hostile("a NaN", step({.gradient = one_nan}))
        .hostile("packed", step({.multiple = 1, .max_norm = 1e-3}))
        .traffic([](const auto& p) {
          const double n = weights(p), groups = n / kGroup;
          const auto& t = p.tensors[0];
          return days::reads(t.w, n) + days::reads(t.g, 2 * n) + days::reads(t.m, n) + days::reads(t.r, n) +
                 days::reads(t.m_scale, groups) + days::reads(t.r_scale, groups) + days::writes(t.w, n) +
                 days::writes(t.m, n) + days::writes(t.r, n) + days::writes(t.m_scale, groups) +
                 days::writes(t.r_scale, groups) + days::writes(t.copy, n);
        })
        .tolerance("w", kOfW)
        .tolerance("m", kOfCode)
        .tolerance("r", kOfCode)
        .tolerance("m_scale", kOfScale)
        .tolerance("r_scale", kOfScale)
        .tolerance("copy", kOfCopy)
        .tolerance("norm", kOfNorm)
        .lesson(
            "fewer bytes a weight are the only faster optimizer; a root that is rounded to 0 is its end.");

REGISTER_LADDER(adam);
REGISTER_LADDER(adam_step);
REGISTER_LADDER(adam_bytes);

}  // namespace
}  // namespace day53
