// SPDX-License-Identifier: MIT
// The day's three ladders: a sum, a sum to the last digit, and the largest element with its place. Host code only.

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "common/ladder.h"
#include "day56_reduction/reduction.h"

namespace day56 {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kHalfEpsilon = days::TypeInfo<float>::kEpsilon / 2;

// How many additions an element passes at most on its way to the sum. In vectors a thread of the last block may add up 64 elements
// one by one, and ten levels of trees follow, in each launch; every other rung is less deep.
double depth(int64_t n) {
  double launches = 1;
  for (; n > kTileOfVectors<float>; n = days::ceil_div(n, kTileOfVectors<float>)) ++launches;
  return 80 * launches;
}

// Each addition rounds what has been added up so far by half an epsilon of it, which is at most that of all sizes: a bound that no
// order of a tree so deep passes, and a chain as long as the array does.
struct OfTree {
  template <class T>
  days::Bound operator()(days::Type<T>, const Sum<T>& p, days::Inputs&) const {
    if constexpr (std::is_integral_v<T>) {
      return {};
    } else {
      return {kHalfEpsilon * depth(p.n) * sum_of_sizes(p), 0};
    }
  }
};
// The last digit, as a float has it; and what the sum of the losses loses.
struct OfTwoSum {
  template <class T>
  days::Bound operator()(days::Type<T>, const Sum<T>& p, days::Inputs&) const {
    const double twice = kHalfEpsilon * depth(p.n);
    return {twice * twice * sum_of_sizes(p), 2 * kHalfEpsilon};
  }
};

template <class P>
using Element = std::remove_cvref_t<decltype(*std::declval<P>().x)>;

auto normal() {
  return [](const auto& p, days::Extent n, days::Inputs& in) {
    return std::is_integral_v<Element<decltype(p)>> ? in.uniform("x", n) : in.normal("x", n);
  };
}
// values(Type<T>, i, n)
template <class F>
auto each(F value) {
  return [=](const auto& p, days::Extent n, days::Inputs& in) {
    const size_t count = n;
    return in.fill("x", n, [=](size_t i) { return value(days::Type<Element<decltype(p)>>{}, i, count); });
  };
}
// Whole numbers know neither infinity nor NaN: in their place they have their largest and least, whose sums pass 32 bits.
template <class T>
double or_extreme(days::Type<T>, double value) {
  if (std::isfinite(value) || days::TypeInfo<T>::kFloating) return value;
  return value < 0 ? -2147483648.0 : 2147483647.0;
}
auto equal(double value) {
  return each([=](auto, size_t, size_t) { return value; });
}
// `special` at place(n), ordinary numbers elsewhere.
template <class Place>
auto one(double special, Place place) {
  return each([=](auto type, size_t i, size_t n) {
    return i == place(n) ? or_extreme(type, special) : static_cast<double>(i * 40009 % 1009) - 504;
  });
}
constexpr auto kFirst = [](size_t) { return size_t{0}; };
constexpr auto kThird = [](size_t n) { return n / 3; };
constexpr auto kLast = [](size_t n) { return n - 1; };

// Large numbers of both signs, which cancel, and at the end a 1.
template <class T>
double cancels(days::Type<T>, size_t i, size_t n) {
  const double large = std::min(1e30, days::TypeInfo<T>::kMax);
  return i == n - 1 ? 1 : i % 2 == 0 ? large : -large;
}
// Where floats are 2 apart (or where T has its largest): a chain that begins there loses each 1.
template <class T>
double large_then_ones(days::Type<T>, size_t i, size_t) {
  return i == 0 ? std::min(16777216.0, days::TypeInfo<T>::kMax) : 1;
}
template <class T>
double both_infinities(days::Type<T> type, size_t i, size_t n) {
  return i == 0 ? or_extreme(type, kInfinity) : i == n - 1 ? or_extreme(type, -kInfinity) : 1;
}

template <class Values>
auto sum_of(Values values, int from = 0) {
  return [=](auto& p, days::Shape s, days::Inputs& in) {
    p.n = s[0];
    p.x = values(p, s[0], in) + static_cast<size_t>(from);
    p.sum = in.output("sum", 1);
  };
}

// What both ladders of sums have in common.
template <class L>
auto sums(const L& ladder) {
  return ladder.reference(LAUNCHER(sum_reference))
      .parallel(LAUNCHER(sum_parallel))
      // Around a warp, a block, the tiles of chains and vectors (in 16 bits twice as long).
      .shapes({{1}, {2}, {31}, {32}, {33}, {255}, {256}, {257}, {4096}, {4097}, {8191}, {8193}, {16501}})
      .gpu_shapes({{1000003}, {2500003}, {17000003}})
      .bench({{1 << 24}, {1 << 28}, {1 << 30}})
      .sweep({{1 << 14},
              {1 << 16},
              {1 << 18},
              {1 << 20},
              {1000003},
              {1 << 22},
              {1 << 24},
              {1 << 26},
              {1 << 28},
              {1 << 30}},
             {.over = "n"})
      .show({{1 << 18}})
      .inputs(sum_of(normal()))
      .hostile("all 0.1", sum_of(equal(0.1)))
      .hostile("all 60000", sum_of(equal(60000)))
      .hostile("all -0", sum_of(equal(-0.0)))
      .hostile("large ones cancel", sum_of(each(LAUNCHER(cancels))))
      .hostile("2^24, then ones", sum_of(each(LAUNCHER(large_then_ones))))
      .hostile("NaN at the end", sum_of(one(std::nan(""), kLast)))
      .hostile("one infinity", sum_of(one(-kInfinity, kThird)))
      .hostile("both infinities", sum_of(each(LAUNCHER(both_infinities))))
      .hostile("misaligned", sum_of(normal(), 1))
      .traffic([](const auto& p) { return days::reads(p.x, p.n) + days::writes(p.sum, 1); });
}

const auto sum =
    sums(days::ladder<Sum>("sum")
             .extents({"n"})
             .types<float, days::half, days::bf16, int32_t>()
             .variant("pairs", LAUNCHER(sum_pairs))
             .workspace(LAUNCHER(pairs_workspace))
             .variant("halves", LAUNCHER(sum_halves))
             .workspace(LAUNCHER(pairs_workspace))
             .variant("chains", LAUNCHER(sum_chains))
             .workspace(LAUNCHER(chains_workspace))
             .variant("vectors", LAUNCHER(sum_vectors))
             .needs(kAligned)
             .workspace(LAUNCHER(vectors_workspace))
             .variant("one_launch", LAUNCHER(sum_one_launch))
             .needs(kAligned)
             .workspace(LAUNCHER(sums_workspace))
             .setup([](const auto& p, cudaStream_t stream) { return ready(p, stream); })
             .exercise(LAUNCHER(exercise), "a sum in two launches: 16 elements a thread before the tree",
                       "halves", "chains", {.reads_per_input = 1.01, .wasted_sectors = 0.1, .launches = 2})
             .workspace(LAUNCHER(chains_workspace))
             .baseline("CUB")
             .workspace(LAUNCHER(sum_cub_workspace)))
        .tolerance("sum", OfTree{})
        .lesson("a sum is a tree: its depth is the wait and the rounding, its width is the speed.");
REGISTER_LADDER(sum);

const auto exact_sum = sums(days::ladder<Sum>("exact_sum")
                                .extents({"n"})
                                .types<float, days::half, days::bf16>()
                                .variant("two_sum", LAUNCHER(sum_two_sum))
                                .needs(kAligned)
                                .workspace(LAUNCHER(pairs_of_floats_workspace))
                                .setup([](const auto& p, cudaStream_t stream) { return ready(p, stream); }))
                           .tolerance("sum", OfTwoSum{})
                           .lesson("where memory sets the pace, the last digit is free.");
REGISTER_LADDER(exact_sum);

// ---- argmax ----

template <class Values>
auto largest_of(Values values, int from = 0) {
  return [=](auto& p, days::Shape s, days::Inputs& in) {
    p.n = s[0];
    p.x = values(p, s[0], in) + static_cast<size_t>(from);
    p.value = in.output("value", 1);
    p.index = in.output("index", 1);
  };
}
auto by_place(double (*value)(size_t i, size_t n)) {
  return each([=](auto, size_t i, size_t n) { return value(i, n); });
}

const auto argmax =
    days::ladder<Argmax>("argmax")
        .extents({"n"})
        .types<float, days::half, days::bf16>()
        .variant("argmax_pairs", LAUNCHER(argmax_pairs))
        .needs(kAligned)
        .workspace(LAUNCHER(argmax_pairs_workspace))
        .variant("argmax_key", LAUNCHER(argmax_key))
        .needs(kAligned, kKeyHoldsIndex)
        .workspace(LAUNCHER(argmax_key_workspace))
        .setup([](const auto& p, cudaStream_t stream) { return ready(p, stream); })
        .reference(LAUNCHER(argmax_reference))
        .parallel(LAUNCHER(argmax_parallel))
        .shapes({{1}, {2}, {7}, {31}, {33}, {257}, {2047}, {4097}, {16501}})
        .gpu_shapes({{1000003}, {2500003}})
        .bench({{1 << 24}, {1 << 28}, {1 << 30}})
        .show({{1 << 18}})
        .inputs(largest_of(normal()))
        .hostile("all equal", largest_of(equal(-3)))
        .hostile("all -infinity", largest_of(equal(-kInfinity)))
        .hostile("zeros of both signs", largest_of(by_place([](size_t i, size_t) {
                   return i % 3 == 0 ? -0.0 : i % 3 == 1 ? 0.0 : -1.0;
                 })))
        .hostile("NaN at the start", largest_of(one(std::nan(""), kFirst)))
        .hostile("NaN at the end", largest_of(one(std::nan(""), kLast)))
        .hostile("two NaNs and an infinity", largest_of(by_place([](size_t i, size_t n) {
                   return i == n / 2 || i == n / 3 ? std::nan("") : i == n / 4 ? kInfinity : -1.0;
                 })))
        .hostile("the largest in each warp's last lane",
                 largest_of(by_place([](size_t i, size_t) { return i % 32 == 31 ? 5.0 : -2.0; })))
        .hostile(
            "the largest at the end",
            largest_of(by_place([](size_t i, size_t n) { return i == n - 1 ? -1.0 : -1.0 - i % 7 - 1; })))
        .hostile("falling",
                 largest_of(by_place([](size_t i, size_t) { return -static_cast<double>(i / 5); })))
        .hostile("misaligned", largest_of(normal(), 1))
        .traffic([](const auto& p) {
          return days::reads(p.x, p.n) + days::writes(p.value, 1) + days::writes(p.index, 1);
        })
        .tolerance(days::exact)
        .lesson("with a rule for equals, or a key that has it inside, any order gives the same.");
REGISTER_LADDER(argmax);

}  // namespace
}  // namespace day56
