// SPDX-License-Identifier: MIT
//
// The CPU's versions: a pass along the rows, a pass along the columns. The reference has a border of its own,
// walked step by step, and adds in double.
#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "common/parallel.h"
#include "day04_image_blur/blur.h"

namespace day04 {
namespace {

int stand_in(int i, int n, Border border) {
  while (i < 0 || i >= n) {
    if (border == Border::kClamp) return i < 0 ? 0 : n - 1;
    if (border == Border::kZero) return -1;
    if (border == Border::kMirror) i = i < 0 ? -1 - i : 2 * n - 1 - i;
    if (border == Border::kWrap) i = i < 0 ? i + n : i - n;
  }
  return i;
}

// `n` numbers that stand `step` apart, with `radius` more on either side.
template <class N>
void read_line(std::vector<double>& line, const N* from, int64_t step, int n, int radius, Border border) {
  line.resize(static_cast<size_t>(n) + 2 * static_cast<size_t>(radius));
  for (int i = -radius; i < n + radius; ++i) {
    const int at = stand_in(i, n, border);
    line[static_cast<size_t>(i + radius)] = at < 0 ? 0.0 : static_cast<double>(from[at * step]);
  }
}

double weighted_sum(const double* line, const float* weights, int radius) {
  double sum = 0;
  for (int k = 0; k <= 2 * radius; ++k) sum += line[k] * static_cast<double>(weights[k]);
  return sum;
}

// What becomes of a weighted sum, as blur.h says it, in double.
template <class T>
double between(double sum) {
  return std::is_same_v<T, uint8_t> ? std::floor(sum / 256 + 0.5) : sum / kUnit;
}
template <class T>
T result(double sum) {
  return static_cast<T>(std::is_same_v<T, uint8_t> ? std::floor(sum / 65536 + 0.5) : sum / kUnit);
}

// Calls lines(from, to) for all `n` lines, or for parts of them on all cores.
struct InTurn {
  template <class Lines>
  void operator()(int n, const Lines& lines) const {
    lines(0, n);
  }
};
struct OnAllCores {
  template <class Lines>
  void operator()(int n, const Lines& lines) const {
    days::parallel_ranges(
        static_cast<size_t>(n),
        [&](size_t, size_t begin, size_t end) { lines(static_cast<int>(begin), static_cast<int>(end)); }, 16);
  }
};

template <class T, class Between, class Result, class Each>
void two_passes(const Blur<T>& p, const float* weights, const Between& after_rows,
                const Result& after_columns, const Each& each) {
  std::vector<double> passed(static_cast<size_t>(p.plane()));
  for (int64_t plane = 0; plane < p.planes; ++plane) {
    each(p.height, [&](int from, int to) {
      std::vector<double> line;
      for (int y = from; y < to; ++y) {
        const int64_t row = int64_t{y} * p.width;
        read_line(line, p.image + plane * p.plane() + row, 1, p.width, p.radius, p.border);
        for (int x = 0; x < p.width; ++x)
          passed[static_cast<size_t>(row + x)] = after_rows(weighted_sum(line.data() + x, weights, p.radius));
      }
    });
    each(p.width, [&](int from, int to) {
      std::vector<double> line;
      for (int x = from; x < to; ++x) {
        read_line(line, passed.data() + x, p.width, p.height, p.radius, p.border);
        for (int y = 0; y < p.height; ++y) {
          p.blurred[plane * p.plane() + int64_t{y} * p.width + x] =
              after_columns(weighted_sum(line.data() + y, weights, p.radius));
        }
      }
    });
  }
}

template <class Each>
void box(const Blur<uint8_t>& p, const Each& each) {
  const double area = (2.0 * p.radius + 1) * (2.0 * p.radius + 1);
  two_passes(
      p, std::vector<float>(2 * static_cast<size_t>(p.radius) + 1, 1.0f).data(),
      [](double sum) { return sum; },
      [=](double sum) { return static_cast<uint8_t>(std::floor((sum + std::floor(area / 2)) / area)); },
      each);
}

// As good as a page of C++ does it: rows are shared out to all cores, and the inner loops run along rows in
// both passes, so that the compiler vectorises them. `keep` and `finish` round; sums are float and exact.
template <class T, class Keep, class Finish>
void parallel_passes(const Blur<T>& p, const float* weights, const Keep& keep, const Finish& finish) {
  const int taps = 2 * p.radius + 1;
  std::vector<float> passed(static_cast<size_t>(p.pixels()));
  const size_t grain = std::max<size_t>(1, (size_t{1} << 16) / static_cast<size_t>(p.width));
  const size_t rows = static_cast<size_t>(p.planes) * static_cast<size_t>(p.height);
  days::parallel_ranges(
      rows,
      [&](size_t, size_t begin, size_t end) {
        std::vector<float> line(static_cast<size_t>(p.width + 2 * p.radius)),
            sum(static_cast<size_t>(p.width));
        for (size_t row = begin; row < end; ++row) {
          const T* from = p.image + row * static_cast<size_t>(p.width);
          for (int x = -p.radius; x < p.width + p.radius; ++x) {
            const int at = stand_in(x, p.width, p.border);
            line[static_cast<size_t>(x + p.radius)] = at < 0 ? 0.0f : static_cast<float>(from[at]);
          }
          std::fill(sum.begin(), sum.end(), 0.0f);
          for (int k = 0; k < taps; ++k) {
            for (int x = 0; x < p.width; ++x)
              sum[static_cast<size_t>(x)] += weights[k] * line[static_cast<size_t>(x + k)];
          }
          for (int x = 0; x < p.width; ++x)
            passed[row * static_cast<size_t>(p.width) + static_cast<size_t>(x)] =
                keep(sum[static_cast<size_t>(x)]);
        }
      },
      grain);
  days::parallel_ranges(
      rows,
      [&](size_t, size_t begin, size_t end) {
        std::vector<float> sum(static_cast<size_t>(p.width));
        for (size_t row = begin; row < end; ++row) {
          const int y = static_cast<int>(row % static_cast<size_t>(p.height));
          const size_t plane = row - static_cast<size_t>(y);
          std::fill(sum.begin(), sum.end(), 0.0f);
          for (int k = 0; k < taps; ++k) {
            const int at = stand_in(y - p.radius + k, p.height, p.border);
            if (at < 0) continue;
            const float* from =
                passed.data() + (plane + static_cast<size_t>(at)) * static_cast<size_t>(p.width);
            for (int x = 0; x < p.width; ++x) sum[static_cast<size_t>(x)] += weights[k] * from[x];
          }
          T* to = p.blurred + row * static_cast<size_t>(p.width);
          for (int x = 0; x < p.width; ++x) to[x] = finish(sum[static_cast<size_t>(x)]);
        }
      },
      grain);
}

std::vector<float> ones(int radius) {
  return std::vector<float>(2 * static_cast<size_t>(radius) + 1, 1.0f);
}

}  // namespace

void box_reference(const Blur<uint8_t>& p) {
  box(p, InTurn{});
}
void box_by_lines(const Blur<uint8_t>& p) {
  box(p, OnAllCores{});
}

void box_parallel(const Blur<uint8_t>& p) {
  const unsigned side = 2 * static_cast<unsigned>(p.radius) + 1;
  // A sum of all pixels of a window is exact in float up to 2^24: radius 127. Beyond, in double.
  if (p.radius > 127) return box_reference(p);
  parallel_passes(
      p, ones(p.radius).data(), [](float sum) { return sum; },
      [=](float sum) { return mean(static_cast<unsigned>(sum), side * side); });
}

template <class T>
void gauss_reference(const Blur<T>& p) {
  two_passes(p, p.weights, between<T>, result<T>, InTurn{});
}
template <class T>
void gauss_by_lines(const Blur<T>& p) {
  two_passes(p, p.weights, between<T>, result<T>, OnAllCores{});
}

template <class T>
void gauss_parallel(const Blur<T>& p) {
  parallel_passes(
      p, p.weights, [](float sum) { return static_cast<float>(Fixed<T>::between(sum)); },
      [](float sum) { return Fixed<T>::result(sum); });
}

INSTANTIATE_REFERENCE(gauss_reference, Blur, uint8_t, float);
INSTANTIATE_REFERENCE(gauss_by_lines, Blur, uint8_t, float);
INSTANTIATE_REFERENCE(gauss_parallel, Blur, uint8_t, float);

}  // namespace day04
