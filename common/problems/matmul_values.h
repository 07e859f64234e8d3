// SPDX-License-Identifier: MIT
//
// Elements of a matrix product's operands that show what random ones hide, each a function of the element's index: for every
// day that multiplies matrices, however its problem is laid out.
#pragma once

#include <cstddef>
#include <limits>

namespace days {

struct MatmulValues {
  double (*a)(size_t i);
  double (*b)(size_t i);
};

// Small enough that every product and sum is exact.
inline constexpr MatmulValues kWholeNumbers{[](size_t i) { return static_cast<double>(i * 7 % 17) - 8; },
                                            [](size_t i) { return static_cast<double>(i * 5 % 13) - 6; }};
inline constexpr MatmulValues kAllEqual{[](size_t) { return 0.5; }, [](size_t) { return 3.0; }};
// A NaN in the first row of a, an infinity in the second column of b: no element of c but theirs may change.
inline constexpr MatmulValues kNotFinite{
    [](size_t i) { return i == 0 ? std::numeric_limits<double>::quiet_NaN() : 1.0 + i % 5; },
    [](size_t i) { return i == 1 ? std::numeric_limits<double>::infinity() : 2.0 - i % 3; }};

}  // namespace days
