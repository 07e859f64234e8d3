// SPDX-License-Identifier: MIT
//
// The CPU's versions: plain loops from the definition, and the same on all cores.
#include <algorithm>
#include <cmath>
#include <type_traits>

#include "common/parallel.h"
#include "day58_matrix_rotation/rotation.h"
#include "day58_matrix_rotation/turn.h"

namespace day58 {
namespace {

// Loops over where pixels come from, where the kernels' function says where they go.
template <class T>
void rotate_rows(const Rotate<T>& p, int begin, int end) {
  const int out_width = p.out_width();
  for (int row = begin; row < end; ++row) {
    for (int col = 0; col < out_width; ++col) {
      const int64_t from_row = p.quarters == 1   ? col
                               : p.quarters == 2 ? p.height - 1 - row
                                                 : p.height - 1 - col;
      const int64_t from_col = p.quarters == 1   ? p.width - 1 - row
                               : p.quarters == 2 ? p.width - 1 - col
                                                 : row;
      p.out[int64_t{row} * out_width + col] = p.in[from_row * p.width + from_col];
    }
  }
}

// Four pixels change places, for each pixel of rows [begin, end) of the rectangle that owns them.
template <class T>
void turn_rings(const InPlace<T>& p, int begin, int end) {
  const int last = p.width - 1;
  for (int row = begin; row < end; ++row) {
    for (int col = 0; col < (p.width + 1) / 2; ++col) {
      const auto at = [&](int r, int c) -> T& { return p.image[int64_t{r} * p.width + c]; };
      T &top = at(row, col), &left = at(last - col, row), &bottom = at(last - row, last - col),
        &right = at(col, last - row);
      const T was_top = top;
      if (p.quarters == 1) {
        top = right, right = bottom, bottom = left, left = was_top;
      } else {
        top = left, left = bottom, bottom = right, right = was_top;
      }
    }
  }
}

// What a picture holds at any place, in double; outside it is what the border says.
template <class T>
double pixel(const Turn<T>& p, int64_t row, int64_t col, int channel) {
  if (p.border == Border::kClamp) {
    row = std::clamp<int64_t>(row, 0, p.height - 1);
    col = std::clamp<int64_t>(col, 0, p.width - 1);
  } else if (row < 0 || row >= p.height || col < 0 || col >= p.width) {
    return 0;
  }
  return static_cast<double>(p.in[(row * p.width + col) * kChannels<T> + channel]);
}

template <class T>
void turn_rows(const Turn<T>& p, int begin, int end) {
  const double middle_x = (p.width - 1) / 2.0, middle_y = (p.height - 1) / 2.0;
  const double cosine = static_cast<double>(p.cosine), sine = static_cast<double>(p.sine);
  for (int y = begin; y < end; ++y) {
    for (int x = 0; x < p.width; ++x) {
      const double u = x - middle_x, v = y - middle_y;
      const double at_x = cosine * u - sine * v + middle_x, at_y = sine * u + cosine * v + middle_y;
      const double left = std::floor(at_x), top = std::floor(at_y), right_share = at_x - left,
                   lower = at_y - top;
      const int64_t row = static_cast<int64_t>(top), col = static_cast<int64_t>(left);
      for (int channel = 0; channel < kChannels<T>; ++channel) {
        const double value = (1 - lower) * ((1 - right_share) * pixel(p, row, col, channel) +
                                            right_share * pixel(p, row, col + 1, channel)) +
                             lower * ((1 - right_share) * pixel(p, row + 1, col, channel) +
                                      right_share * pixel(p, row + 1, col + 1, channel));
        p.out[(int64_t{y} * p.width + x) * kChannels<T> + channel] =
            static_cast<T>(std::is_integral_v<T> ? std::floor(value + 0.5) : value);
      }
    }
  }
}

// work(begin, end) over rows, some 64 Ki pixels a thread at the least.
template <class Work>
void on_all_cores(int rows, int64_t pixels_a_row, const Work& work) {
  days::parallel_ranges(
      static_cast<size_t>(rows),
      [&](size_t, size_t begin, size_t end) { work(static_cast<int>(begin), static_cast<int>(end)); },
      static_cast<size_t>(std::max<int64_t>(1, 65536 / pixels_a_row)));
}

}  // namespace

template <class T>
void rotate_reference(const Rotate<T>& p) {
  rotate_rows(p, 0, p.out_height());
}
template <class T>
void rotate_parallel(const Rotate<T>& p) {
  on_all_cores(p.out_height(), p.out_width(), [&](int begin, int end) { rotate_rows(p, begin, end); });
}

template <class T>
void in_place_reference(const InPlace<T>& p) {
  require_square(p, "reference");
  turn_rings(p, 0, p.height / 2);
}
template <class T>
void in_place_parallel(const InPlace<T>& p) {
  require_square(p, "parallel");
  if (p.height < 2) return;
  on_all_cores(p.height / 2, p.width, [&](int begin, int end) { turn_rings(p, begin, end); });
}

template <class T>
void turn_reference(const Turn<T>& p) {
  turn_rows(p, 0, p.height);
}
template <class T>
void turn_parallel(const Turn<T>& p) {
  on_all_cores(p.height, p.width, [&](int begin, int end) { turn_rows(p, begin, end); });
}

INSTANTIATE_REFERENCE(rotate_reference, Rotate, uint32_t, uint8_t);
INSTANTIATE_REFERENCE(rotate_parallel, Rotate, uint32_t, uint8_t);
INSTANTIATE_REFERENCE(in_place_reference, InPlace, uint32_t, uint8_t);
INSTANTIATE_REFERENCE(in_place_parallel, InPlace, uint32_t, uint8_t);
INSTANTIATE_REFERENCE(turn_reference, Turn, uint8_t, float);
INSTANTIATE_REFERENCE(turn_parallel, Turn, uint8_t, float);

}  // namespace day58
