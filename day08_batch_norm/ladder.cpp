// SPDX-License-Identifier: MIT
// The day's three ladders: forward in two layouts, and backward. Host code
// only.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <type_traits>

#include "common/ladder.h"
#include "common/random.h"
#include "common/scalar.h"
#include "day08_batch_norm/batch_norm.h"

namespace day08 {
namespace {

template <class P>
using ElementOf = std::remove_cvref_t<decltype(*std::declval<P>().x)>;

enum class Layout { kPlanes, kLast };

// Where element i of x belongs: which channel, and which of its numbers.
struct Place {
  size_t channel, number;
};
template <class P>
Place place_of(const P& p, Layout layout, size_t i) {
  const size_t channels = static_cast<size_t>(p.channels), space = static_cast<size_t>(p.space);
  if (layout == Layout::kLast) return {i % channels, i / channels};
  return {i / space % channels, i / space / channels * space + i % space};
}

// Where each of the arrays begins, in elements past an aligned address.
struct Offsets {
  int x = 0, y = 0;
};

template <class P>
void extents_of(P& p, days::Shape s) {
  p.batch = s[0];
  p.channels = s[1];
  p.space = s[2];
}
template <class P>
void parameters_of(P& p, days::Shape s, days::Inputs& in) {
  p.eps = static_cast<float>(days::scalar("eps", 1e-5));
  p.momentum = static_cast<float>(days::scalar("momentum", 0.1));
  p.gamma = in.normal("gamma", s[1]);
  p.beta = in.normal("beta", s[1]);
  p.mean = in.output("mean", s[1]);
  p.rstd = in.output("rstd", s[1]);
}
template <class P>
void running_of(P& p, days::Shape s, days::Inputs& in) {
  p.running_mean = in.normal("running_mean", s[1]).as(s[1]);
  p.running_var = in.uniform("running_var", s[1], 0.5, 2).as(s[1]);
}
auto output_of(Layout layout, days::Shape s, days::Inputs& in) {
  return layout == Layout::kLast ? in.output("y", s[0], s[2], s[1]) : in.output("y", s[0], s[1], s[2]);
}

// x holds values(p, count, inputs).
template <class Values>
auto problem(Layout layout, Values values, Offsets past = {}) {
  return [=](auto& p, days::Shape s, days::Inputs& in) {
    extents_of(p, s);
    parameters_of(p, s, in);
    running_of(p, s, in);
    p.x = values(p, s[0] * s[1] * s[2], in) + past.x;
    p.y = output_of(layout, s, in) + past.y;
  };
}

auto random_values() {
  return [](const auto&, days::Extent n, days::Inputs& in) { return in.normal("x", n, 2); };
}
auto equal(double value) {
  return [=](const auto& p, days::Extent n, days::Inputs& in) {
    return in.constant("x", n,
                       std::is_same_v<ElementOf<decltype(p)>, days::half> ? std::min(value, 60000.0) : value);
  };
}
// A mean that is many standard deviations from 0, as many as the type can tell
// apart: where the mean of the squares minus the square of the mean is lost.
// (Day 12's: 9,984 is 39 * 2^8, so that sums of many numbers like it round as
// often up as down.)
auto far_from_zero() {
  return [](const auto& p, days::Extent n, days::Inputs& in) {
    using T = ElementOf<decltype(p)>;
    const double mean = std::is_same_v<T, float> ? 9984 : std::is_same_v<T, days::half> ? 1000 : 200;
    const double deviation = std::is_same_v<T, days::bf16> ? 30 : 1;
    return in.fill("x", n,
                   [=](size_t i) { return mean + deviation * static_cast<double>(days::normal(12, i)); });
  };
}
auto near_largest_half() {
  return [](const auto&, days::Extent n, days::Inputs& in) { return in.uniform("x", n, 50000, 60000); };
}

// Channel c of eight kinds in turn.
double special_value(Place at) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double number = static_cast<double>(at.number * 37 % 101) / 25 - 2;
  switch (at.channel % 8) {
    case 0:
      return at.number == 1 ? std::nan("") : number;  // NaN, all of the channel
    case 1:
      return number;
    case 2:
      return at.number == 0 ? kInfinity : number;  // NaN, all of the channel
    case 3:
      return 0;  // no variance: beta
    case 4:
      return at.number == 0 ? -kInfinity : at.number == 1 ? kInfinity : number;  // NaN
    case 5:
      return at.number == 0 ? 1000 : 0;  // its first number tells nothing of the others
    case 6:
      return at.number % 2 == 0 ? 1 : -1;
    default:
      return (at.number % 2 == 0 ? 1 : -1) * std::ldexp(1.0, -140);  // denormals, whose squares are 0
  }
}
auto special_channels(Layout layout) {
  return [layout](const auto& p, days::Extent n, days::Inputs& in) {
    return in.fill("x", n, [=](size_t i) { return special_value(place_of(p, layout, i)); });
  };
}

// The running numbers before are NaN, and weigh nothing.
auto running_nan(Layout layout) {
  return [=](auto& p, days::Shape s, days::Inputs& in) {
    extents_of(p, s);
    parameters_of(p, s, in);
    p.momentum = 1;
    p.running_mean = in.constant("running_mean", s[1], std::nan("")).as(s[1]);
    p.running_var = in.constant("running_var", s[1], std::nan("")).as(s[1]);
    p.x = in.normal("x", s[0] * s[1] * s[2]);
    p.y = output_of(layout, s, in);
  };
}
// They are kept, whatever the new ones are.
auto momentum_zero(Layout layout) {
  return [=](auto& p, days::Shape s, days::Inputs& in) {
    problem(layout, special_channels(layout))(p, s, in);
    p.momentum = 0;
  };
}
auto in_place(Layout layout) {
  return [=](auto& p, days::Shape s, days::Inputs& in) {
    extents_of(p, s);
    parameters_of(p, s, in);
    running_of(p, s, in);
    const days::Extent n = s[0] * s[1] * s[2];
    p.y = layout == Layout::kLast ? in.normal("y", n).as(s[0], s[2], s[1])
                                  : in.normal("y", n).as(s[0], s[1], s[2]);
    p.x = p.y;
  };
}

// The numbers before are random ones of a size of 1; what is new weighs at
// most 1.
template <class P>
double error_of_running_mean(const P& p) {
  return error_of_mean(p) + 8;
}
// A variance's relative error is twice the root's.
template <class P>
double error_of_running_var(const P& p) {
  return 2 * error_of_rstd(p) + 8;
}

// What both layouts have in common.
template <class L>
auto forward(const L& ladder, Layout layout) {
  const bool tiles = layout == Layout::kLast;
  return ladder
      // A pair of numbers; more threads than numbers; vectors of both widths
      // and none, across a channel's planes and the tiles of 32 and 64
      // channels; one channel for all blocks; many channels for each.
      .shapes({{2, 1, 1},
               {1, 3, 7},
               {3, 5, 1},
               {2, 9, 49},
               {4, 9, 196},
               {1, 1, 10007},
               {3, tiles ? 33 : 9, 9},
               {16, 8, 64},
               {2, tiles ? 72 : 10, 4}})
      .gpu_shapes({{32, 256, 3136}, {3, 1000, 1}})
      .bench({{16, 256, 3136}, {32, 256, 3136}, {256, 64, 12544}})
      .show({{8, 32, 784}})
      .inputs(problem(layout, random_values()))
      .hostile("a mean far from 0", problem(layout, far_from_zero()))
      .hostile("all 1e7", problem(layout, equal(1e7)))
      .hostile("all 1e10", problem(layout, equal(1e10)))
      .hostile("from 50000 to 60000", problem(layout, near_largest_half()))
      .hostile("special channels", problem(layout, special_channels(layout)))
      .hostile("running numbers NaN, momentum 1", running_nan(layout))
      .hostile("special channels, momentum 0", momentum_zero(layout))
      .hostile("misaligned x", problem(layout, random_values(), {.x = 1}))
      .hostile("misaligned y", problem(layout, random_values(), {.y = 3}))
      .hostile("in place", in_place(layout))
      .traffic([](const auto& p) {
        const double elements = 1.0 * p.batch * p.channels * p.space;
        return days::reads(p.x, elements) + days::reads(p.gamma, 4.0 * p.channels) +
               days::writes(p.y, elements) + days::writes(p.mean, 4.0 * p.channels);
      })
      .tolerance(days::within(LAUNCHER(error_of_y)))
      .tolerance("mean", days::in_type<float>(days::within(LAUNCHER(error_of_mean))))
      .tolerance("rstd", days::in_type<float>(days::within_relative(LAUNCHER(error_of_rstd))))
      .tolerance("running_mean", days::in_type<float>(days::within(LAUNCHER(error_of_running_mean))))
      .tolerance("running_var", days::in_type<float>(days::within_relative(LAUNCHER(error_of_running_var))))
      .lesson(
          "all of a channel is summed before any of it is written: keep "
          "your share on the chip, and let the "
          "grid meet.");
}

const auto batch_norm =
    forward(days::ladder<BatchNorm>("batch_norm")
                .extents({"batch", "channels", "space"})
                .types<float, days::half, days::bf16>()
                .variant("channel", LAUNCHER(batch_norm_channel))
                .variant("pieces", LAUNCHER(batch_norm_pieces))
                .workspace(LAUNCHER(pieces_workspace))
                .variant("together", LAUNCHER(batch_norm_together))
                .workspace(LAUNCHER(together_workspace))
                .exercise(LAUNCHER(exercise), "batch norm in two reads, by 16 blocks a channel", "channel",
                          "pieces", {.reads_per_input = 2.2, .wasted_sectors = 0.1, .blocks = 256})
                .workspace(LAUNCHER(pieces_workspace))
                .reference(LAUNCHER(batch_norm_reference))
                .parallel(LAUNCHER(batch_norm_parallel)),
            Layout::kPlanes);
REGISTER_LADDER(batch_norm);

const auto batch_norm_last = forward(days::ladder<BatchNorm>("batch_norm_last")
                                         .extents({"batch", "channels", "space"})
                                         .types<float, days::half, days::bf16>()
                                         .variant("last_columns", LAUNCHER(batch_norm_last_columns))
                                         .workspace(LAUNCHER(last_columns_workspace))
                                         .variant("last_together", LAUNCHER(batch_norm_last_together))
                                         .workspace(LAUNCHER(last_together_workspace))
                                         .reference(LAUNCHER(batch_norm_last_reference))
                                         .parallel(LAUNCHER(batch_norm_last_parallel)),
                                     Layout::kLast);
REGISTER_LADDER(batch_norm_last);

// ---- backward

// x, dy, gamma and what forward has kept; dy holds values(p, count, inputs).
// Mean and rstd are those of no channel, but the gradients are right for any.
template <class Values>
auto gradients(Values values, int x = 0, int dy = 0, int dx = 0) {
  return [=](auto& p, days::Shape s, days::Inputs& in) {
    extents_of(p, s);
    const days::Extent n = s[0] * s[1] * s[2];
    p.x = in.normal("x", n) + x;
    p.dy = values(p, n, in) + dy;
    p.gamma = in.normal("gamma", s[1]);
    p.mean = in.normal("mean", s[1], 0.1);
    p.rstd = in.uniform("rstd", s[1], 0.5, 2);
    p.dx = in.output("dx", s[0], s[1], s[2]) + dx;
    p.dgamma = in.output("dgamma", s[1]);
    p.dbeta = in.output("dbeta", s[1]);
  };
}
auto random_gradients() {
  return [](const auto&, days::Extent n, days::Inputs& in) { return in.normal("dy", n); };
}

const auto batch_norm_backward =
    days::ladder<BatchNormBackward>("batch_norm_backward")
        .extents({"batch", "channels", "space"})
        .types<float, days::half, days::bf16>()
        .variant("grad_pieces", LAUNCHER(batch_norm_grad_pieces))
        .workspace(LAUNCHER(grad_pieces_workspace))
        .variant("grad_together", LAUNCHER(batch_norm_grad_together))
        .workspace(LAUNCHER(grad_together_workspace))
        .reference(LAUNCHER(batch_norm_backward_reference))
        .parallel(LAUNCHER(batch_norm_backward_parallel))
        .shapes({{1, 1, 1},
                 {1, 3, 7},
                 {3, 5, 1},
                 {2, 9, 49},
                 {4, 9, 196},
                 {1, 1, 10007},
                 {3, 9, 9},
                 {16, 8, 64},
                 {2, 10, 4}})
        .gpu_shapes({{32, 256, 3136}, {3, 1000, 1}})
        .bench({{16, 256, 3136}, {32, 256, 3136}, {256, 64, 12544}})
        .show({{8, 32, 784}})
        .inputs(gradients(random_gradients()))
        .hostile("dy up to 1e4 either way", gradients([](const auto&, days::Extent n, days::Inputs& in) {
                   return in.uniform("dy", n, -1e4, 1e4);
                 }))
        .hostile("dy all equal", gradients([](const auto&, days::Extent n, days::Inputs& in) {
                   return in.constant("dy", n, 3);
                 }))
        .hostile("some of dy not finite", gradients([](const auto& p, days::Extent n, days::Inputs& in) {
                   return in.fill("dy", n, [=](size_t i) {
                     const Place at = place_of(p, Layout::kPlanes, i);
                     if (at.number == 0 && at.channel % 4 == 1) return std::nan("");
                     if (at.number == 1 && at.channel % 4 == 2)
                       return -std::numeric_limits<double>::infinity();
                     return static_cast<double>(i % 13) - 6;
                   });
                 }))
        .hostile("misaligned x", gradients(random_gradients(), 1, 0, 0))
        .hostile("misaligned dy", gradients(random_gradients(), 0, 3, 0))
        .hostile("misaligned dx", gradients(random_gradients(), 0, 0, 5))
        .traffic([](const auto& p) {
          const double elements = 1.0 * p.batch * p.channels * p.space;
          return days::reads(p.x, elements) + days::reads(p.dy, elements) +
                 days::reads(p.gamma, 3.0 * p.channels) + days::writes(p.dx, elements) +
                 days::writes(p.dgamma, 2.0 * p.channels);
        })
        .tolerance(days::within(LAUNCHER(error_of_dx)))
        .tolerance("dgamma", days::in_type<float>(days::within(LAUNCHER(error_of_dgamma))))
        .tolerance("dbeta", days::in_type<float>(days::within(LAUNCHER(error_of_dbeta))))
        .lesson(
            "two sums before any dx: the same meeting, with twice as much "
            "to keep.");
REGISTER_LADDER(batch_norm_backward);

}  // namespace
}  // namespace day08
