// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/buffer.h"
#include "common/random.h"
#include "common/testing.h"
#include "day12_layer_norm/layer_norm.h"
#include "day12_layer_norm/rms_norm.h"

namespace day12 {

void reuses_at_once(const LayerNorm<float>&, cudaStream_t);  // wrong.cu

namespace {

const float* const kIn = reinterpret_cast<const float*>(uintptr_t{1} << 40);
float* const kOut =
    reinterpret_cast<float*>(uintptr_t{1} << 50);  // never followed: the launchers throw before

TEST(Day12Refuses, WhatIsNoProblem) {
  for (const auto& variant : days::variants<LayerNorm<float>>("layer_norm")) {
    const auto refused = [&](int rows, int cols, float eps = 1e-5f) {
      EXPECT_THROW(variant.launch({kIn, kIn, kIn, kOut, kOut, kOut, rows, cols, eps}), std::invalid_argument)
          << variant.name << " " << rows << " x " << cols << ", eps " << eps;
    };
    refused(1, kMaxCols + 1);
    refused(4, 4, -1e-5f);
    refused(4, 4, NAN);
  }
  for (const auto& variant : days::variants<LayerNormBackward<float>>("layer_norm_backward")) {
    const auto refused = [&](int rows, int cols) {
      EXPECT_THROW(
          variant.launch({kIn, kIn, kIn, kIn, kIn, kOut, kOut, kOut, rows, cols, {kOut, size_t{1} << 40}}),
          std::invalid_argument)
          << variant.name << " " << rows << " x " << cols;
    };
    refused(1, kMaxCols + 1);
  }
  for (const auto& variant : days::variants<RmsNorm<float>>("rms_norm")) {
    const auto refused = [&](int rows, int cols, float eps, float* y) {
      EXPECT_THROW(variant.launch({kIn, kIn, y, kOut, rows, cols, eps}), std::invalid_argument)
          << variant.name << " " << rows << " x " << cols << ", eps " << eps;
    };
    refused(1, kMaxCols + 4, 1e-5f, kOut);
    refused(4, 4, -1e-5f, kOut);
    refused(4, 4, NAN, kOut);
    refused(4, 4, 1e-5f, const_cast<float*>(kIn) + 4);
    refused(4, 4, 1e-5f, const_cast<float*>(kIn) - 12);
  }
}

// A row that is written while another one is still to be read there: wrong by luck of the order.
TEST(Day12Refuses, MatricesThatOverlapInPart) {
  float values[64] = {}, apart[64] = {}, rows[4] = {};
  for (const auto& variant : days::variants<LayerNorm<float>>("layer_norm")) {
    for (const int from : {0, 15})
      EXPECT_THROW(variant.launch({values + from, apart, apart, values + 15 - from, rows, rows, 4, 4, 1e-5f}),
                   std::invalid_argument)
          << variant.name;
  }
  for (const auto& variant : days::variants<LayerNormBackward<float>>("layer_norm_backward")) {
    const days::Workspace workspace = {apart, size_t{1} << 40};
    EXPECT_THROW(variant.launch({values, apart, apart, rows, rows, values + 1, rows, rows, 4, 4, workspace}),
                 std::invalid_argument)
        << variant.name;
    EXPECT_THROW(variant.launch({apart, values, apart, rows, rows, values + 15, rows, rows, 4, 4, workspace}),
                 std::invalid_argument)
        << variant.name;
  }
}

constexpr double kEps = 1e-5;

// Row by row in double; mean and rstd as forward keeps them.
std::vector<double> layer_norm_of(const std::vector<double>& x, const std::vector<double>& gamma,
                                  const std::vector<double>& beta, std::vector<double>* mean = nullptr,
                                  std::vector<double>* rstd = nullptr) {
  const size_t cols = gamma.size();
  std::vector<double> y(x.size());
  for (size_t first = 0; first < x.size(); first += cols) {
    double sum = 0, squares = 0;
    for (size_t i = first; i < first + cols; ++i) sum += x[i];
    const double average = sum / static_cast<double>(cols);
    for (size_t i = first; i < first + cols; ++i) squares += (x[i] - average) * (x[i] - average);
    const double scale = 1 / std::sqrt(squares / static_cast<double>(cols) + kEps);
    for (size_t i = first; i < first + cols; ++i)
      y[i] = (x[i] - average) * scale * gamma[i - first] + beta[i - first];
    if (mean) mean->push_back(average);
    if (rstd) rstd->push_back(scale);
  }
  return y;
}

std::vector<float> floats(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

struct Gradients {
  std::vector<double> x, dy, gamma, beta, mean, rstd;

  // x, dy and gamma are floats' values, so that the kernels see the same ones.
  Gradients(size_t rows, size_t cols) {
    for (size_t i = 0; i < rows * cols; ++i) {
      x.push_back(static_cast<double>(2 * days::normal(1, i) + 1));
      dy.push_back(static_cast<double>(days::normal(2, i)));
    }
    for (size_t i = 0; i < cols; ++i) {
      gamma.push_back(static_cast<double>(days::normal(3, i)));
      beta.push_back(static_cast<double>(days::normal(4, i)));
    }
    layer_norm_of(x, gamma, beta, &mean, &rstd);
  }

  // What a small step of each of `values`, one of x, gamma and beta, does to the sum of dy * y, over what the step
  // is.
  std::vector<double> differences(std::vector<double> Gradients::*values) const {
    constexpr double kStep = 1e-5;
    Gradients moved = *this;
    std::vector<double> result;
    for (double& value : moved.*values) {
      const double was = value;
      const auto loss = [&](double now) {
        value = now;
        const std::vector<double> y = layer_norm_of(moved.x, moved.gamma, moved.beta);
        double sum = 0;
        for (size_t i = 0; i < y.size(); ++i) sum += dy[i] * y[i];
        return sum;
      };
      result.push_back((loss(was + kStep) - loss(was - kStep)) / (2 * kStep));
      value = was;
    }
    return result;
  }
};

void expect_near(const std::vector<float>& got, const std::vector<double>& want, const std::string& what) {
  double most = 0;
  for (const double value : want) most = std::max(most, std::abs(value));
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i)
    ASSERT_NEAR(static_cast<double>(got[i]), want[i], 2e-6 * most) << what << " at " << i;
}

// Inputs on the device, outputs beside them.
struct DeviceGradients {
  days::DeviceBuffer<float> x, dy, gamma, mean, rstd, dx, dgamma, dbeta;
  days::DeviceBuffer<uint8_t> workspace;
  int rows, cols;

