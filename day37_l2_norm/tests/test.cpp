// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "common/testing.h"
#include "day37_l2_norm/l2_norm.h"

namespace day37 {
namespace {

const bool kGiven = days::skeleton_is_given(
    "l2_norm", "the divisor and the quotients, of sums that are 0", [](const days::Shape& s) {
      return days::Given{static_cast<size_t>(s[0] * s[1] + s[0]), false};
    });

std::vector<days::Variant<L2Normalize<float>>> forward() {
  return days::variants<L2Normalize<float>>("l2_norm");
}
std::vector<days::Variant<L2NormalizeBackward<float>>> backward() {
  return days::variants<L2NormalizeBackward<float>>("l2_norm_backward");
}

// The pointers are never followed: the launchers must have thrown before.
TEST(Day37Refuses, SizesAndEpsilons) {
  const auto in = reinterpret_cast<const float*>(uintptr_t{1} << 40);
  const auto out = reinterpret_cast<float*>(uintptr_t{1} << 50);
  const float nan = std::nanf("");
  std::string refused;
  for (const auto& variant : forward()) {
    for (const float eps : {0.0f, -1.0f, nan})
      EXPECT_THROW(variant.launch({in, out, out, 1, 1, eps}), std::invalid_argument) << variant.name << eps;
    for (const days::Shape& s : {days::Shape{0, 1}, {1, 0}, {1, kMaxCols + 1}})
      EXPECT_THROW(variant.launch({in, out, out, s[0], s[1], 1}), std::invalid_argument) << variant.name;
    if (variant.takes({in, out, out, 1, kMaxColsRegisters + 1, 1})) continue;
    EXPECT_THROW(variant.launch({in, out, out, 1, kMaxColsRegisters + 1, 1}), std::invalid_argument);
    refused += variant.name + " ";
  }
  EXPECT_EQ(refused, "registers exponent ");
  for (const auto& variant : backward()) {
    for (const float eps : {0.0f, -1.0f, nan})
      EXPECT_THROW(variant.launch({in, in, in, out, 1, 1, eps}), std::invalid_argument)
          << variant.name << eps;
    EXPECT_THROW(variant.launch({in, in, in, out, 1, kMaxCols + 1, 1}), std::invalid_argument);
  }
  EXPECT_THROW(l2_norm_grad_registers<float>({in, in, in, out, 1, kMaxColsBackward + 1, 1}, nullptr),
               std::invalid_argument);
}

TEST(Day37Refuses, MatricesThatOverlapInPart) {
  float values[64] = {}, apart[64] = {}, norm[4] = {};
  for (const auto& variant : forward()) {
    EXPECT_THROW(variant.launch({values, values + 15, norm, 4, 4, 1}), std::invalid_argument) << variant.name;
  }
  for (const auto& variant : backward()) {
    EXPECT_THROW(variant.launch({values, apart, norm, values + 1, 4, 4, 1}), std::invalid_argument);
    EXPECT_THROW(variant.launch({apart, values, norm, values + 15, 4, 4, 1}), std::invalid_argument);
  }
}

// The day's lesson: rows times a power of two have the same y, bit for bit, and a norm times that power. (The sums
// of three change with the size of what they add up.)
TEST(Day37Scale, APowerOfTwoChangesNothing) {
  for (const days::Shape& shape : {days::Shape{9, 33}, {5, 520}, {2, 4097}}) {
    const size_t n = static_cast<size_t>(shape[0] * shape[1]), rows = static_cast<size_t>(shape[0]);
    for (const auto& variant : forward()) {
      if (variant.name == "three") continue;
      std::vector<float> want, want_norm;
      for (const int power : {0, -60, 60}) {
        std::vector<float> x(n);
        for (size_t i = 0; i < n; ++i) x[i] = std::ldexp(days::normal(1, i), power);
        const days::DeviceBuffer<float> device(x), y(n), norm(rows);
        variant.launch({device.data(), y.data(), norm.data(), shape[0], shape[1], 1e-30f});
        std::vector<float> got = y.download(), got_norm = norm.download();
        for (float& value : got_norm) value = std::ldexp(value, -power);
        if (power == 0) want = got, want_norm = got_norm;
        EXPECT_EQ(got, want) << variant.name << " " << shape.text() << " times 2^" << power;
        EXPECT_EQ(got_norm, want_norm) << variant.name << " " << shape.text() << " times 2^" << power;
      }
    }
  }
}

// Divisors over all of fp32: each row's own relative error. Sums of y * dy are whole numbers here, so that the
// division alone rounds.
TEST(Day37Backward, AnyDivisor) {
  constexpr int kRows = 277, kCols = 40;
  std::vector<float> y(kRows * kCols), dy(y.size()), norm(kRows), dx(y.size());
  for (const float eps : {1e-45f, 1e-12f}) {
    for (int row = 0; row < kRows; ++row) {
      norm[static_cast<size_t>(row)] = std::ldexp(1.9f, row - 149);
      const int exponent = std::clamp(row - 149, -126, 100);  // so that the quotient is a number
      for (size_t i = static_cast<size_t>(row * kCols); i < static_cast<size_t>((row + 1) * kCols); ++i) {
        y[i] = static_cast<float>(i % 3) - 1;
        dy[i] = std::ldexp(static_cast<float>(i % 7) - 3, exponent);
      }
    }
    L2NormalizeBackward<float> p{y.data(), dy.data(), norm.data(), dx.data(), kRows, kCols, eps};
    l2_norm_backward_reference(p);
    const std::vector<float> want = dx;
    const days::DeviceBuffer<float> of_y(y), of_dy(dy), of_norm(norm), of_dx(dx.size());
    for (const auto& variant : backward()) {
      of_dx.poison();
      variant.launch({of_y.data(), of_dy.data(), of_norm.data(), of_dx.data(), kRows, kCols, eps});
      const std::vector<float> got = of_dx.download();
      for (size_t i = 0; i < got.size(); ++i) {
        if (std::isinf(want[i])) {
          ASSERT_EQ(got[i], want[i]) << variant.name << " row " << i / kCols << " eps " << eps;
        } else {
          ASSERT_NEAR(got[i], want[i], 4e-7f * std::fabs(want[i]) + 3e-45f)
              << variant.name << " row " << i / kCols << " eps " << eps;
        }
      }
    }
  }
}

std::vector<double> normalised(const std::vector<double>& x, size_t cols) {
  std::vector<double> y(x.size());
  for (size_t first = 0; first < x.size(); first += cols) {
    double sum = 0;
    for (size_t i = first; i < first + cols; ++i) sum += x[i] * x[i];
    for (size_t i = first; i < first + cols; ++i) y[i] = x[i] / std::sqrt(sum);
  }
  return y;
}

// What a small step of x[i] does to the sum of dy * y, over what the step is.
TEST(Day37Backward, AgreesWithFiniteDifferences) {
  constexpr size_t kRows = 3, kCols = 37;
  constexpr double kStep = 1e-5;
  std::vector<double> x;
  std::vector<float> dy, norm;
  for (size_t i = 0; i < kRows * kCols; ++i) {
    x.push_back(static_cast<double>(days::normal(1, i)));
    dy.push_back(days::normal(2, i));
  }
  for (size_t row = 0; row < kRows; ++row) {
    double sum = 0;
    for (size_t i = row * kCols; i < (row + 1) * kCols; ++i) sum += x[i] * x[i];
    norm.push_back(static_cast<float>(std::sqrt(sum)));
  }
  std::vector<double> want;
  for (size_t i = 0; i < x.size(); ++i) {
    double sides[2];
    for (const int side : {0, 1}) {
      std::vector<double> moved = x;
      moved[i] += side == 0 ? -kStep : kStep;
      const std::vector<double> y = normalised(moved, kCols);
      sides[side] = 0;
      for (size_t j = 0; j < y.size(); ++j) sides[side] += static_cast<double>(dy[j]) * y[j];
    }
    want.push_back((sides[1] - sides[0]) / (2 * kStep));
  }
  std::vector<float> y;
  for (const double value : normalised(x, kCols)) y.push_back(static_cast<float>(value));
  const days::DeviceBuffer<float> of_y(y), of_dy(dy), of_norm(norm), of_dx(y.size());
  for (const auto& variant : backward()) {
    variant.launch({of_y.data(), of_dy.data(), of_norm.data(), of_dx.data(), kRows, kCols, 1e-12f});
    const std::vector<float> got = of_dx.download();
    for (size_t i = 0; i < got.size(); ++i)
      ASSERT_NEAR(static_cast<double>(got[i]), want[i], 1e-6) << variant.name << " at " << i;
  }
}

// dx may take the place of y or of dy. (The reference's tolerance needs both afterwards, so this is no inputs of the
// ladder.)
TEST(Day37Backward, InPlace) {
  for (const days::Shape& shape : {days::Shape{9, 33}, {9, 64}, {2, 4097}}) {
    const size_t n = static_cast<size_t>(shape[0] * shape[1]);
    std::vector<float> values(n), slopes(n);
    for (size_t i = 0; i < n; ++i) values[i] = days::normal(1, i), slopes[i] = days::normal(2, i);
    const days::DeviceBuffer<float> norm(std::vector<float>(static_cast<size_t>(shape[0]), 3.0f));
    for (const auto& variant : backward()) {
      const days::DeviceBuffer<float> y(values), dy(slopes), again(slopes), dx(n);
      const auto run = [&](float* to, const float* from) {
        variant.launch({y.data(), from, norm.data(), to, shape[0], shape[1], 0.5f});
      };
      run(dx.data(), dy.data());
      const std::vector<float> want = dx.download();
      run(dy.data(), dy.data());
      EXPECT_EQ(dy.download(), want) << variant.name << " " << shape.text();
      run(y.data(), again.data());
      EXPECT_EQ(y.download(), want) << variant.name << " " << shape.text();
    }
  }
}

}  // namespace
}  // namespace day37
