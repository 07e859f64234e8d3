// SPDX-License-Identifier: MIT
//
// When a result counts as right: every tolerance policy of the course, and the comparison that applies them.
//
// An element is right when |got - want| <= absolute + relative * |want|, where `want` is the reference's
// result rounded to the output's type. The comparison is written !(error <= tolerance), so a NaN fails; a NaN
// or an infinity that the reference has too must be matched as such.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "common/types.h"

namespace days {

struct Bound {
  double absolute = 0;
  double relative = 0;
};

struct Mismatch {
  size_t index = 0;
  double got = 0;
  double want = 0;
};

// "y[3,32]": an element of an output. The flat index where the extents are unknown.
std::string place(const std::string& name, const std::vector<int64_t>& dims, size_t index);

// The outcome of comparing one output, or of several with any other check of a run.
struct Report {
  static constexpr size_t kShown = 5;

  std::string name;           // of the output
  std::vector<int64_t> dims;  // the output's extents, to print an index as a tuple
  size_t compared = 0;
  size_t wrong = 0;
  size_t unwritten = 0;           // elements that hold what they held before the run
  size_t in_place = 0;            // of those compared, elements of arrays that are changed in place
  size_t added = 0;               // wrong integers that are what is expected plus what filled them
  double least_ratio = INFINITY;  // of got / want, where neither is 0, over the wrong elements
  double most_ratio = -INFINITY;
  size_t doubtful = 0;             // those of them that are right all the same: perhaps by luck
  bool checked = false;            // by a rule of the ladder's: there are no single wrong elements, no error
  double worst = 0;                // the largest |got - want|; NaN once a NaN or infinity is not matched
  size_t worst_at = 0;             // its index, in the report of one output
  std::vector<Mismatch> first;     // the first five that are wrong, likewise
  std::vector<std::string> notes;  // what else is wrong: guards, inputs, errors, a check of the whole
  std::string remark;              // what the ladder says of the wrong elements
  std::vector<Report> outputs;     // that this is the sum of; empty in the report of one output

  bool ok() const { return wrong == 0 && notes.empty(); }
  // A note of what a second run with another fill found out.
  static constexpr const char* kByLuck =
      "elements that were right hold what filled them before the run: with another fill they are wrong";
  // What a ladder's .check returns where a result is wrong.
  static Report failed(const std::string& why);

  // What is wrong and where: some five elements in all, one at least of each output that has any.
  struct Shown {
    std::string place;  // "y[3,32]"
    Mismatch mismatch;
  };
  std::vector<Shown> shown() const;
  // One line a finding: "y[0,32] is nan, expected 0.01823", ..., "6 of 99 wrong, worst error 0.5 at y[0,33]".
  // Where there are several outputs, each has a last line of its own.
  std::vector<std::string> lines() const;
  std::string text() const;

  // Adds what another run found, or another check of the same output.
  void merge(const Report& other);
  // Makes this the sum of its outputs so far and one more.
  void add(const Report& output);

  // Nine digits tell all floats apart. (The C library prints a NaN's sign, which means nothing.)
  static std::string number(double value);

  // NaN is worse than any number.
  static bool worse(double a, double b) { return !std::isnan(b) && !(a <= b); }
};

inline double error_of(double got, double want) {
  if (got == want || (std::isnan(got) && std::isnan(want))) return 0;
  if (!std::isfinite(got) || !std::isfinite(want)) return std::numeric_limits<double>::quiet_NaN();
  return std::abs(got - want);
}

// Compares n elements of T, all of whose bytes were `fill` before the run. 64-bit integers are compared as such; only the error's size is then rounded to a
// double. Defined in harness/compare.h for every type of types.h, as Report is: each day's compiler is spared
// the work.
template <class T>
Report compare(const T* got, const T* want, size_t n, Bound bound, unsigned char fill = TypeInfo<T>::kPoison);

// ---- Policies. Each is called as policy(type, problem, inputs) -> Bound, once for each output that it is
// ---- for, with the ladder's element type and the problem's host pointers once the reference has run;
// ---- `inputs` answers rms<T>(), rms("x") and worst_output_error().

template <class T>
struct Type {
  using type = T;
};

// For an output whose element type is not the ladder's: .tolerance("lse", in_type<float>(relative)).
template <class U, class Policy>
auto in_type(Policy policy) {
  return [policy](auto, const auto& p, auto& inputs) -> Bound { return policy(Type<U>{}, p, inputs); };
}

// Bit for bit, except that one NaN is as good as another and -0 as good as 0.
struct Exact {
  template <class T, class Problem, class Inputs>
  Bound operator()(Type<T>, const Problem&, Inputs&) const {
    return {};
  }
};
inline constexpr Exact exact;

// For what is computed an element at a time: a few units in the last place of the result. relative(r) and
// relative(r, a) set the bounds themselves.
struct Relative {
  double relative_bound = -1, absolute_bound = -1;  // negative: the type's default

