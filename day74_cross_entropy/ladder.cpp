// SPDX-License-Identifier: MIT
// The day's ladders: who competes, on which shapes and inputs, measured against what. Host code only.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "common/ladder.h"
#include "common/scalar.h"
#include "day74_cross_entropy/cross_entropy.h"
#include "day74_cross_entropy/linear.h"
#include "day74_cross_entropy/linear_check.h"

namespace day74 {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// ---- cross_entropy: what varies from one kind of inputs to the next ----

// Logits of element i: value(i / cols, i % cols, cols, the type's largest number).
using Value = double (*)(size_t row, size_t col, size_t cols, double most);
// Target of a row.
using TargetOf = int64_t (*)(int64_t row, int64_t classes, int64_t cols);

constexpr int kIgnored = -100;

int64_t scattered(int64_t row, int64_t classes, int64_t) {
  return row * 40009 % classes;
}
int64_t first_and_last(int64_t row, int64_t classes, int64_t) {
  return row % 2 == 0 ? classes - 1 : 0;
}
// Every other row: ignored; the numbers beside the classes, a column of padding among them; the least and the largest there is.
int64_t no_class(int64_t row, int64_t classes, int64_t cols) {
  const int64_t none[] = {
      kIgnored, -1, classes, cols, std::numeric_limits<int32_t>::max(), std::numeric_limits<int32_t>::min()};
  return row % 2 == 0 ? none[row / 2 % 6] : scattered(row, classes, cols);
}
int64_t zero(int64_t, int64_t, int64_t) {
  return 0;
}

double far_off(size_t row, size_t col, size_t, double) {
  return (row % 2 == 0 ? 1e4 : -1e4) + static_cast<double>(col * 37 % 101) / 25 - 2;
}
double all_equal(size_t, size_t, size_t, double) {
  return 12345;
}
// The target's probability is 0.9995.
double confident(size_t row, size_t col, size_t cols, double) {
  const bool target =
      static_cast<int64_t>(col) == scattered(static_cast<int64_t>(row), static_cast<int64_t>(cols), 0);
  return target ? std::log(0.9995 / 0.0005 * std::max<double>(1, static_cast<double>(cols) - 1)) : 0;
}
double nan_everywhere(size_t, size_t, size_t, double) {
  return std::nan("");
}
// Rows of nine kinds in turn; where a shape has few, another width begins with another kind. The targets are `first_and_last`.
double special(size_t row, size_t col, size_t cols, double most) {
  const bool last = col + 1 == cols;
  const double number = static_cast<double>(col * 37 % 101) / 25 - 2;
  switch ((row + cols) % 9) {
    case 0:
      return -kInfinity;  // nothing but -inf: NaN
    case 1:
      return last ? number : -kInfinity;  // one number
    case 2:
      return last ? -kInfinity : number;  // perhaps the target
    case 3:
      return col == cols / 2 ? kInfinity : number;  // NaN, all of the row
    case 4:
      return last ? std::nan("") : number;  // NaN, all of the row
    case 5:
      return col % 2 == 0 ? most : -most;  // their difference is no number of fp32
    case 6:
      return col == cols / 3 ? 1e4 : number;
    case 7:
      return last ? 0 : -87 - static_cast<double>(col % 18);  // results that are denormals, or 0
    default:
      return (col % 2 == 0 ? 1 : -1) * std::ldexp(1.0, -140);
  }
}

struct Kind {
  Value value = nullptr;  // N(0, 1)
  TargetOf target = scattered;
  double smoothing = 0, dloss = std::nan("");  // NaN: N(0, 1)
  int ignore_index = kIgnored;
  bool padded = false;      // an eighth of the columns, and one at least of two
  size_t past = 0;          // elements past an aligned address
  double most = kInfinity;  // of special rows
};

auto rows_of(Kind kind) {
  return [kind](auto& p, days::Shape s, days::Inputs& in) {
    using T = std::remove_cvref_t<decltype(*p.logits)>;
    p.rows = s[0];
    p.cols = s[1];
    const int padding = kind.padded ? std::min(p.cols - 1, p.cols / 8 + 1) : 0;
    p.classes = static_cast<int>(days::scalar("classes", p.cols - padding));
    p.smoothing = static_cast<float>(days::scalar("smoothing", kind.smoothing));
    p.ignore_index = static_cast<int>(days::scalar("ignore_index", kind.ignore_index));
    const size_t cols = s[1], classes = static_cast<size_t>(p.classes);
    const double most = std::min(kind.most, days::TypeInfo<T>::kMax);
    const auto logit = [=](size_t i) {
      const size_t row = i / cols, col = i % cols;
      // Who reads padding has NaN in his row.
      if (col >= classes) return std::nan("");
      return kind.value ? kind.value(row, col, classes, most) : static_cast<double>(col * 37 % 101) / 25 - 2;
    };
    p.logits = (kind.value || kind.padded ? in.fill("logits", s[0] * s[1], logit).as(s[0], s[1])
                                          : in.normal("logits", s[0] * s[1]).as(s[0], s[1])) +
               kind.past;
    p.targets = in.fill("targets", s[0], [kind, classes, cols](size_t row) {
      return static_cast<double>(
          kind.target(static_cast<int64_t>(row), static_cast<int64_t>(classes), static_cast<int64_t>(cols)));
    });
    p.dloss = std::isnan(kind.dloss) ? in.normal("dloss", s[0]) : in.constant("dloss", s[0], kind.dloss);
    p.loss = in.output("loss", s[0]);
  };
}

// Absolute what the sum of exponentials may be off by, relative what a sum of positive terms may.
struct OfLoss {
  template <class T>
  days::Bound operator()(days::Type<T>, const CrossEntropy<T>& p, days::Inputs&) const {
    constexpr double kEpsilon = days::TypeInfo<float>::kEpsilon;
    return {kEpsilon * sum_epsilons(p), kEpsilon * (4 + 2 * std::sqrt(p.classes))};
  }
};
// A probability is off by what the sum is, relative to itself; what is subtracted from one, by that of the probability.
struct OfGradient {
  template <class T>
  days::Bound operator()(days::Type<T>, const CrossEntropy<T>& p, days::Inputs&) const {
    using Fp32 = days::TypeInfo<float>;
    constexpr bool kRounded = days::TypeInfo<T>::kEpsilon > Fp32::kEpsilon;
    constexpr double kLeastNormal = 0x1p-126;  // below it the 16-bit kernels' exponentials are 0
    return {Fp32::kEpsilon * difference_epsilons(p) + 4 * kLeastNormal +
                (kRounded ? days::TypeInfo<T>::kDenormMin : 0),
            Fp32::kEpsilon * sum_epsilons(p) + (kRounded ? days::TypeInfo<T>::kEpsilon : 0)};
  }
};

const auto cross_entropy =
    days::ladder<CrossEntropy>("cross_entropy")
        .extents({"rows", "cols"})
        .types<float, days::half, days::bf16>()
        .variant("three", LAUNCHER(cross_entropy_three))
        .variant("online", LAUNCHER(cross_entropy_online))
        .variant("vectors", LAUNCHER(cross_entropy_vectors))
        .variant("resident", LAUNCHER(cross_entropy_resident))
        .runs_on(days::sm_90)
        .needs(kRowFits)
        .exercise(LAUNCHER(exercise), "loss and gradient in two reads of the logits", "three", "online",
                  {.reads_per_input = 2.1, .wasted_sectors = 0.1})
        .reference(LAUNCHER(cross_entropy_reference))
        .by_rows([](const auto& p) { return p.rows; },
                 [](auto p, size_t begin, size_t end) {
                   p.rows = static_cast<int>(end - begin);
                   p.logits += begin * static_cast<size_t>(p.cols);
                   p.targets += begin;
                   p.dloss += begin;
                   p.loss += begin;
                   return p;
                 })
        .parallel(LAUNCHER(cross_entropy_parallel))
        // One; two columns; around a warp; rows for each kind of special ones; so many of whole stages that a ring goes round; odd
        // widths on either side of a block, of a batch of vectors, of a stage; vocabularies.
        .shapes({{1, 1},
                 {3, 2},
                 {5, 31},
                 {4, 33},
                 {9, 1000},
                 {133, 2048},
                 {2, 4097},
                 {3, 32003},
                 {2, 50257},
                 {1, 128256}})
        .gpu_shapes({{65537, 129}, {4099, 1025}, {1000, 50257}})
        .bench({{8192, 50304}, {8192, 50257}})
        .show({{16, 50304}})
        .inputs(rows_of({}))
        .hostile("smoothing 0.1", rows_of({.smoothing = 0.1}))
        .hostile("smoothing 1", rows_of({.target = first_and_last, .smoothing = 1}))
        .hostile("+-1e4", rows_of({.value = far_off}))
        .hostile("+-1e4, smoothing 0.1", rows_of({.value = far_off, .smoothing = 0.1}))
        .hostile("all equal", rows_of({.value = all_equal, .dloss = -1}))
        .hostile("confident", rows_of({.value = confident, .dloss = 1}))
        .hostile("special rows", rows_of({.value = special, .target = first_and_last, .dloss = 1}))
        .hostile(
            "special rows, smoothing 0.1",
            rows_of({.value = special, .target = first_and_last, .smoothing = 0.1, .dloss = 1, .most = 1e30}))
        .hostile(
            "special rows, smoothing 1",
            rows_of({.value = special, .target = first_and_last, .smoothing = 1, .dloss = 1, .most = 1e30}))
        .hostile("no class", rows_of({.target = no_class}))
        .hostile("all ignored", rows_of({.value = nan_everywhere, .target = zero, .ignore_index = 0}))
        .hostile("padded", rows_of({.target = first_and_last, .padded = true}))
        .hostile("padded, no class, smoothing 0.1",
                 rows_of({.target = no_class, .smoothing = 0.1, .padded = true}))
        .hostile("dloss 0", rows_of({.dloss = 0}))
        .hostile("misaligned", rows_of({.target = first_and_last, .past = 1}))
        .hostile("misaligned, smoothing 0.1",
                 rows_of({.target = first_and_last, .smoothing = 0.1, .past = 3}))
        .traffic([](const auto& p) {
          const double elements = 1.0 * p.rows * p.cols;
          return days::reads(p.logits, elements) + days::writes(p.logits, elements) +
                 days::reads(p.targets, p.rows) + days::reads(p.dloss, p.rows) + days::writes(p.loss, p.rows);
        })
        .tolerance("loss", OfLoss{})
        .tolerance("logits", OfGradient{})
        .lesson("forward already holds the gradient: it takes the logits' place.");

// ---- linear_cross_entropy ----

struct LinearKind {
  TargetOf target = scattered;
  double smoothing = 0, dloss = 1;
  int ignore_index = kIgnored;
  bool padded = false;
  size_t past = 0;  // elements of x past an aligned address
  double size = 1;  // of a logit
};

auto tokens_of(LinearKind kind) {
  return [kind](auto& p, days::Shape s, days::Inputs& in) {
    p.rows = s[0];
    p.width = s[1];
    p.vocab = s[2];
    const int padding = kind.padded ? std::min(p.vocab - 1, p.vocab / 8 + 1) : 0;
    p.classes = static_cast<int>(days::scalar("classes", p.vocab - padding));
    p.smoothing = static_cast<float>(days::scalar("smoothing", kind.smoothing));
    p.ignore_index = static_cast<int>(days::scalar("ignore_index", kind.ignore_index));
    p.x = in.normal("x", s[0] * s[1]) + kind.past;
    p.w = in.normal("w", s[2] * s[1], kind.size / std::sqrt(static_cast<double>(p.width)));
    const int64_t classes = p.classes, vocab = p.vocab;
    p.targets = in.fill("targets", s[0], [kind, classes, vocab](size_t row) {
      return static_cast<double>(kind.target(static_cast<int64_t>(row), classes, vocab));
    });
    p.dloss = std::isnan(kind.dloss) ? in.normal("dloss", s[0]) : in.constant("dloss", s[0], kind.dloss);
    p.loss = in.output("loss", s[0]);
    p.dx = in.output("dx", s[0], s[1]);
    p.dw = in.output("dw", s[2], s[1]);
  };
}

struct OfLinear {
  days::Bound Bounds::*which;
  template <class T>
  days::Bound operator()(days::Type<T>, const LinearCrossEntropy<T>& p, days::Inputs& in) const {
    return linear_bounds(p, in.rms("x"), in.rms("w")).*which;
  }
};

const auto linear_cross_entropy =
    days::ladder<LinearCrossEntropy>("linear_cross_entropy")
        .extents({"rows", "width", "vocab"})
        .types<float, days::half, days::bf16>()
        .variant("stored", LAUNCHER(linear_stored))
        .workspace(LAUNCHER(stored_workspace))
        .variant("slices", LAUNCHER(linear_slices))
        .workspace(LAUNCHER(slices_workspace))
        .reference(LAUNCHER(linear_reference))
        // One; odd extents, which no tensor core takes; slices that are not all of one length; more rows than a tile.
        .shapes({{1, 1, 1}, {5, 3, 7}, {37, 16, 40}, {150, 24, 65}})
        .gpu_shapes({{1000, 768, 50257}})
        .bench({{8192, 768, 50304}, {8192, 4096, 128256}})
        .show({{64, 32, 520}})
        .inputs(tokens_of({}))
        .hostile("smoothing 0.1, dloss N(0, 1)", tokens_of({.smoothing = 0.1, .dloss = std::nan("")}))
        .hostile("logits of tens", tokens_of({.size = 20}))
        .hostile("padded, the last word", tokens_of({.target = first_and_last, .padded = true}))
        .hostile("no class", tokens_of({.target = no_class}))
        .hostile("all ignored", tokens_of({.target = zero, .ignore_index = 0}))
        .hostile("misaligned x", tokens_of({.past = 1}))
        .traffic([](const auto& p) {
          const double x = 1.0 * p.rows * p.width, w = 1.0 * p.vocab * p.width;
          return days::reads(p.x, x) + days::reads(p.w, w) + days::reads(p.targets, p.rows) +
                 days::reads(p.dloss, p.rows) + days::writes(p.loss, p.rows) + days::writes(p.dx, x) +
                 days::writes(p.dw, w);
        })
        .flops([](const auto& p) { return 6.0 * p.rows * p.width * p.vocab; }, days::Rate::wgmma_by_type)
        .tolerance("loss", OfLinear{&Bounds::loss})
        .tolerance("dx", OfLinear{&Bounds::dx})
        .tolerance("dw", OfLinear{&Bounds::dw})
        .check_large(LAUNCHER(linear_check_large))
        .lesson("a row of logits lives for three products; all of them never need to.");

REGISTER_LADDER(cross_entropy);
REGISTER_LADDER(linear_cross_entropy);

}  // namespace
}  // namespace day74
