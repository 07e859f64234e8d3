// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>

#include "common/testing.h"
#include "day14_softmax/ladder.h"

TEST_LADDER(day14, softmax);
TEST_LADDER(day14, softmax_backward);
MUST_REJECT(day14, softmax, zeros);
MUST_REJECT(day14, softmax, no_max);
MUST_REJECT(day14, softmax, short_tail);
MUST_REJECT(day14, softmax, unscaled);
MUST_REJECT(day14, softmax, half_sum);
MUST_REJECT(day14, softmax, fused_scale);
MUST_REJECT(day14, softmax, zero_row);
MUST_REJECT(day14, softmax, skips_nan);
MUST_REJECT(day14, softmax, columns);
MUST_REJECT(day14, softmax, stale_sum);
MUST_REJECT(day14, softmax, starts_at_first);
MUST_REJECT(day14, softmax, adds_warps);
MUST_REJECT(day14, softmax_backward, backward_no_sum);
MUST_REJECT(day14, softmax_backward, backward_sum_of_dy);
MUST_REJECT(day14, softmax_backward, backward_short_tail);
MUST_REJECT(day14, softmax_backward, backward_one_term);

namespace day14 {

void reuses_at_once(const Softmax<float>&, cudaStream_t);  // day14_wrong.cu

namespace {

using Forward = void (*)(const Softmax<float>&, cudaStream_t);
using Backward = void (*)(const SoftmaxBackward<float>&, cudaStream_t);
constexpr Forward kForward[] = {softmax_naive<float>,  softmax_shared<float>,  softmax_online<float>,
                                softmax_warp<float>,   softmax_vectors<float>, softmax_registers<float>,
                                softmax_cluster<float>};
constexpr Backward kBackward[] = {softmax_grad_naive<float>, softmax_grad_warp<float>,
                                  softmax_grad_registers<float>};

TEST(Day14Refuses, SizesThatAreNotPositiveOrTooLong) {
  const auto in = reinterpret_cast<const float*>(uintptr_t{1} << 40);
  const auto out =
      reinterpret_cast<float*>(uintptr_t{1} << 50);  // never followed: the launchers throw before
  for (const Forward launch : kForward) {
    EXPECT_THROW(launch({in, out, 0, 4}, nullptr), std::invalid_argument);
    EXPECT_THROW(launch({in, out, 4, 0}, nullptr), std::invalid_argument);
    EXPECT_THROW(launch({in, out, -4, 4}, nullptr), std::invalid_argument);
    EXPECT_THROW(launch({in, out, 1, kMaxCols + 1}, nullptr), std::invalid_argument);
  }
  for (const Backward launch : kBackward) {
    EXPECT_THROW(launch({in, in, out, 0, 4}, nullptr), std::invalid_argument);
    EXPECT_THROW(launch({in, in, out, 4, -1}, nullptr), std::invalid_argument);
    EXPECT_THROW(launch({in, in, out, 1, kMaxCols + 1}, nullptr), std::invalid_argument);
  }
  EXPECT_THROW(softmax_registers<float>({in, out, 1, kMaxColsRegisters + 1}, nullptr), std::invalid_argument);
  EXPECT_THROW(softmax_cluster<float>({in, out, 1, kMaxColsCluster + 1}, nullptr), std::invalid_argument);
  EXPECT_THROW(softmax_cluster<float>({in, out, 1, kMinColsCluster - 1}, nullptr), std::invalid_argument);
  EXPECT_THROW(softmax_cluster<float>({in, out, 2147483647, kMinColsCluster}, nullptr),
               std::invalid_argument);
  EXPECT_THROW(softmax_grad_registers<float>({in, in, out, 1, kMaxColsBackward + 1}, nullptr),
               std::invalid_argument);
}

// A row that is written while another one is still to be read there: wrong by luck of the order.
TEST(Day14Refuses, MatricesThatOverlapInPart) {
  float values[64] = {}, apart[64] = {};
  for (const Forward launch : kForward) {
    EXPECT_THROW(launch({values, values + 15, 4, 4}, nullptr), std::invalid_argument);
    EXPECT_THROW(launch({values + 1, values, 4, 4}, nullptr), std::invalid_argument);
  }
  for (const Backward launch : kBackward) {
    EXPECT_THROW(launch({values, apart, values + 1, 4, 4}, nullptr), std::invalid_argument);
    EXPECT_THROW(launch({apart, values, values + 15, 4, 4}, nullptr), std::invalid_argument);
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
    const auto expect = [&](const char* name) {
      for (size_t i = 0; i < want.size(); ++i)
        ASSERT_NEAR(static_cast<double>(got[i]), want[i], 1e-6 * most) << name << " " << cols << " at " << i;
    };
    softmax_backward_reference<float>({in.y.data(), in.dy_float.data(), got.data(), rows, cols});
    expect("reference");
    for (const Backward launch : kBackward) {
      dx.poison();
      launch({y.data(), dy.data(), dx.data(), rows, cols}, nullptr);
      got = dx.download();
      expect("kernel");
    }
  }
}

// dx may take the place of y or of dy. (The reference's tolerance needs both afterwards, so this is no inputs
// of the ladder.)
TEST(Day14Backward, InPlace) {
  for (const days::Shape& shape : {days::Shape{9, 33}, {9, 64}, {3, 1025}, {2, 4097}}) {
    const int rows = shape[0], cols = shape[1];
    const Gradients in(static_cast<size_t>(rows), static_cast<size_t>(cols));
    for (const Backward launch : kBackward) {
      const days::DeviceBuffer<float> y(in.y), dy(in.dy_float), dx(in.y.size());
      launch({y.data(), dy.data(), dx.data(), rows, cols}, nullptr);
      const std::vector<float> want = dx.download();
      launch({y.data(), dy.data(), dy.data(), rows, cols}, nullptr);
      EXPECT_EQ(dy.download(), want) << cols;
      const days::DeviceBuffer<float> again(in.dy_float);
      launch({y.data(), again.data(), y.data(), rows, cols}, nullptr);
      EXPECT_EQ(y.download(), want) << cols;
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
