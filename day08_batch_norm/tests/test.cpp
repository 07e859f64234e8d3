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
#include "day08_batch_norm/batch_norm.h"

namespace day08 {
namespace {

const float* const kIn = reinterpret_cast<const float*>(uintptr_t{1} << 40);
float* const kOut =
    reinterpret_cast<float*>(uintptr_t{1} << 50);  // never followed: the launchers throw before
const days::Workspace kPlenty = {kOut, size_t{1} << 40};

const char* const kForward[] = {"batch_norm", "batch_norm_last"};

std::string refusal(const days::Function<void()>& launch) {
  try {
    launch();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(Day08Refuses, WhatIsNoProblem) {
  for (const char* ladder : kForward) {
    for (const auto& variant : days::variants<BatchNorm<float>>(ladder)) {
      const auto refused = [&](int batch, int channels, int space, float eps, float momentum,
                               const std::string& why, days::Workspace workspace = kPlenty) {
        const std::string text = refusal([&] {
          variant.launch({kIn, kIn, kIn, kOut, kOut, kOut, kOut, kOut, batch, channels, space, eps, momentum,
                          workspace});
        });
        EXPECT_NE(text.find(why), std::string::npos) << variant.name << ": " << text;
      };
      refused(0, 4, 4, 1e-5f, 0.1f, "batch must be positive, not 0");
      refused(4, 0, 4, 1e-5f, 0.1f, "channels must be positive, not 0");
      refused(4, 4, -1, 1e-5f, 0.1f, "space must be positive, not -1");
      refused(1, 4, 1, 1e-5f, 0.1f, "batch * space must be at least 2, not 1");
      refused(4, 4, 4, 0, 0.1f, "eps must be positive, not 0");
      refused(4, 4, 4, NAN, 0.1f, "eps must be positive");
      refused(4, 4, 4, 1e-5f, 1.5f, "momentum must be from 0 to 1, not 1.5");
      refused(4, 4, 4, 1e-5f, NAN, "momentum must be from 0 to 1");
      refused(4, kMostChannels + 1, 4, 1e-5f, 0.1f, "channels must be at most 2^20");
      refused(1 << 16, 4, 1 << 15, 1e-5f, 0.1f, "batch * space must be at most 2^30");
      if (variant.name != "channel") refused(4, 4, 4, 1e-5f, 0.1f, "needs a workspace of bytes", {kOut, 4});
    }
  }
  for (const auto& variant : days::variants<BatchNormBackward<float>>("batch_norm_backward")) {
    const auto refused = [&](int batch, int channels, int space, const std::string& why,
                             days::Workspace workspace = kPlenty) {
      const std::string text = refusal([&] {
        variant.launch({kIn, kIn, kIn, kIn, kIn, kOut, kOut, kOut, batch, channels, space, workspace});
      });
      EXPECT_NE(text.find(why), std::string::npos) << variant.name << ": " << text;
    };
    refused(0, 4, 4, "batch must be positive, not 0");
    refused(4, 4, 4, "needs a workspace of bytes", {kOut, 4});
  }
}

TEST(Day08Refuses, MemoryThatOverlapsInPart) {
  float values[64] = {}, apart[64] = {};
  for (const char* ladder : kForward) {
    for (const auto& variant : days::variants<BatchNorm<float>>(ladder)) {
      EXPECT_NE(refusal([&] {
                  variant.launch({values, apart, apart, values + 3, apart, apart, apart, apart, 2, 2, 4,
                                  1e-5f, 0.1f, kPlenty});
                }),
                "")
          << variant.name;
    }
  }
  for (const auto& variant : days::variants<BatchNormBackward<float>>("batch_norm_backward")) {
    EXPECT_NE(
        refusal([&] {
          variant.launch({apart, values, apart, apart, apart, values + 3, apart, apart, 2, 2, 4, kPlenty});
        }),
        "")
        << variant.name;
  }
}

constexpr double kEps = 1e-5;

// A problem's arrays on the device; x, dy and the parameters are floats' values.
struct Data {
  int batch, channels, space;
  std::vector<float> x, dy, gamma, beta;

  Data(int b, int c, int s) : batch(b), channels(c), space(s) {
    const size_t all = static_cast<size_t>(b * c * s);
    for (size_t i = 0; i < all; ++i) x.push_back(2 * days::normal(1, i) + 1);
    for (size_t i = 0; i < all; ++i) dy.push_back(days::normal(2, i));
    for (size_t i = 0; i < static_cast<size_t>(c); ++i) gamma.push_back(days::normal(3, i));
    for (size_t i = 0; i < static_cast<size_t>(c); ++i) beta.push_back(days::normal(4, i));
  }
  size_t at(int b, int c, int s) const { return static_cast<size_t>((b * channels + c) * space + s); }
  std::string text() const {
    return std::to_string(batch) + " x " + std::to_string(channels) + " x " + std::to_string(space);
  }
};
using Doubles = std::vector<double>;
Doubles doubles(const std::vector<float>& values) {
  return {values.begin(), values.end()};
}

// Forward in double, in this file's own words; mean and rstd as forward keeps them.
Doubles forward(const Data& d, const Doubles& x, const Doubles& gamma, const Doubles& beta,
                Doubles* mean = nullptr, Doubles* rstd = nullptr) {
  Doubles y(x.size());
  for (int c = 0; c < d.channels; ++c) {
    double sum = 0, squares = 0;
    const auto each = [&](const auto& visit) {
      for (int b = 0; b < d.batch; ++b)
        for (int s = 0; s < d.space; ++s) visit(d.at(b, c, s));
    };
    each([&](size_t i) { sum += x[i]; });
    const double n = d.batch * d.space, average = sum / n;
    each([&](size_t i) { squares += (x[i] - average) * (x[i] - average); });
    const double scale = 1 / std::sqrt(squares / n + kEps);
    const size_t channel = static_cast<size_t>(c);
    each([&](size_t i) { y[i] = (x[i] - average) * scale * gamma[channel] + beta[channel]; });
    if (mean) mean->push_back(average);
    if (rstd) rstd->push_back(scale);
  }
  return y;
}

void expect_near(const std::vector<float>& got, const Doubles& want, const std::string& what) {
  double most = 0;
  for (const double value : want) most = std::max(most, std::abs(value));
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i)
    ASSERT_NEAR(static_cast<double>(got[i]), want[i], 4e-6 * most) << what << " at " << i;
}

struct DeviceBackward {
  days::DeviceBuffer<float> x, dy, gamma, mean, rstd, dx, dgamma, dbeta;
  days::DeviceBuffer<uint8_t> workspace;
  BatchNormBackward<float> p;

  DeviceBackward(const Data& d, const Doubles& of_mean, const Doubles& of_rstd)
      : x(d.x),
        dy(d.dy),
        gamma(d.gamma),
        mean(std::vector<float>(of_mean.begin(), of_mean.end())),
        rstd(std::vector<float>(of_rstd.begin(), of_rstd.end())),
        dx(d.x.size()),
        dgamma(d.gamma.size()),
        dbeta(d.gamma.size()),
        workspace(1 << 20),
        p{x.data(),    dy.data(),  gamma.data(),  mean.data(),
          rstd.data(), dx.data(),  dgamma.data(), dbeta.data(),
          d.batch,     d.channels, d.space,       {workspace.data(), workspace.size()}} {}
};

// What a small step of each of x, gamma and beta does to the sum of dy * y, over what the step is.
TEST(Day08Backward, AgreesWithFiniteDifferences) {
  for (const Data& d : {Data(2, 3, 7), Data(5, 2, 1), Data(3, 1, 40)}) {
    Doubles x = doubles(d.x), gamma = doubles(d.gamma), beta = doubles(d.beta), mean, rstd;
    forward(d, x, gamma, beta, &mean, &rstd);
    const auto differences = [&](Doubles& values) {
      Doubles result;
      for (double& value : values) {
        const double was = value;
        const auto loss = [&](double now) {
          value = now;
          const Doubles y = forward(d, x, gamma, beta);
          double sum = 0;
          for (size_t i = 0; i < y.size(); ++i) sum += static_cast<double>(d.dy[i]) * y[i];
          return sum;
        };
        result.push_back((loss(was + 1e-5) - loss(was - 1e-5)) / 2e-5);
        value = was;
      }
      return result;
    };
    const Doubles dx = differences(x), dgamma = differences(gamma), dbeta = differences(beta);
    for (const auto& variant : days::variants<BatchNormBackward<float>>("batch_norm_backward")) {
      const DeviceBackward device(d, mean, rstd);
      variant.launch(device.p);
      expect_near(device.dx.download(), dx, variant.name + " dx of " + d.text());
      expect_near(device.dgamma.download(), dgamma, variant.name + " dgamma of " + d.text());
      expect_near(device.dbeta.download(), dbeta, variant.name + " dbeta of " + d.text());
    }
  }
}

// dx may take the place of x or of dy.
TEST(Day08Backward, InPlace) {
  const Data d(3, 5, 44);
  Doubles mean, rstd;
  forward(d, doubles(d.x), doubles(d.gamma), doubles(d.beta), &mean, &rstd);
  for (const auto& variant : days::variants<BatchNormBackward<float>>("batch_norm_backward")) {
    const DeviceBackward apart(d, mean, rstd);
    variant.launch(apart.p);
    for (const bool over_x : {true, false}) {
      DeviceBackward device(d, mean, rstd);
      const days::DeviceBuffer<float>& taken = over_x ? device.x : device.dy;
      device.p.dx = taken.data();
      variant.launch(device.p);
      EXPECT_EQ(taken.download(), apart.dx.download()) << variant.name;
      EXPECT_EQ(device.dgamma.download(), apart.dgamma.download()) << variant.name;
    }
  }
}

// A share that does not fit on the chip, in part or at all, gives the same bits: what is kept and what is read again are the same numbers.
TEST(Day08Together, ASharesRestIsReadAgain) {
  struct Forward {
    days::DeviceBuffer<float> x, gamma, beta, y, running_mean, running_var, mean, rstd;
    days::DeviceBuffer<uint8_t> workspace;
    BatchNorm<float> p;

    explicit Forward(const Data& d)
        : x(d.x),
          gamma(d.gamma),
          beta(d.beta),
          y(d.x.size()),
          running_mean(std::vector<float>(d.gamma.size(), 0.0f)),
          running_var(std::vector<float>(d.gamma.size(), 1.0f)),
          mean(d.gamma.size()),
          rstd(d.gamma.size()),
          workspace(2 << 20),
          p{x.data(),
            gamma.data(),
            beta.data(),
            y.data(),
            running_mean.data(),
            running_var.data(),
            mean.data(),
            rstd.data(),
            d.batch,
            d.channels,
            d.space,
            1e-5f,
            0.1f,
            {workspace.data(), workspace.size()}} {}
  };
  // Whole vectors and single elements; channels of several blocks and blocks of several channels.
  for (const Data& d : {Data(3, 4, 2052), Data(2, 33, 49), Data(2, 8, 1501)}) {
    Doubles mean, rstd;
    const Doubles y = forward(d, doubles(d.x), doubles(d.gamma), doubles(d.beta), &mean, &rstd);
    std::vector<float> all;
    for (const size_t bytes : {kAllThereIs, size_t{0}, size_t{32}, size_t{4096}}) {
      const Forward device(d);
      batch_norm_together_keeping(device.p, bytes, nullptr);
      expect_near(device.y.download(), y, "together, " + std::to_string(bytes) + " bytes, " + d.text());
      if (all.empty()) all = device.y.download();
      EXPECT_EQ(device.y.download(), all) << bytes << " bytes, " << d.text();
    }
    // The same numbers in the other layout.
    const int rows = d.batch * d.space;
    Data last(1, d.channels, rows);
    last.gamma = d.gamma;
    last.beta = d.beta;
    Doubles last_y(y.size());
    for (int b = 0; b < d.batch; ++b)
      for (int c = 0; c < d.channels; ++c)
        for (int s = 0; s < d.space; ++s) {
          const size_t to = static_cast<size_t>((b * d.space + s) * d.channels + c);
          last.x[to] = d.x[d.at(b, c, s)];
          last_y[to] = y[d.at(b, c, s)];
        }
    all.clear();
    for (const size_t bytes : {kAllThereIs, size_t{0}, size_t{32}, size_t{4096}}) {
      const Forward device(last);
      batch_norm_last_together_keeping(device.p, bytes, nullptr);
      expect_near(device.y.download(), last_y, "last, " + std::to_string(bytes) + " bytes, " + d.text());
      if (all.empty()) all = device.y.download();
      EXPECT_EQ(device.y.download(), all) << bytes << " bytes, " << d.text();
    }
    all.clear();
    for (const size_t bytes : {kAllThereIs, size_t{0}, size_t{32}, size_t{4096}}) {
      const DeviceBackward device(d, mean, rstd);
      batch_norm_grad_together_keeping(device.p, bytes, nullptr);
      if (all.empty()) all = device.dx.download();
      EXPECT_EQ(device.dx.download(), all) << bytes << " bytes, " << d.text();
    }
  }
}

}  // namespace
}  // namespace day08
