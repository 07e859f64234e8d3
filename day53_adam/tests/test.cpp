// SPDX-License-Identifier: MIT
//
// The day's ladders are tested by themselves, and their wrong kernels are in wrong.cu. Here is the rest.
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

}  // namespace
}  // namespace day53
