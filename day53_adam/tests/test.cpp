// SPDX-License-Identifier: MIT
//
// The day's ladders are tested by themselves, and their wrong kernels are in wrong.cu. Here is the rest.
#include <cuda_fp8.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

#include "common/buffer.h"
#include "common/graph.h"
#include "common/random.h"
#include "common/stream.h"
#include "common/testing.h"
#include "day53_adam/adam.h"

namespace day53 {
namespace {

using days::DeviceBuffer;

TEST(Day53Rates, AreThoseOfTheFormula) {
  const AdamRule rule;
  const AdamRates first = adam_rates(rule, 0.1, 1);
  EXPECT_FLOAT_EQ(first.size, 1.0f);
  EXPECT_FLOAT_EQ(first.root, static_cast<float>(1 / std::sqrt(0.001)));
  EXPECT_FLOAT_EQ(first.decay, 0.001f);
  const AdamRates late = adam_rates(rule, 0.1, 10000000);
  EXPECT_EQ(late.size, 0.1f);
  EXPECT_EQ(late.root, 1.0f);
  EXPECT_THROW(adam_rates(rule, 0.1, 0), std::invalid_argument);
}

TEST(Day53Refuses, WhatIsNoProblem) {
  float* const nowhere = reinterpret_cast<float*>(uintptr_t{1} << 40);
  const auto tensor = [&](int64_t n) {
    return AdamTensor<float>{nowhere, nowhere, nowhere, nowhere, nullptr, n, true};
  };
  for (const auto& variant : days::variants<Adam<float>>("adam")) {
    EXPECT_THROW(variant.launch({{}, {}, 0.1, 1}), std::invalid_argument) << variant.name;
    EXPECT_THROW(variant.launch({{tensor(4), tensor(0)}, {}, 0.1, 1}), std::invalid_argument) << variant.name;
    EXPECT_THROW(variant.launch({{tensor(4)}, {}, 0.1, 0}), std::invalid_argument) << variant.name;
  }
  const days::Workspace enough{nowhere, size_t{1} << 40};
  for (const auto& variant : days::variants<AdamStep<days::bf16>>("adam_step")) {
    const AdamTensor<days::bf16> half{nowhere, nowhere, nowhere, nowhere, nullptr, 4, true}, none{};
    for (const float max_norm : {0.0f, -1.0f, std::nanf("")})
      EXPECT_THROW(variant.launch({{half}, {}, nullptr, max_norm, nowhere, enough}), std::invalid_argument)
          << variant.name;
    EXPECT_THROW(variant.launch({{none}, {}, nullptr, 1.0f, nowhere, enough}), std::invalid_argument)
        << variant.name;
  }
}

// The four numbers of the note: a first step by the learning rate, whatever the gradient is, until eps is felt.
TEST(Day53Adam, TheNotesExample) {
  const std::vector<float> g = {2, -1, 0, 1e-9f}, zeros(4);
  for (const auto& variant : days::variants<Adam<float>>("adam")) {
    const DeviceBuffer<float> w(zeros), m(zeros), v(zeros), gradient(g);
    variant.launch(
        {{{w.data(), gradient.data(), m.data(), v.data(), nullptr, 4, true}}, {.decay = 0}, 0.1, 1});
    CUDA_CHECK(cudaDeviceSynchronize());
    const std::vector<float> got = w.download();
    EXPECT_FLOAT_EQ(got[0], -0.1f) << variant.name;
    EXPECT_FLOAT_EQ(got[1], 0.1f) << variant.name;
    EXPECT_EQ(got[2], 0.0f) << variant.name;
    EXPECT_FLOAT_EQ(got[3], -0.1f / 11) << variant.name;
  }
}

// Three tensors of a size that is no chunk's, with all that a step needs.
struct Trained {
  static constexpr int kSize = 5003;
  DeviceBuffer<float> w{data(1, 0.02f)}, g{data(2, 1e-2f)}, m{std::vector<float>(3 * kSize)},
      v{std::vector<float>(3 * kSize)};
  DeviceBuffer<days::bf16> copy{3 * kSize};
  DeviceBuffer<float> norm{1}, rates{3};
  DeviceBuffer<unsigned char> memory{1 << 20};

