// SPDX-License-Identifier: MIT
//
// The day's ladders are tested by themselves, and their wrong kernels are in wrong.cu. Here is the rest.
#include <cmath>
#include <limits>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

#include "common/buffer.h"
#include "common/instance.h"
#include "common/stream.h"
#include "common/testing.h"
#include "day44_gegelu/formulas.h"
#include "day44_gegelu/gegelu.h"
#include "day44_gegelu/silu.h"
#include "day44_gegelu/swiglu.h"

namespace day44 {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

TEST(Day44Refuses, WhatIsNoProblem) {
  alignas(16) static float x[64] = {}, y[64] = {}, dy[64] = {};
  const days::Workspace workspace = {dy, sizeof dy};
  for (const auto& variant : days::variants<Geglu<float>>("geglu")) {
    for (const auto& [rows, cols] : {std::pair<int64_t, int64_t>{0, 4},
                                     {4, 0},
                                     {-1, 4},
                                     {4, -4},
                                     {int64_t{1} << 33, 4},
                                     {4, int64_t{1} << 45},
                                     {int64_t{1} << 32, int64_t{1} << 32}})
      EXPECT_THROW(variant.launch({x, y, rows, cols, workspace}), std::invalid_argument)
          << variant.name << " " << rows << " x " << cols;
    EXPECT_THROW(variant.launch({x, x + 4, 1, 4, workspace}), std::invalid_argument) << variant.name;
    EXPECT_THROW(variant.launch({x + 4, x, 2, 4, workspace}), std::invalid_argument) << variant.name;
  }
  for (const auto& variant : days::variants<Gegelu<float>>("gegelu")) {
    for (const auto& [rows, cols] : {std::pair<int64_t, int64_t>{0, 4},
                                     {4, 0},
                                     {-1, 4},
                                     {4, -4},
                                     {int64_t{1} << 45, 1},
                                     {4, int64_t{1} << 45},
                                     {int64_t{1} << 32, int64_t{1} << 32}})
      EXPECT_THROW(variant.launch({x, y, rows, cols, 20}), std::invalid_argument)
          << variant.name << " " << rows << " x " << cols;
    for (const float limit : {0.0f, -20.0f, std::nanf("")})
      EXPECT_THROW(variant.launch({x, y, 1, 4, limit}), std::invalid_argument)
          << variant.name << ", limit " << limit;
    EXPECT_THROW(variant.launch({x, x + 4, 1, 4, 20}), std::invalid_argument) << variant.name;
  }
  for (const auto& variant : days::variants<GegluBackward<float>>("geglu_backward")) {
    EXPECT_THROW(variant.launch({x, dy, y, 0, 4}), std::invalid_argument) << variant.name;
    EXPECT_THROW(variant.launch({x, dy, x + 4, 1, 4}), std::invalid_argument) << variant.name;
    EXPECT_THROW(variant.launch({x, y + 4, y, 1, 4}), std::invalid_argument) << variant.name;
  }
  for (const auto& variant : days::variants<GegeluBackward<float>>("gegelu_backward")) {
    EXPECT_THROW(variant.launch({x, dy, y, 4, 0, 20}), std::invalid_argument) << variant.name;
    EXPECT_THROW(variant.launch({x, dy, y, 1, 4, -1}), std::invalid_argument) << variant.name;
    EXPECT_THROW(variant.launch({x, dy, x + 4, 1, 4, 20}), std::invalid_argument) << variant.name;
    EXPECT_THROW(variant.launch({x, y + 4, y, 1, 4, 20}), std::invalid_argument) << variant.name;
  }
  // At an address of whole vectors and at another: two ways through the launcher.
  for (const int past : {0, 1}) {
    for (const auto& variant : days::variants<Swiglu<float>>("swiglu")) {
      for (const auto& [rows, cols] :
           {std::pair<int64_t, int64_t>{0, 4}, {4, 0}, {int64_t{1} << 33, 4}, {4, int64_t{1} << 45}})
        EXPECT_THROW(variant.launch({x + past, y, rows, cols}), std::invalid_argument)
            << rows << " x " << cols;
      EXPECT_THROW(variant.launch({x + past, x + 4, 1, 4}), std::invalid_argument);
    }
    for (const auto& variant : days::variants<SwigluBackward<float>>("swiglu_backward")) {
      EXPECT_THROW(variant.launch({x + past, dy, y, 0, 4}), std::invalid_argument);
      EXPECT_THROW(variant.launch({x + past, dy, x + 4, 1, 4}), std::invalid_argument);
      EXPECT_THROW(variant.launch({x + past, y + 4, y, 1, 4}), std::invalid_argument);
    }
  }
}

template <class P, class T>
std::vector<T> result_of(const days::Variant<P>& variant, P p, const std::vector<T>& x,
                         const std::vector<T>* dy) {
  const size_t outputs = dy ? x.size() : x.size() / 2;
  days::DeviceBuffer<T> in(x.size()), gradient(x.size()), out(outputs), scratch(x.size());
  CUDA_CHECK(cudaMemcpy(in.data(), x.data(), x.size() * sizeof(T), cudaMemcpyHostToDevice));
  p.x = in.data();
  if constexpr (requires { p.dy; }) {
    CUDA_CHECK(cudaMemcpy(gradient.data(), dy->data(), dy->size() * sizeof(T), cudaMemcpyHostToDevice));
    p.dy = gradient.data();
    p.dx = out.data();
  } else {
    p.y = out.data();
  }
  if constexpr (requires { p.workspace; }) p.workspace = {scratch.data(), x.size() * sizeof(T)};
  variant.launch(p);
  std::vector<T> y(outputs);
  CUDA_CHECK(cudaMemcpy(y.data(), out.data(), outputs * sizeof(T), cudaMemcpyDeviceToHost));
  return y;
}

// The ladders' tolerances are absolute near 0, where a kernel that makes 0 of all small gates would pass.
TEST(Day44, SmallGatesKeepTheirDigits) {
  constexpr int kCount = 96;
  std::vector<float> pairs(2 * kCount), halves(2 * kCount);
  for (int i = 0; i < kCount; ++i) {
    pairs[2 * i] = halves[i] = std::ldexp(i % 2 == 0 ? 1.3f : -1.3f, -(i + 12));
    pairs[2 * i + 1] = halves[kCount + i] = 0.7f;
  }
  const auto near = [](float got, double want, const std::string& name) {
    EXPECT_LE(std::abs(static_cast<double>(got) - want), 4e-6 * std::abs(want)) << name;
  };
  for (const auto& variant : days::variants<Geglu<float>>("geglu")) {
    const auto y =
        result_of<Geglu<float>, float>(variant, {nullptr, nullptr, 1, kCount, {}}, halves, nullptr);
    for (int i = 0; i < kCount; ++i)
      near(y[i], exact_geglu(static_cast<double>(halves[i]), static_cast<double>(0.7f)), variant.name);
  }
  for (const auto& variant : days::variants<Swiglu<float>>("swiglu")) {
    const auto y = result_of<Swiglu<float>, float>(variant, {nullptr, nullptr, 1, kCount}, halves, nullptr);
    for (int i = 0; i < kCount; ++i)
      near(y[i], exact_swiglu(static_cast<double>(halves[i]), static_cast<double>(0.7f)), variant.name);
  }
  for (const auto& variant : days::variants<Gegelu<float>>("gegelu")) {
    const auto y =
        result_of<Gegelu<float>, float>(variant, {nullptr, nullptr, 1, kCount, 20}, pairs, nullptr);
    for (int i = 0; i < kCount; ++i)
      near(y[i], exact_gegelu(static_cast<double>(halves[i]), static_cast<double>(0.7f), 20), variant.name);
  }
}

// Some hundred thousand normal numbers have gates near 0 among them, whose gelu is denormal in fp16: a rung that rounds it, as
// unfused does, is not wrong. The ladder's special values, one of which is the largest number, must not say so.
TEST(Day44, SpecialValuesTakeARoundedGelu) {
  const auto [ladder, type] = days::testing_detail::find_ladder("geglu", typeid(Geglu<days::half>));
  size_t maker = 0;
  while (ladder.makers.at(maker).name != "special values") ++maker;
  days::Instance instance(ladder, type, {16, 8193}, maker);
  const days::Stream stream;
  const days::Report report = instance.run(ladder.rows.at(0), stream);
  EXPECT_TRUE(report.ok()) << ladder.rows.at(0).name << ":\n" << report.text();
}

// limit is the problem's and not a constant of the kernels', and inf clamps nothing.
TEST(Day44, LimitIsObeyed) {
  const std::vector<float> x = {3, 1, 1, 3, 1, -3, 30, 40, kInf, 1, 1, -kInf}, dy(6, 1.0f);
  for (const float limit : {2.5f, 3.0f, 35.0f, kInf}) {
    for (const auto& variant : days::variants<Gegelu<float>>("gegelu")) {
      const auto y = result_of<Gegelu<float>, float>(variant, {nullptr, nullptr, 1, 6, limit}, x, nullptr);
      for (size_t i = 0; i < 6; ++i) {
        const double want = exact_gegelu(static_cast<double>(x[2 * i]), static_cast<double>(x[2 * i + 1]),
                                         static_cast<double>(limit));
        EXPECT_TRUE(y[i] == want || std::abs(y[i] - want) <= 1e-5 * std::abs(want))
            << variant.name << ", limit " << limit << ": y[" << i << "] is " << y[i] << ", expected " << want;
      }
    }
    for (const auto& variant : days::variants<GegeluBackward<float>>("gegelu_backward")) {
      const auto dx =
          result_of<GegeluBackward<float>, float>(variant, {nullptr, nullptr, nullptr, 1, 6, limit}, x, &dy);
      for (size_t i = 0; i < 6; ++i) {
        const ExactGradient want = exact_gegelu_gradient(
            static_cast<double>(x[2 * i]), static_cast<double>(x[2 * i + 1]), 1, static_cast<double>(limit));
        for (const auto& [got, right] : {std::pair{dx[2 * i], want.gate}, {dx[2 * i + 1], want.value}})
          EXPECT_TRUE(got == right || std::abs(got - right) <= 1e-5 * std::abs(right))
              << variant.name << ", limit " << limit << ": of pair " << i << " " << got << ", expected "
              << right;
      }
    }
  }
}

// The derivatives that the reference has are those of its functions: a small step either way, in double. Nothing of the
// kernels' is used here.
TEST(Day44, GradientsAreFiniteDifferences) {
  constexpr double kStep = 1e-5, kLimit = 2;
  for (double gate = -6.013; gate < 6; gate += 0.37) {
    for (double value = -4.009; value < 4; value += 0.53) {
      const auto difference = [&](auto f, bool of_gate) {
        const double by_gate = of_gate ? kStep : 0, by_value = of_gate ? 0 : kStep;
        return (f(gate + by_gate, value + by_value) - f(gate - by_gate, value - by_value)) / (2 * kStep);
      };
      const auto clamped = [&](double g, double v) { return exact_gegelu(g, v, kLimit); };
      const ExactGradient plain = exact_geglu_gradient(gate, value, 1);
      EXPECT_NEAR(difference(exact_geglu, true), plain.gate, 1e-8) << gate << " " << value;
      EXPECT_NEAR(difference(exact_geglu, false), plain.value, 1e-8) << gate << " " << value;
      const ExactGradient third = exact_swiglu_gradient(gate, value, 1);
      EXPECT_NEAR(difference(exact_swiglu, true), third.gate, 1e-8) << gate << " " << value;
      EXPECT_NEAR(difference(exact_swiglu, false), third.value, 1e-8) << gate << " " << value;
      const ExactGradient held = exact_gegelu_gradient(gate, value, 1, kLimit);
      EXPECT_NEAR(difference(clamped, true), held.gate, 1e-8) << gate << " " << value;
      EXPECT_NEAR(difference(clamped, false), held.value, 1e-8) << gate << " " << value;
    }
  }
}

}  // namespace
}  // namespace day44
