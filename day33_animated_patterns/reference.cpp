// SPDX-License-Identifier: MIT
// The truth that every kernel is compared with, and the same in float on all cores: the CPU that the animation races
// against.
#include <algorithm>
#include <utility>
#include <vector>

#include "common/parallel.h"
#include "day33_animated_patterns/patterns.h"

namespace day33 {
namespace {

constexpr size_t kGrain = 16;  // rows of a thread, at least

template <class Row>
void for_rows(int height, const Row& row) {
  days::parallel_ranges(
      static_cast<size_t>(height),
      [&](size_t, size_t begin, size_t end) {
        for (size_t y = begin; y < end; ++y) row(static_cast<int>(y));
      },
      kGrain);
}

template <class Real>
void plasma_row(const Plasma<float>& p, int y) {
  const Real angle = p.angle, side = static_cast<Real>(std::max(p.width, p.height));
  const Real sine = std::sin(angle), cosine = std::cos(angle);
  const Real down = (static_cast<Real>(y) + Real(0.5) - Real(0.5) * static_cast<Real>(p.height)) / side;
  for (int x = 0; x < p.width; ++x) {
    const Real right = (static_cast<Real>(x) + Real(0.5) - Real(0.5) * static_cast<Real>(p.width)) / side;
    const Real from_x = right + Real(0.3) * sine, from_y = down + Real(0.3) * cosine;
    p.values[static_cast<size_t>(y) * static_cast<size_t>(p.width) + static_cast<size_t>(x)] =
        static_cast<float>(std::sin(12 * right + angle) + std::sin(12 * (right * sine + down * cosine)) +
                           std::sin(24 * std::sqrt(from_x * from_x + from_y * from_y) - angle));
  }
}

// In float, each rounding as the kernels have it: a border is a matter of the last digit.
void mandelbrot_row(const Mandelbrot<float>& p, int y) {
  const float c_im = std::fmaf(static_cast<float>(y), p.step, p.top);
  for (int x = 0; x < p.width; ++x) {
    const float c_re = std::fmaf(static_cast<float>(x), p.step, p.left);
    float re = 0, im = 0;
    int count = 0;
    for (; count < p.most && !(std::fmaf(re, re, im * im) > 4); ++count) {
      const float squared = im * im;
      im = std::fmaf(2 * re, im, c_im);
      re = std::fmaf(re, re, -squared) + c_re;
    }
    p.counts[static_cast<size_t>(y) * static_cast<size_t>(p.width) + static_cast<size_t>(x)] =
        static_cast<float>(count);
  }
}

template <class Real>
void waves_row(const Waves<float>& p, int y) {
  const auto at = [&](int col, int row) -> Real {
    if (col < 0 || col >= p.width || row < 0 || row >= p.height) return 0;
    return p.now[static_cast<size_t>(row) * static_cast<size_t>(p.width) + static_cast<size_t>(col)];
  };
  for (int x = 0; x < p.width; ++x) {
    float& other = p.other[static_cast<size_t>(y) * static_cast<size_t>(p.width) + static_cast<size_t>(x)];
    const Real here = at(x, y);
    const Real bend = at(x - 1, y) + at(x + 1, y) + at(x, y - 1) + at(x, y + 1) - 4 * here;
    other = static_cast<float>(2 * here - Real(other) + Real(p.speed2) * bend);
  }
}

// One row of a step, from u and v to u_to and v_to.
template <class Real>
void gray_scott_row(const GrayScott<float>& p, const Real* u, const Real* v, Real* u_to, Real* v_to, int y) {
  const auto place = [&](int col, int row) {
    const int on_x = (col + p.width) % p.width, on_y = (row + p.height) % p.height;
    return static_cast<size_t>(on_y) * static_cast<size_t>(p.width) + static_cast<size_t>(on_x);
  };
  const Real feed = p.feed, kill = p.kill, spread_u = kSpreadU, spread_v = kSpreadV;
  for (int x = 0; x < p.width; ++x) {
    const size_t here = place(x, y), left = place(x - 1, y), right = place(x + 1, y);
    const size_t above = place(x, y - 1), below = place(x, y + 1);
    const Real eaten = u[here] * v[here] * v[here];
    const Real bend_u = u[left] + u[right] + u[above] + u[below] - 4 * u[here];
    const Real bend_v = v[left] + v[right] + v[above] + v[below] - 4 * v[here];
    u_to[here] = u[here] + spread_u * bend_u - eaten + feed * (1 - u[here]);
    v_to[here] = v[here] + spread_v * bend_v + eaten - (feed + kill) * v[here];
  }
}

template <class Real, class Rows>
void gray_scott(const GrayScott<float>& p, const Rows& rows) {
  const size_t n = static_cast<size_t>(p.cells());
  std::vector<Real> u(p.u, p.u + n), v(p.v, p.v + n), u_to(n), v_to(n);
  for (int step = 0; step < p.steps; ++step) {
    rows([&](int y) { gray_scott_row<Real>(p, u.data(), v.data(), u_to.data(), v_to.data(), y); });
    u.swap(u_to);
    v.swap(v_to);
  }
  for (size_t i = 0; i < n; ++i) {
    p.u_after[i] = static_cast<float>(u[i]);
    p.v_after[i] = static_cast<float>(v[i]);
  }
}

void paint_some(const Paint<float>& p, size_t begin, size_t end) {
  const float scale = 255 / (p.high - p.low), shift = -p.low * scale;
  for (size_t i = begin; i < end; ++i) {
    const float entry = std::fmaf(p.values[i], scale, shift);
    p.pixels[i] = entry > 0 ? static_cast<uint8_t>(std::min(entry, 255.0f)) : uint8_t{0};
  }
}

}  // namespace

void plasma_reference(const Plasma<float>& p) {
  for (int y = 0; y < p.height; ++y) plasma_row<double>(p, y);
}
void plasma_by_lines(const Plasma<float>& p) {
  for_rows(p.height, [&](int y) { plasma_row<double>(p, y); });
}
void plasma_parallel(const Plasma<float>& p) {
  for_rows(p.height, [&](int y) { plasma_row<float>(p, y); });
}
void mandelbrot_reference(const Mandelbrot<float>& p) {
  for (int y = 0; y < p.height; ++y) mandelbrot_row(p, y);
}
void mandelbrot_parallel(const Mandelbrot<float>& p) {
  for_rows(p.height, [&](int y) { mandelbrot_row(p, y); });
}
void waves_reference(const Waves<float>& p) {
  for (int y = 0; y < p.height; ++y) waves_row<double>(p, y);
}
void waves_by_lines(const Waves<float>& p) {
  for_rows(p.height, [&](int y) { waves_row<double>(p, y); });
}
void waves_parallel(const Waves<float>& p) {
  for_rows(p.height, [&](int y) { waves_row<float>(p, y); });
}
void gray_scott_reference(const GrayScott<float>& p) {
  gray_scott<double>(p, [&](const auto& row) {
    for (int y = 0; y < p.height; ++y) row(y);
  });
}
void gray_scott_by_lines(const GrayScott<float>& p) {
  gray_scott<double>(p, [&](const auto& row) { for_rows(p.height, row); });
}
void gray_scott_parallel(const GrayScott<float>& p) {
  gray_scott<float>(p, [&](const auto& row) { for_rows(p.height, row); });
}
void paint_reference(const Paint<float>& p) {
  paint_some(p, 0, static_cast<size_t>(p.n));
}
void paint_parallel(const Paint<float>& p) {
  days::parallel_ranges(static_cast<size_t>(p.n),
                        [&](size_t, size_t begin, size_t end) { paint_some(p, begin, end); });
}

}  // namespace day33
