// SPDX-License-Identifier: MIT
//
// The day's ladders are tested by themselves, and their wrong kernels are in wrong.cu. Here is the rest: what is
// refused, gradients against finite differences, dx in place, workspaces, and the same bits twice.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "common/buffer.h"
#include "common/random.h"
#include "common/testing.h"
#include "day36_dyt/dyt.h"

namespace day36 {
namespace {

const float* const kIn = reinterpret_cast<const float*>(uintptr_t{1} << 40);
float* const kOut =
    reinterpret_cast<float*>(uintptr_t{1} << 50);  // never followed: the launchers throw before

TEST(Day36Refuses, WhatIsNoProblem) {
  for (const auto& variant : days::variants<Dyt<float>>("dyt")) {
    const auto refused = [&](const float* x, float* y, int rows, int cols) {
      EXPECT_THROW(variant.launch({x, kIn, kIn, kIn, y, rows, cols}), std::invalid_argument)
          << variant.name << " " << rows << " x " << cols;
    };
    refused(kOut, kOut + 4, 4, 4);
    refused(kOut + 15, kOut, 4, 4);
  }
  for (const auto& variant : days::variants<DytBackward<float>>("dyt_backward")) {
    const auto refused = [&](const float* x, const float* dy, float* dx, int rows, int cols, size_t bytes) {
      EXPECT_THROW(variant.launch({x, dy, kIn, kIn, dx, kOut, kOut, kOut, rows, cols, {kOut, bytes}}),
                   std::invalid_argument)
          << variant.name << " " << rows << " x " << cols;
    };
    constexpr size_t kEnough = size_t{1} << 40;
    refused(kOut, kIn, kOut + 1, 4, 4, kEnough);
    refused(kIn, kOut + 1, kOut, 4, 4, kEnough);
  }
}

std::vector<float> floats(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

struct Gradients {
  std::vector<double> x, dy, gamma, beta, alpha = {0.75};
  size_t rows, cols;

  // All are floats' values, so that the kernels see the same ones.
  Gradients(size_t r, size_t c) : rows(r), cols(c) {
    for (size_t i = 0; i < rows * cols; ++i) {
      x.push_back(static_cast<double>(2 * days::normal(1, i)));
      dy.push_back(static_cast<double>(days::normal(2, i)));
    }
    for (size_t i = 0; i < cols; ++i) {
      gamma.push_back(static_cast<double>(days::normal(3, i)));
      beta.push_back(static_cast<double>(days::normal(4, i)));
    }
  }

  // The sum of dy * y: the loss whose gradients are asked for.
  double loss() const {
    double sum = 0;
    for (size_t i = 0; i < x.size(); ++i)
      sum += dy[i] * (gamma[i % cols] * std::tanh(alpha[0] * x[i]) + beta[i % cols]);
    return sum;
  }

  // What a small step of each of `values`, one of x, gamma, beta and alpha, does to the loss, over what the step is.
  std::vector<double> differences(std::vector<double> Gradients::*values) const {
    constexpr double kStep = 1e-5;
    Gradients moved = *this;
    std::vector<double> result;
    for (double& value : moved.*values) {
      const double was = value;
      value = was + kStep;
      const double high = moved.loss();
      value = was - kStep;
      result.push_back((high - moved.loss()) / (2 * kStep));
      value = was;
    }
    return result;
  }
};

size_t workspace_of(const Gradients& in) {
  const int rows = static_cast<int>(in.rows), cols = static_cast<int>(in.cols);
  return std::max({sums_workspace(cols), partials_workspace(rows, cols), wide_workspace(rows, cols)});
}

// Inputs on the device, outputs beside them.
struct DeviceGradients {
  days::DeviceBuffer<float> x, dy, alpha, gamma, dx, dgamma, dbeta, dalpha;
  days::DeviceBuffer<uint8_t> workspace;
  int rows, cols;

  explicit DeviceGradients(const Gradients& in)
      : x(floats(in.x)),
        dy(floats(in.dy)),
        alpha(floats(in.alpha)),
        gamma(floats(in.gamma)),
        dx(in.x.size()),
        dgamma(in.cols),
        dbeta(in.cols),
        dalpha(1),
        workspace(workspace_of(in)),
        rows(static_cast<int>(in.rows)),
        cols(static_cast<int>(in.cols)) {}

  DytBackward<float> problem() {
    return {x.data(),
            dy.data(),
            alpha.data(),
            gamma.data(),
            dx.data(),
            dgamma.data(),
            dbeta.data(),
            dalpha.data(),
            rows,
            cols,
            {workspace.data(), workspace.size()}};
  }
};

// Relative to the largest, or to `most`: sums of terms of about 1 may cancel.
void expect_near(const std::vector<float>& got, const std::vector<double>& want, const std::string& what,
                 double most = 1) {
  for (const double value : want) most = std::max(most, std::abs(value));
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i)
    ASSERT_NEAR(static_cast<double>(got[i]), want[i], 2e-6 * most) << what << " at " << i;
}

TEST(Day36, AgreesWithFiniteDifferences) {
  for (const days::Shape& shape : {days::Shape{3, 7}, {5, 33}, {2, 130}, {40, 8}}) {
    const Gradients in(shape[0], shape[1]);
    const std::vector<double> dx = in.differences(&Gradients::x), dgamma = in.differences(&Gradients::gamma),
                              dbeta = in.differences(&Gradients::beta),
                              dalpha = in.differences(&Gradients::alpha);
    for (const auto& variant : days::variants<DytBackward<float>>("dyt_backward")) {
      DeviceGradients device(in);
      for (auto* output : {&device.dx, &device.dgamma, &device.dbeta, &device.dalpha}) output->poison();
      variant.launch(device.problem());
      const std::string name = variant.name + " of " + shape.text();
      expect_near(device.dx.download(), dx, name + ", dx");
      expect_near(device.dgamma.download(), dgamma, name + ", dgamma");
      expect_near(device.dbeta.download(), dbeta, name + ", dbeta");
      expect_near(device.dalpha.download(), dalpha, name + ", dalpha",
                  std::sqrt(static_cast<double>(in.x.size())));
    }
  }
}

// dx may take the place of x or of dy. (The tolerance needs both afterwards, so this is no inputs of the ladder.)
TEST(Day36, InPlace) {
  for (const days::Shape& shape : {days::Shape{9, 33}, {300, 64}, {70, 260}}) {
    const Gradients in(shape[0], shape[1]);
    for (const auto& variant : days::variants<DytBackward<float>>("dyt_backward")) {
      DeviceGradients apart(in);
      variant.launch(apart.problem());
      const std::vector<float> dx = apart.dx.download(), dgamma = apart.dgamma.download();
      for (days::DeviceBuffer<float> DeviceGradients::*taken : {&DeviceGradients::x, &DeviceGradients::dy}) {
        DeviceGradients device(in);
        DytBackward<float> p = device.problem();
        p.dx = (device.*taken).data();
        variant.launch(p);
        EXPECT_EQ((device.*taken).download(), dx) << variant.name << " " << shape.text();
        expect_near(device.dgamma.download(), {dgamma.begin(), dgamma.end()},
                    variant.name + " " + shape.text(), std::sqrt(static_cast<double>(in.x.size())));
      }
    }
  }
}

// The workspace holds whatever was in it, and one byte too few is refused before anything is launched. Two stages give the
// same bits each time, which atomic additions do not promise.
TEST(Day36, Workspace) {
  const Gradients in(300, 72);
  for (const auto& variant : days::variants<DytBackward<float>>("dyt_backward")) {
    const bool atomic = variant.name == "grad_atomic" || variant.name == "grad_tiles";
    const size_t needed = atomic                            ? sums_workspace(72)
                          : variant.name == "grad_partials" ? partials_workspace(300, 72)
                                                            : wide_workspace(300, 72);
    DeviceGradients device(in);
    DytBackward<float> p = device.problem();
    p.workspace.bytes = needed;
    std::vector<float> first;
    for (const int byte : {0, 0xff}) {
      ASSERT_EQ(cudaMemset(p.workspace.data, byte, needed), cudaSuccess);
      variant.launch(p);
      std::vector<float> all = device.dgamma.download();
      all.push_back(device.dalpha.download()[0]);
      if (first.empty()) first = all;
      if (atomic) {
        expect_near(all, {first.begin(), first.end()}, variant.name, std::sqrt(300.0 * 72));
      } else {
        EXPECT_EQ(std::memcmp(first.data(), all.data(), all.size() * sizeof(float)), 0)
            << variant.name << ": what the workspace held is in the result, or the order of sums changes";
      }
    }
    p.workspace.bytes = needed - 1;
    EXPECT_THROW(variant.launch(p), std::invalid_argument) << variant.name;
  }
}

// A workspace that is as large as asked for is enough in every way that grad_wide may be launched: rows of whole vectors and
// others, one tile and several. (What is written beyond it, its guard tells.)
TEST(Day36, WideStaysInItsWorkspace) {
  for (const days::Shape& shape : {days::Shape{64, 4}, {64, 7}, {3, 1000}, {100, 1001}, {2000, 64}}) {
    const Gradients in(shape[0], shape[1]);
    DeviceGradients device(in);
    const days::DeviceBuffer<uint8_t> exact(wide_workspace(device.rows, device.cols) + 64);
    ASSERT_EQ(cudaMemset(exact.data(), 0x5a, exact.size()), cudaSuccess);
    DytBackward<float> p = device.problem();
    p.workspace = {exact.data(), exact.size() - 64};
    dyt_grad_wide(p, nullptr);
    const std::vector<uint8_t> bytes = exact.download();
    EXPECT_EQ(std::count(bytes.end() - 64, bytes.end(), 0x5a), 64) << shape.text();
  }
}

}  // namespace
}  // namespace day36