  template <class T, class Problem, class Inputs>
  Bound operator()(Type<T>, const Problem&, Inputs&) const {
    return {absolute_bound >= 0 ? absolute_bound : 4 * TypeInfo<T>::kDenormMin,
            relative_bound >= 0 ? relative_bound : 4 * TypeInfo<T>::kEpsilon};
  }
  constexpr Relative operator()(double bound) const { return {bound, absolute_bound}; }
  constexpr Relative operator()(double bound, double absolute) const { return {bound, absolute}; }
};
inline constexpr Relative relative;

// The error, in fp32 epsilons, of a sum of n terms that were added up in fp32, for whoever knows the sum and that of its
// terms' squares: four times half an epsilon for each addition, as dot_product below has it.
inline double epsilons_of_sum(double n, double sum, double squares) {
  return 2 * std::sqrt(n) * (std::abs(sum) + std::sqrt(squares));
}

// For sums of `length` products (or values) that are added up in fp32 or better and rounded to T once.
//
// Each addition rounds a partial sum by up to half an epsilon of its size. Rounding errors behave like random
// signs, so after `length` of them the error is about sqrt(length) times that (Higham and Mary, "A New
// Approach to Probabilistic Rounding Error Analysis", 2019). A partial sum is about as large as the result
// or, where terms cancel, as the root of the sum of their squares: sqrt(length) times the product of the
// inputs' root mean squares. Four such errors are allowed: some four times what a plain loop is seen to need,
// and well below what tf32 or half products cost.
template <class Length>
struct DotProduct {
  Length length;

  template <class T, class Problem, class Inputs>
  Bound operator()(Type<T>, const Problem& p, Inputs& inputs) const {
    constexpr double kSumEpsilon = TypeInfo<T>::kEpsilon < TypeInfo<float>::kEpsilon
                                       ? TypeInfo<T>::kEpsilon
                                       : TypeInfo<float>::kEpsilon / 2;
    constexpr bool kRounded = TypeInfo<T>::kEpsilon > TypeInfo<float>::kEpsilon;
    const double n = std::max(1.0, static_cast<double>(length(p)));
    const double sum_error = 4 * kSumEpsilon * std::sqrt(n);
    const double denormal = TypeInfo<T>::kDenormMin < TypeInfo<float>::kDenormMin
                                ? TypeInfo<T>::kDenormMin
                                : TypeInfo<float>::kDenormMin;
    return {sum_error * std::sqrt(n) * inputs.template rms<T>() + n * denormal +
                (kRounded ? TypeInfo<T>::kDenormMin : 0),
            sum_error + (kRounded ? TypeInfo<T>::kEpsilon : 0)};
  }
};
template <class Length>
DotProduct<Length> dot_product(Length length) {
  return {length};
}

// For e^d over a sum of `length` such exponentials. The difference d is rounded to fp32, and some kernels
// round it again when they multiply it by log2 e: e^d is off by up to 2 |d| half epsilons. `depth` is the
// largest |d| that leaves anything; it is some 10 for N(0, 1), and beyond 104 nothing is left in fp32. The
// sum has positive terms only: its error is as for dot_product.
template <class Length, class Depth>
struct Exponentials {
  Length length;
  Depth depth;

  template <class T, class Problem, class Inputs>
  Bound operator()(Type<T>, const Problem& p, Inputs&) const {
    using Fp32 = TypeInfo<float>;
    constexpr bool kRounded = TypeInfo<T>::kEpsilon > Fp32::kEpsilon;
    const double n = std::max(1.0, static_cast<double>(length(p)));
    return {2 * Fp32::kDenormMin + (kRounded ? TypeInfo<T>::kDenormMin : 0),
            Fp32::kEpsilon * (4 + 2 * depth(p) + 2 * std::sqrt(n)) + (kRounded ? TypeInfo<T>::kEpsilon : 0)};
  }
};
template <class Length, class Depth>
Exponentials<Length, Depth> exponentials(Length length, Depth depth) {
  return {length, depth};
}

// What fp32 arithmetic may be off by, error(p) epsilons of 1, and half a unit of the output's type where it rounds.
// within_relative(error): epsilons of the result.
template <class Error>
struct Within {
  Error error;
  bool relative = false;

  template <class T, class Problem, class Inputs>
  Bound operator()(Type<T>, const Problem& p, Inputs&) const {
    using Fp32 = TypeInfo<float>;
    constexpr bool kRounded = TypeInfo<T>::kEpsilon > Fp32::kEpsilon;
    const double epsilons = error(p) * Fp32::kEpsilon;
    return {(relative ? 0 : epsilons) + 4 * Fp32::kDenormMin + (kRounded ? TypeInfo<T>::kDenormMin : 0),
            (relative ? epsilons : 4 * Fp32::kEpsilon) + (kRounded ? TypeInfo<T>::kEpsilon : 0)};
  }
};
template <class Error>
Within<Error> within(Error error) {
  return {error};
}
template <class Error>
Within<Error> within_relative(Error error) {
  return {error, true};
}

// For differences of what was computed in fp32: their error is four epsilons of `size`, which is that of the
// numbers that were subtracted, and a small difference may be all error.
template <class Size>
auto differences(Size size) {
  return within([size](const auto& p) { return 4 * size(p); });
}

// At most `factor` times the error that a plain version in the same precision makes on the same inputs: the
// largest error of any element counts. `plain` is a host launcher like the reference. A plain version that
// happens to be exact leaves the result's own rounding.
template <class Launcher>
struct TimesPlain {
  Launcher plain;
  double factor;

  template <class T, class Problem, class Inputs>
  Bound operator()(Type<T>, const Problem& p, Inputs& inputs) const {
    plain(p);
    return {factor * inputs.worst_output_error() + TypeInfo<T>::kDenormMin, TypeInfo<T>::kEpsilon};
  }
};
template <class Launcher>
TimesPlain<Launcher> at_most_twice(Launcher plain) {
  return {plain, 2.0};
}

}  // namespace days