  explicit DeviceGradients(const Gradients& in)
      : x(floats(in.x)),
        dy(floats(in.dy)),
        gamma(floats(in.gamma)),
        mean(floats(in.mean)),
        rstd(floats(in.rstd)),
        dx(in.x.size()),
        dgamma(in.gamma.size()),
        dbeta(in.gamma.size()),
        workspace(std::max(
            grad_workspace(static_cast<int>(in.mean.size()), static_cast<int>(in.gamma.size())),
            grad_partials_workspace(static_cast<int>(in.mean.size()), static_cast<int>(in.gamma.size())))),
        rows(static_cast<int>(in.mean.size())),
        cols(static_cast<int>(in.gamma.size())) {}

  LayerNormBackward<float> problem() {
    return {x.data(),
            dy.data(),
            gamma.data(),
            mean.data(),
            rstd.data(),
            dx.data(),
            dgamma.data(),
            dbeta.data(),
            rows,
            cols,
            {workspace.data(), workspace.size()}};
  }
};

TEST(Day12Backward, AgreesWithFiniteDifferences) {
  for (const days::Shape& shape : {days::Shape{3, 7}, {5, 33}, {9, 64}, {2, 130}, {1, 317}}) {
    const Gradients in(shape[0], shape[1]);
    const std::vector<double> dx = in.differences(&Gradients::x), dgamma = in.differences(&Gradients::gamma),
                              dbeta = in.differences(&Gradients::beta);
    const auto expect = [&](const auto& got_dx, const auto& got_dgamma, const auto& got_dbeta,
                            const std::string& name) {
      expect_near(got_dx, dx, name + " dx of " + shape.text());
      expect_near(got_dgamma, dgamma, name + " dgamma of " + shape.text());
      expect_near(got_dbeta, dbeta, name + " dbeta of " + shape.text());
    };
    std::vector<float> got_dx(dx.size()), got_dgamma(dgamma.size()), got_dbeta(dbeta.size());
    const std::vector<float> x = floats(in.x), dy = floats(in.dy), gamma = floats(in.gamma),
                             mean = floats(in.mean), rstd = floats(in.rstd);
    layer_norm_backward_reference<float>({x.data(),
                                          dy.data(),
                                          gamma.data(),
                                          mean.data(),
                                          rstd.data(),
                                          got_dx.data(),
                                          got_dgamma.data(),
                                          got_dbeta.data(),
                                          shape[0],
                                          shape[1],
                                          {}});
    expect(got_dx, got_dgamma, got_dbeta, "reference");
    for (const auto& variant : days::variants<LayerNormBackward<float>>("layer_norm_backward")) {
      if (!variant.runs_here) continue;
      DeviceGradients device(in);
      for (auto* output : {&device.dx, &device.dgamma, &device.dbeta}) output->poison();
      variant.launch(device.problem());
      expect(device.dx.download(), device.dgamma.download(), device.dbeta.download(), variant.name);
    }
  }
}

// dx may take the place of x or of dy. (The tolerance needs both afterwards, so this is no inputs of the ladder.)
TEST(Day12Backward, InPlace) {
  for (const days::Shape& shape : {days::Shape{9, 33}, {300, 64}, {3, 1025}, {2, 4097}, {20, 4096}}) {
    const Gradients in(shape[0], shape[1]);
    for (const auto& variant : days::variants<LayerNormBackward<float>>("layer_norm_backward")) {
      if (!variant.runs_here) continue;
      DeviceGradients apart(in);
      variant.launch(apart.problem());
      const std::vector<float> dx = apart.dx.download(), dgamma = apart.dgamma.download(),
                               dbeta = apart.dbeta.download();
      for (days::DeviceBuffer<float> DeviceGradients::*taken : {&DeviceGradients::x, &DeviceGradients::dy}) {
        DeviceGradients device(in);
        LayerNormBackward<float> p = device.problem();
        p.dx = (device.*taken).data();
        variant.launch(p);
        EXPECT_EQ((device.*taken).download(), dx) << variant.name << " " << shape.text();
        EXPECT_EQ(device.dgamma.download(), dgamma) << variant.name << " " << shape.text();
        EXPECT_EQ(device.dbeta.download(), dbeta) << variant.name << " " << shape.text();
      }
    }
  }
}

// The workspace holds whatever was in it, and one byte too few is refused before anything is launched.
TEST(Day12Backward, Workspace) {
  const Gradients in(300, 72);
  for (const auto& variant : days::variants<LayerNormBackward<float>>("layer_norm_backward")) {
    if (variant.name == "grad_naive" || !variant.runs_here) continue;
    const size_t needed =
        variant.name == "grad_partials" ? grad_partials_workspace(300, 72) : grad_workspace(300, 72);
    DeviceGradients device(in);
    LayerNormBackward<float> p = device.problem();
    p.workspace.bytes = needed;
    std::vector<float> first;
    for (const int byte : {0, 0xff}) {
      ASSERT_EQ(cudaMemset(p.workspace.data, byte, needed), cudaSuccess);
      variant.launch(p);
      const std::vector<float> dgamma = device.dgamma.download();
      EXPECT_TRUE(first.empty() ||
                  std::memcmp(first.data(), dgamma.data(), first.size() * sizeof(float)) == 0)
          << variant.name << ": what the workspace held is in the result";
      first = dgamma;
    }
    p.workspace.bytes = needed - 1;
    EXPECT_THROW(variant.launch(p), std::invalid_argument) << variant.name;
  }
}

// Numbers whose rounding no error of fp32 turns round: then y's bits are those of two roundings, as Llama's models have them.
TEST(Day12Rms, RoundsBeforeGamma) {
  using T = days::bf16;
  constexpr int kRows = 3, kCols = 320;
  std::vector<T> x, gamma;
  for (size_t i = 0; i < size_t{kRows} * kCols; ++i) x.push_back(T(2 * days::normal(5, i)));
  for (size_t i = 0; i < kCols; ++i) gamma.push_back(T(days::normal(6, i)));
  for (const auto& variant : days::variants<RmsNorm<T>>("rms_norm")) {
    const days::DeviceBuffer<T> in(x), by(gamma);
    days::DeviceBuffer<T> out(x.size());
    days::DeviceBuffer<float> rstd(kRows);
    variant.launch({in.data(), by.data(), out.data(), rstd.data(), kRows, kCols, 1e-5f});
    const std::vector<T> y = out.download();
    int looked_at = 0, others = 0;
    for (size_t row = 0; row < kRows; ++row) {
      double squares = 0;
      for (size_t i = row * kCols; i < (row + 1) * kCols; ++i)
        squares += days::to_double(x[i]) * days::to_double(x[i]);
      const double scale = 1 / std::sqrt(squares / kCols + 1e-5);
      for (size_t i = row * kCols; i < (row + 1) * kCols; ++i) {
        const double exact = days::to_double(x[i]) * scale;
        const T once = days::from_double<T>(exact);
        if (days::to_double(days::from_double<T>(exact * (1 + 1e-5))) != days::to_double(once) ||
            days::to_double(days::from_double<T>(exact * (1 - 1e-5))) != days::to_double(once))
          continue;
        const double g = days::to_double(gamma[i % kCols]);
        const T want = days::from_double<T>(days::to_double(once) * g);
        EXPECT_EQ(days::to_double(y[i]), days::to_double(want)) << variant.name << " at " << i;
        ++looked_at;
        others += days::to_double(days::from_double<T>(exact * g)) != days::to_double(want) ? 1 : 0;
      }
    }
    EXPECT_GT(looked_at, 900) << variant.name;
    EXPECT_GT(others, 100) << variant.name << ": one rounding would do as well";
  }
}

// A text's tokens must not change with the texts that are written beside it. Who wants no rstd gives no place for it.
TEST(Day12Rms, RowsAreTheirOwn) {
  constexpr int kRows = 19;
  for (const int cols : {8, 64, 576, 4096}) {
    std::vector<float> x, gamma;
    for (size_t i = 0; i < size_t{kRows} * static_cast<size_t>(cols); ++i) x.push_back(days::normal(7, i));
    for (size_t i = 0; i < static_cast<size_t>(cols); ++i) gamma.push_back(days::normal(8, i));
    const days::DeviceBuffer<float> in(x), by(gamma);
    for (const auto& variant : days::variants<RmsNorm<float>>("rms_norm")) {
      days::DeviceBuffer<float> all(x.size()), one(x.size()), rstd(kRows);
      variant.launch({in.data(), by.data(), all.data(), rstd.data(), kRows, cols, 1e-5f});
      for (int row = 0; row < kRows; ++row) {
        const int64_t first = int64_t{row} * cols;
        variant.launch({in.data() + first, by.data(), one.data() + first, nullptr, 1, cols, 1e-5f});
      }
      EXPECT_EQ(one.download(), all.download()) << variant.name << ", cols " << cols;
    }
  }
}

// Its results are right as long as no warp is late, so only a look at every access finds it.
TEST(Day12Races, SharedMemoryReusedAtOnce) {
#ifdef __SIMT__
  if (!simt::checked_build) GTEST_SKIP() << "a checked build finds this";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto run = [] {
    const days::DeviceBuffer<float> x(std::vector<float>(1000, 1.0f)), gamma(std::vector<float>(500, 1.0f));
    const days::DeviceBuffer<float> y(1000), mean(2), rstd(2);
    reuses_at_once({x.data(), gamma.data(), gamma.data(), y.data(), mean.data(), rstd.data(), 2, 500, 1e-5f},
                   nullptr);
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
}  // namespace day12
