// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "common/testing.h"
#include "day14_softmax/softmax.h"

namespace day14 {

void reuses_at_once(const Softmax<float>&, cudaStream_t);  // wrong.cu

namespace {

std::vector<days::Variant<Softmax<float>>> forward() {
  return days::variants<Softmax<float>>("softmax");
}
std::vector<days::Variant<SoftmaxBackward<float>>> backward() {
  return days::variants<SoftmaxBackward<float>>("softmax_backward");
}

// The pointers are never followed: the launchers must have thrown before.
TEST(Day14Refuses, SizesThatAreNotPositiveOrTooLong) {
  const auto in = reinterpret_cast<const float*>(uintptr_t{1} << 40);
  const auto out = reinterpret_cast<float*>(uintptr_t{1} << 50);
  std::string refused;
  for (const auto& variant : forward()) {
    EXPECT_THROW(variant.launch({in, out, 1, kMaxCols + 1}), std::invalid_argument) << variant.name;
    for (const int cols : {4095, 16385, 131073}) {
      if (variant.takes({in, out, 1, cols})) continue;
      EXPECT_THROW(variant.launch({in, out, 1, cols}), std::invalid_argument) << variant.name;
      refused += variant.name + " " + std::to_string(cols) + ", ";
    }
  }
  EXPECT_EQ(refused, "registers 16385, registers 131073, cluster 4095, cluster 131073, ");
  EXPECT_THROW(softmax_cluster<float>({in, out, 2147483647, 4096}, nullptr), std::invalid_argument);
  for (const auto& variant : backward()) {
    EXPECT_THROW(variant.launch({in, in, out, 1, kMaxCols + 1}), std::invalid_argument) << variant.name;
  }
}

// A row that is written while another one is still to be read there: wrong by luck of the order.
TEST(Day14Refuses, MatricesThatOverlapInPart) {
  float values[64] = {}, apart[64] = {};
  for (const auto& variant : forward()) {
    EXPECT_THROW(variant.launch({values, values + 15, 4, 4}), std::invalid_argument) << variant.name;
    EXPECT_THROW(variant.launch({values + 1, values, 4, 4}), std::invalid_argument) << variant.name;
  }
  for (const auto& variant : backward()) {
    EXPECT_THROW(variant.launch({values, apart, values + 1, 4, 4}), std::invalid_argument) << variant.name;
    EXPECT_THROW(variant.launch({apart, values, values + 15, 4, 4}), std::invalid_argument) << variant.name;
  }
}

// Row by row in double.
std::vector<double> softmax_of(const std::vector<double>& x, size_t cols) {
  std::vector<double> y(x.size());
  for (size_t first = 0; first < x.size(); first += cols) {
    double sum = 0;
    for (size_t i = first; i < first + cols; ++i) sum += std::exp(x[i]);
    for (size_t i = first; i < first + cols; ++i) y[i] = std::exp(x[i]) / sum;
  }
  return y;
}

// What a small step of x[i] does to the sum of dy * softmax(x), over what the step is.
std::vector<double> finite_differences(std::vector<double> x, const std::vector<double>& dy, size_t cols) {
  constexpr double kStep = 1e-5;
  std::vector<double> dx(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    const double was = x[i];
    const size_t first = i / cols * cols;
    const auto loss = [&](double value) {
      const auto row = x.begin() + static_cast<ptrdiff_t>(first);
      x[i] = value;
      const std::vector<double> y = softmax_of({row, row + static_cast<ptrdiff_t>(cols)}, cols);
      double sum = 0;
      for (size_t j = 0; j < cols; ++j) sum += dy[first + j] * y[j];
      return sum;
    };
    dx[i] = (loss(was + kStep) - loss(was - kStep)) / (2 * kStep);
    x[i] = was;
  }
  return dx;
}

struct Gradients {
  std::vector<double> x, dy;
  std::vector<float> y, dy_float;
  Gradients(size_t rows, size_t cols) {
    for (size_t i = 0; i < rows * cols; ++i) {
      x.push_back(2 * static_cast<double>(days::normal(1, i)));
      dy_float.push_back(days::normal(2, i));
      dy.push_back(static_cast<double>(dy_float.back()));
    }
    for (const double value : softmax_of(x, cols)) y.push_back(static_cast<float>(value));
  }
};

TEST(Day14Backward, AgreesWithFiniteDifferences) {
  for (const days::Shape& shape : {days::Shape{3, 7}, {5, 33}, {5, 64}, {2, 130}, {1, 517}}) {
    const int rows = shape[0], cols = shape[1];
    const Gradients in(static_cast<size_t>(rows), static_cast<size_t>(cols));
    const std::vector<double> want = finite_differences(in.x, in.dy, static_cast<size_t>(cols));
    double most = 0;
    for (const double value : want) most = std::max(most, std::abs(value));
    const days::DeviceBuffer<float> y(in.y), dy(in.dy_float), dx(in.y.size());
    std::vector<float> got(in.y.size());
    const auto expect = [&](const std::string& name) {
      for (size_t i = 0; i < want.size(); ++i)
        ASSERT_NEAR(static_cast<double>(got[i]), want[i], 1e-6 * most) << name << " " << cols << " at " << i;
    };
    softmax_backward_reference<float>({in.y.data(), in.dy_float.data(), got.data(), rows, cols});
    expect("reference");
    for (const auto& variant : backward()) {
      dx.poison();
      variant.launch({y.data(), dy.data(), dx.data(), rows, cols});
      got = dx.download();
      expect(variant.name);
    }
  }
}

// dx may take the place of y or of dy. (The reference's tolerance needs both afterwards, so this is no inputs
// of the ladder.)
TEST(Day14Backward, InPlace) {
  for (const days::Shape& shape : {days::Shape{9, 33}, {9, 64}, {3, 1025}, {2, 4097}}) {
    const int rows = shape[0], cols = shape[1];
    const Gradients in(static_cast<size_t>(rows), static_cast<size_t>(cols));
    for (const auto& variant : backward()) {
      const days::DeviceBuffer<float> y(in.y), dy(in.dy_float), dx(in.y.size());
      variant.launch({y.data(), dy.data(), dx.data(), rows, cols});
      const std::vector<float> want = dx.download();
      variant.launch({y.data(), dy.data(), dy.data(), rows, cols});
      EXPECT_EQ(dy.download(), want) << variant.name << " " << cols;
      const days::DeviceBuffer<float> again(in.dy_float);
      variant.launch({y.data(), again.data(), y.data(), rows, cols});
      EXPECT_EQ(y.download(), want) << variant.name << " " << cols;
    }
  }
}

// Its results are right as long as no warp is late, so only a look at every access finds it.
TEST(Day14Races, SharedMemoryReusedAtOnce) {
#ifdef __SIMT__
  if (!simt::checked_build) GTEST_SKIP() << "a checked build finds this";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto run = [] {
    const days::DeviceBuffer<float> x(std::vector<float>(1000, 1.0f)), y(1000);
    reuses_at_once({x.data(), y.data(), 1, 1000}, nullptr);
    static_cast<void>(cudaDeviceSynchronize());
    std::_Exit(0);
  };
  EXPECT_EXIT(
      run(), [](int) { return true; }, "simt-race-shared");
#else
  GTEST_SKIP() << "compute-sanitizer --tool racecheck finds this";
#endif
}

}  // namespace
}  // namespace day14
