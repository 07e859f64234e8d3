// SPDX-License-Identifier: MIT
// The day's two ladders: a scan, and many scans in one. Host code only.

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "common/ladder.h"
#include "common/scalar.h"
#include "day57_prefix_sum/prefix_sum.h"

namespace day57 {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kHalfEpsilon = days::TypeInfo<float>::kEpsilon / 2;

// How many additions an element passes at most: within its tile, and from tile to tile, where each may have waited for the one
// before.
double depth(int64_t n) {
  return 64 + static_cast<double>(n) / kTile<float>;
}

// Each addition rounds by half an epsilon of what it makes, which is the sum of some neighbours: the difference of two prefixes,
// and at most twice the largest of them.
template <class P, class New>
double largest_prefix(const P& p, New begins) {
  double sum = 0, most = 0;
  for (int64_t i = 0; i < p.n; ++i) {
    const double value = days::to_double(p.x[i]);
    sum = begins(i) ? value : sum + value;
    if (std::isfinite(sum)) most = std::max(most, std::abs(sum));
  }
  return most;
}
template <class T>
days::Bound bound(int64_t n, double largest) {
  using Of = days::TypeInfo<T>;
  return {depth(n) * kHalfEpsilon * 2 * largest + Of::kDenormMin, Of::kEpsilon};
}
struct OfScan {
  template <class T>
  days::Bound operator()(days::Type<T>, const Scan<T>& p, days::Inputs&) const {
    if constexpr (std::is_integral_v<T>) return {};
    return bound<T>(p.n, largest_prefix(p, [](int64_t) { return false; }));
  }
};
struct OfSegments {
  template <class T>
  days::Bound operator()(days::Type<T>, const SegmentedScan<T>& p, days::Inputs&) const {
    if constexpr (std::is_integral_v<T>) return {};
    return bound<T>(p.n, largest_prefix(p, [&](int64_t i) { return p.head[i] != 0; }));
  }
};

template <class P>
using Element = std::remove_cvref_t<decltype(*std::declval<P>().x)>;

// ---- values: (problem, name, n, inputs) ----

auto normal() {
  return [](const auto& p, const char* name, days::Extent n, days::Inputs& in) {
    return std::is_integral_v<Element<decltype(p)>> ? in.uniform(name, n) : in.normal(name, n);
  };
}
auto equal(double value) {
  return [=](const auto&, const char* name, days::Extent n, days::Inputs& in) {
    return in.constant(name, n, value);
  };
}
// value(i, n, the largest of the type); whole numbers take `integer` where it is not finite.
auto each(double (*value)(size_t i, size_t n, double largest)) {
  return [=](const auto& p, const char* name, days::Extent n, days::Inputs& in) {
    using T = Element<decltype(p)>;
    const size_t count = n;
    return in.fill(name, n, [=](size_t i) {
      const double x = value(i, count, days::TypeInfo<T>::kMax);
      return std::is_integral_v<T> && !std::isfinite(x) ? 7 : x;
    });
  };
}
// What cancels is large; what lies on the way of it would be lost.
double alternating(size_t i, size_t, double largest) {
  const double size = std::min(1e20, largest);
  return i % 2 == 0 ? size : -size;
}
// In the second tile where there is one.
double one_nan(size_t i, size_t n, double) {
  return i == std::min(n / 2, size_t{5000}) ? std::nan("") : static_cast<double>(i % 7) - 3;
}
double both_infinities(size_t i, size_t n, double) {
  return i == n / 3 ? kInfinity : i == n / 3 * 2 + 1 ? -kInfinity : 1;
}

template <class Values>
auto scan_of(Values values, bool exclusive = false, int from = 0, int to = 0) {
  return [=](auto& p, days::Shape s, days::Inputs& in) {
    p.n = s[0];
    p.exclusive = exclusive || days::scalar("exclusive", 0) != 0;
    p.x = values(p, "x", s[0], in) + static_cast<size_t>(from);
    p.y = in.output("y", s[0]) + static_cast<size_t>(to);
  };
}
auto in_place(bool exclusive) {
  return [=](auto& p, days::Shape s, days::Inputs& in) {
    p.n = s[0];
    p.exclusive = exclusive;
    p.y = normal()(p, "y", s[0], in);
    p.x = p.y;
  };
}

const auto scan =
    days::ladder<Scan>("scan")
        .extents({"n"})
        .types<float, days::half, days::bf16, int32_t>()
        .variant("doubling", LAUNCHER(scan_doubling))
        .workspace(LAUNCHER(doubling_workspace))
        .variant("sweeps", LAUNCHER(scan_sweeps))
        .workspace(LAUNCHER(sweeps_workspace))
        .variant("raked", LAUNCHER(scan_raked))
        .workspace(LAUNCHER(raked_workspace))
        .variant("released", LAUNCHER(scan_released))
        .workspace(LAUNCHER(released_workspace))
        .variant("one_word", LAUNCHER(scan_one_word))
        .workspace(LAUNCHER(words_workspace))
        .variant("look_ahead", LAUNCHER(scan_look_ahead))
        .runs_on(days::sm_90)
        .needs(kAligned)
        .workspace(LAUNCHER(words_workspace))
        .exercise(LAUNCHER(exercise), "a tile's scan with one barrier, in registers", "sweeps", "raked",
                  {.reads_per_input = 2.1, .wasted_sectors = 0.1, .conflicts = 0.1, .launches = 3})
        .workspace(LAUNCHER(raked_workspace))
        .baseline("CUB")
        .workspace(LAUNCHER(cub_workspace))
        .reference(LAUNCHER(scan_reference))
        .parallel(LAUNCHER(scan_parallel))
        // Around a warp, the tiles of sweeps, of 32 bits and of 16; more tiles than a warp looks back at.
        .shapes({{1}, {2}, {31}, {33}, {1023}, {1025}, {4096}, {4097}, {8191}, {16501}, {135169}})
        .gpu_shapes({{1000003}, {540679}, {17000003}})
        .bench({{1 << 20}, {1 << 24}, {1 << 28}})
        .sweep({{1 << 16},
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
        .inputs(scan_of(normal()))
        .hostile("exclusive", scan_of(normal(), true))
        .hostile("all 1", scan_of(equal(1)))
        .hostile("all 0.1", scan_of(equal(0.1)))
        .hostile("all -0", scan_of(equal(-0.0)))
        .hostile("large ones cancel", scan_of(each(alternating)))
        .hostile("one NaN", scan_of(each(one_nan)))
        .hostile("both infinities", scan_of(each(both_infinities), true))
        .hostile("misaligned x", scan_of(normal(), false, 1))
        .hostile("misaligned y", scan_of(normal(), true, 0, 3))
        .hostile("in place", in_place(false))
        .hostile("in place, exclusive", in_place(true))
        .traffic([](const auto& p) { return days::reads(p.x, p.n) + days::writes(p.y, p.n); })
        .tolerance(OfScan{})
        .lesson(
            "publish what you know with its number in one word, and wait for sums, not for others' waits.");
REGISTER_LADDER(scan);

// ---- segments ----

// heads(i) for head[i].
template <class Values>
auto segments(Values values, double (*head)(size_t), int from = 0) {
  return [=](auto& p, days::Shape s, days::Inputs& in) {
    p.n = s[0];
    p.x = values(p, "x", s[0], in) + static_cast<size_t>(from);
    p.head = in.fill("head", s[0], head) + static_cast<size_t>(from);
    p.y = in.output("y", s[0]) + static_cast<size_t>(from);
  };
}
double some(size_t i) {
  return (i * 2654435761u >> 7) % 97 == 0 ? 1 : 0;
}
double few(size_t i) {
  return i % 9973 == 4242 ? 255 : 0;
}
double none(size_t) {
  return 0;
}
double all(size_t) {
  return 1;
}
double at_tiles(size_t i) {
  return i % 4096 == 0 || i % 4096 == 4095 ? 2 : 0;
}

const auto segmented_scan =
    days::ladder<SegmentedScan>("segmented_scan")
        .extents({"n"})
        .types<float, days::half, days::bf16, int32_t>()
        .variant("segmented", LAUNCHER(scan_segmented))
        .workspace(LAUNCHER(words_workspace))
        .baseline("CUB")
        .workspace(LAUNCHER(cub_workspace))
        .reference(LAUNCHER(segmented_reference))
        .shapes({{1}, {2}, {33}, {1025}, {4097}, {8193}, {16501}, {135169}})
        .gpu_shapes({{1000003}, {17000003}})
        .bench({{1 << 24}, {1 << 28}})
        .show({{1 << 18}})
        .inputs(segments(normal(), some))
        .hostile("few heads", segments(normal(), few))
        .hostile("no head", segments(normal(), none))
        .hostile("heads everywhere", segments(normal(), all))
        .hostile("heads at borders of tiles", segments(normal(), at_tiles))
        .hostile("one NaN", segments(each(one_nan), few))
        .hostile("both infinities", segments(each(both_infinities), some))
        .hostile("misaligned", segments(normal(), some, 1))
        .traffic([](const auto& p) {
          return days::reads(p.x, p.n) + days::reads(p.head, p.n) + days::writes(p.y, p.n);
        })
        .tolerance(OfSegments{})
        .lesson("a pair can be scanned as a number can: the addition need not commute.");
REGISTER_LADDER(segmented_scan);

}  // namespace
}  // namespace day57