  static std::vector<float> data(uint64_t seed, float scale) {
    std::vector<float> values(3 * kSize);
    for (size_t i = 0; i < values.size(); ++i) values[i] = scale * days::normal(seed, i);
    return values;
  }
  template <class T>
  std::vector<AdamTensor<T>> tensors() {
    std::vector<AdamTensor<T>> list;
    for (int i = 0; i < 3; ++i) {
      T* to = nullptr;
      if constexpr (std::is_same_v<T, days::bf16>) to = copy.data() + i * kSize;
      list.push_back({w.data() + i * kSize, g.data() + i * kSize, m.data() + i * kSize, v.data() + i * kSize,
                      to, kSize, i != 1});
    }
    return list;
  }
  template <class T>
  AdamStep<T> step(float max_norm) {
    return {tensors<T>(), {},          reinterpret_cast<const AdamRates*>(rates.data()),
            max_norm,     norm.data(), {memory.data(), size_t{1} << 20}};
  }
  void set(double lr, int64_t t) {
    const AdamRates now = adam_rates({}, lr, t);
    CUDA_CHECK(cudaMemcpy(rates.data(), &now, sizeof now, cudaMemcpyHostToDevice));
  }
};
bool same(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

// A factor of 1 is no change: what is not clipped is `table`, to the bit.
TEST(Day53Step, WithoutClippingIsTheUpdate) {
  Trained plain;
  adam_table<float>({plain.tensors<float>(), {}, 0.01, 3}, nullptr);
  CUDA_CHECK(cudaDeviceSynchronize());
  for (const auto launch : {step_apart<float>, step_clipped<float>, step_mixed<float>})
    for (const float max_norm : {1e9f, std::numeric_limits<float>::infinity()}) {
      Trained stepped;
      stepped.set(0.01, 3);
      launch(stepped.step<float>(max_norm), nullptr);
      CUDA_CHECK(cudaDeviceSynchronize());
      EXPECT_TRUE(same(plain.w.download(), stepped.w.download())) << max_norm;
      EXPECT_TRUE(same(plain.m.download(), stepped.m.download())) << max_norm;
      EXPECT_TRUE(same(plain.v.download(), stepped.v.download())) << max_norm;
    }
}

// Twelve steps of one graph, whose rates alone change, are twelve launches; the order of threads changes no bit; and the copy is
// the master, rounded.
TEST(Day53Step, AGraphTrains) {
  std::vector<float> first;
  for (int run = 0; run < days::kRunsInOrder; ++run) {
    const days::InOrder order(run);
    Trained trained;
    const AdamStep<days::bf16> p = trained.step<days::bf16>(0.1f);
    days::Stream stream;
    const bool by_graph = run % 2 == 1;
    std::optional<days::Graph> graph;
    if (by_graph) graph.emplace(stream, [&] { step_mixed(p, stream); });
    for (int t = 1; t <= 12; ++t) {
      trained.set(0.01, t);
      if (by_graph) {
        graph->launch(stream);
      } else {
        step_mixed(p, stream);
      }
      CUDA_CHECK(cudaStreamSynchronize(stream));
    }
    const std::vector<float> got = trained.w.download();
    if (first.empty()) first = got;
    ASSERT_TRUE(same(first, got)) << "run " << run;
    const std::vector<days::bf16> copy = trained.copy.download();
    for (size_t i = 0; i < got.size(); ++i)
      ASSERT_EQ(days::to_float(copy[i]), days::to_float(days::from_float<days::bf16>(got[i]))) << i;
  }
}

// A number lies halfway between two codes so seldom that nearly all are the reference's.
TEST(Day53Bytes, CodesAreTheNearest) {
  constexpr int kSize = 9 * kGroup + 77, kGroups = 10;
  std::vector<float> w(kSize), g(kSize), zeros(kGroups);
  for (size_t i = 0; i < w.size(); ++i) {
    w[i] = 0.02f * days::normal(1, i);
    g[i] = 1e-3f * days::normal(2, i);
  }
  // Codes of m begin at an odd place, where floats are aligned.
  std::vector<days::fp8_e4m3> codes(kSize + 1, days::fp8_e4m3(0.0f));
  AdamRates rates = adam_rates({}, 0.01, 1);
  const DeviceBuffer<float> on_device(std::vector<float>{rates.decay, rates.size, rates.root}), norm(1),
      w_there(w), g_there(g), m_scale(zeros), r_scale(zeros);
  const DeviceBuffer<days::fp8_e4m3> m(codes), r(codes);
  const DeviceBuffer<unsigned char> memory(1024);
  step_bytes<float>({{{w_there.data(), g_there.data(), m.data() + 1, r.data(), m_scale.data(), r_scale.data(),
                       nullptr, kSize, true}},
                     {},
                     reinterpret_cast<const AdamRates*>(on_device.data()),
                     1e9f,
                     norm.data(),
                     {memory.data(), 1024}},
                    nullptr);
  CUDA_CHECK(cudaDeviceSynchronize());
  std::vector<days::fp8_e4m3> m_host = codes, r_host = codes;
  std::vector<float> m_scales = zeros, r_scales = zeros;
  std::vector<days::bf16> copy(kSize);
  float found = 0;
  bytes_reference<days::bf16>({{{w.data(), g.data(), m_host.data(), r_host.data(), m_scales.data(),
                                 r_scales.data(), copy.data(), kSize, true}},
                               {},
                               &rates,
                               1e9f,
                               &found,
                               {}});
  const std::vector<days::fp8_e4m3> m_got = m.download(), r_got = r.download();
  int others = 0;
  for (size_t i = 0; i < w.size(); ++i)
    others += static_cast<float>(m_got[i + 1]) != static_cast<float>(m_host[i]) ||
              static_cast<float>(r_got[i]) != static_cast<float>(r_host[i]);
  EXPECT_LE(others, kSize / 200);
}

// Gradients of (w - target)^2 / 2, a hundred-thousandth of them for every seventh weight: Adam divides by their size, so all weights
// come from 0, which is 0.4 away, near their target, with m and v in fp32 and in eight bits. What is left is the last steps' size.
template <class Step>
double trained(Step step) {
  constexpr int kSize = 600, kSteps = 80;
  std::vector<float> w(kSize), target(kSize), g(kSize);
  for (size_t i = 0; i < w.size(); ++i) target[i] = 0.5f * days::normal(3, i);
  DeviceBuffer<float> w_there(w), g_there(g), rates(3), norm(1);
  double error = 0;
  for (int t = 1; t <= kSteps; ++t) {
    for (size_t i = 0; i < w.size(); ++i) g[i] = (i % 7 == 0 ? 1e-5f : 1.0f) * (w[i] - target[i]);
    g_there.upload(g);
    const AdamRates now = adam_rates({.b2 = 0.99, .decay = 0}, t < 60 ? 0.05 : 0.01, t);
    rates.upload({now.decay, now.size, now.root});
    step(w_there.data(), g_there.data(), reinterpret_cast<const AdamRates*>(rates.data()), norm.data(),
         kSize);
    CUDA_CHECK(cudaDeviceSynchronize());
    w = w_there.download();
  }
  for (size_t i = 0; i < w.size(); ++i) error += std::abs(double{w[i]} - double{target[i]}) / kSize;
  return error;
}
TEST(Day53Bytes, TrainsAsFloatsDo) {
  constexpr size_t kMost = 1024;
  const AdamRule rule{.b2 = 0.99, .decay = 0};
  const DeviceBuffer<unsigned char> memory(1024);
  const days::Workspace workspace{memory.data(), 1024};
  const std::vector<float> zeros(kMost);
  const DeviceBuffer<float> m(zeros), v(zeros), m_scale(zeros), r_scale(zeros);
  const std::vector<days::fp8_e4m3> codes(kMost, days::fp8_e4m3(0.0f));
  const DeviceBuffer<days::fp8_e4m3> m_codes(codes), r_codes(codes);  // of which r's begin at an odd place
  const double in_fp32 =
      trained([&](float* w, const float* g, const AdamRates* rates, float* norm, int64_t n) {
        step_mixed<float>(
            {{{w, g, m.data(), v.data(), nullptr, n, true}}, rule, rates, 1e9f, norm, workspace}, nullptr);
      });
  const double in_bytes =
      trained([&](float* w, const float* g, const AdamRates* rates, float* norm, int64_t n) {
        step_bytes<float>(
            {{{w, g, m_codes.data(), r_codes.data() + 1, m_scale.data(), r_scale.data(), nullptr, n, true}},
             rule,
             rates,
             1e9f,
             norm,
             workspace},
            nullptr);
      });
  std::printf("distance from the target: %.4f with fp32, %.4f with bytes\n", in_fp32, in_bytes);
  EXPECT_LT(in_fp32, 0.02);
  EXPECT_LT(in_bytes, 0.03);
}

}  // namespace
}  // namespace day53
