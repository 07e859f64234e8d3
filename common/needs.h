// SPDX-License-Identifier: MIT
//
// What one launcher needs of its problem beyond what every launcher of the day does. It stands once, in the
// day's header beside the launcher:
//
//   inline constexpr auto kRowsOfNaive = days::at_most("rows", 65535 * 8, [](const auto& p) { return p.rows; });
//   inline constexpr auto kAligned =
//       days::needs("16-byte aligned x, y", [](const auto& p) { return days::aligned16(p.x, p.y); });
//
// Two name it: the ladder's row, .needs(kRowsOfNaive, kAligned), so that tables say it and tests know which
// shapes to expect refused; and the launcher, whose error has the same words:
//
//   days::require_needs(p, "naive", kRowsOfNaive, kAligned);    // "naive: needs rows <= 524280; rows is 524281"
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/check.h"

namespace days {
namespace detail {

// A text that is put together at compile time. One that is too long does not compile.
class FixedText {
 public:
  constexpr FixedText& operator+=(const char* words) {
    for (; *words != 0; ++words) characters_[size_++] = *words;
    return *this;
  }
  constexpr FixedText& operator+=(int64_t number) {
    if (number < 0) characters_[size_++] = '-';
    int64_t power = 1;
    while (number / power >= 10 || number / power <= -10) power *= 10;
    for (; power > 0; power /= 10) {
      const int64_t digit = number / power % 10;
      characters_[size_++] = static_cast<char>('0' + (digit < 0 ? -digit : digit));
    }
    return *this;
  }
  constexpr const char* c_str() const { return characters_; }

 private:
  char characters_[128] = {};
  size_t size_ = 0;
};

}  // namespace detail

// `text` as tables and errors say it; holds(p) whether the problem is so; value(p) the number of the problem
// that an error names, which is called `name` ("": none).
template <class Holds, class Value>
struct Needs {
  detail::FixedText text;
  Holds holds;
  const char* name;
  Value value;
};
template <class Holds, class Value>
Needs(detail::FixedText, Holds, const char*, Value) -> Needs<Holds, Value>;

// holds(const Problem<T>&) -> bool, for each type that the launcher takes.
template <class Holds>
constexpr auto needs(const char* text, Holds holds) {
  return Needs{detail::FixedText() += text, holds, "", [](const auto&) { return 0; }};
}
// The three below: value(const Problem<T>&) is the whole number of the problem that is called `name`.
template <class Value>
constexpr auto at_most(const char* name, int64_t most, Value value) {
  return Needs{((detail::FixedText() += name) += " <= ") += most,
               [=](const auto& p) { return value(p) <= most; }, name, value};
}
template <class Value>
constexpr auto at_least(const char* name, int64_t least, Value value) {
  return Needs{((detail::FixedText() += name) += " >= ") += least,
               [=](const auto& p) { return value(p) >= least; }, name, value};
}
template <class Value>
constexpr auto multiple_of(const char* name, int64_t divisor, Value value) {
  return Needs{(((detail::FixedText() += name) += " % ") += divisor) += " == 0",
               [=](const auto& p) { return value(p) % divisor == 0; }, name, value};
}

// Throws std::invalid_argument for the first of the needs that the problem does not meet.
template <class Problem, class... Holds, class... Value>
void require_needs(const Problem& p, const char* variant, const Needs<Holds, Value>&... needs) {
  const auto check = [&](const auto& one) {
    if (one.name[0] == 0) {
      require(one.holds(p), variant, ": needs ", one.text);
    } else {
      require(one.holds(p), variant, ": needs ", one.text, "; ", one.name, " is", one.value(p));
    }
  };
  (check(needs), ...);
}

}  // namespace days
