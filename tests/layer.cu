// SPDX-License-Identifier: MIT
//
// A layer of a transformer on the last rungs of days 12, 43 and 66, which are linked and not copied: layer norm, three projections, causal
// attention, a projection back, and the first half of the layer behind it, max(x W + b, 0). First each launcher in turn, compared with
// float on the CPU at each step; then all of them as one CUDA graph, which must give the same bits, twice.
//
//   nvcc -O3 -std=c++20 -arch=sm_80 -I. common/core.cpp common/program/program.cpp day12_layer_norm/[0-9]*.cu day43_flash_attention/[0-9]*.cu day66_tensor_core_matmul/[0-9]*.cu tests/layer.cu -o layer && ./layer

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "common/buffer.h"
#include "common/compare.h"
#include "common/device.h"
#include "common/graph.h"
#include "common/program.h"
#include "common/random.h"
#include "common/types.h"
#include "day12_layer_norm/layer_norm.h"
#include "day43_flash_attention/attention.h"
#include "day66_tensor_core_matmul/matmul.h"

namespace {

using days::half;
using Halves = days::DeviceBuffer<half>;

constexpr int kBatch = 2, kWidth = 128, kDim = 64, kInner = 256;
constexpr float kEps = 1e-5f;

std::vector<half> random_halves(uint64_t seed, size_t n, double scale, double mean = 0) {
  std::vector<half> values(n);
  for (size_t i = 0; i < n; ++i) values[i] = half(static_cast<float>(mean + scale * days::normal(seed, i)));
  return values;
}
std::vector<float> floats(const std::vector<half>& values) {
  std::vector<float> result(values.size());
  for (size_t i = 0; i < values.size(); ++i) result[i] = static_cast<float>(values[i]);
  return result;
}

// What the CPU makes of each step, from what the GPU made of the step before: errors do not add up.
std::vector<float> normed(const std::vector<float>& x, const std::vector<float>& gamma,
                          const std::vector<float>& beta) {
  std::vector<float> y(x.size());
  for (size_t row = 0; row < x.size() / kWidth; ++row) {
    const float* from = x.data() + row * kWidth;
    double mean = 0, variance = 0;
    for (int i = 0; i < kWidth; ++i) mean += from[i] / static_cast<double>(kWidth);
    for (int i = 0; i < kWidth; ++i) variance += (from[i] - mean) * (from[i] - mean) / kWidth;
    for (int i = 0; i < kWidth; ++i) {
      const double unit = (from[i] - mean) / std::sqrt(variance + static_cast<double>(kEps));
      y[row * kWidth + i] = static_cast<float>(unit * gamma[i] + beta[i]);
    }
  }
  return y;
}
std::vector<float> product(const std::vector<float>& a, const std::vector<float>& b, int n, int k) {
  std::vector<float> c(a.size() / k * n);
  for (size_t row = 0; row < a.size() / k; ++row) {
    for (int i = 0; i < k; ++i) {
      const float factor = a[row * k + i];
      for (int col = 0; col < n; ++col) c[row * n + col] += factor * b[static_cast<size_t>(i) * n + col];
    }
  }
  return c;
}
std::vector<float> attended(const std::vector<float>& q, const std::vector<float>& k,
                            const std::vector<float>& v, int seq) {
  std::vector<float> o(q.size());
  std::vector<double> weights(seq);
  for (size_t row = 0; row < q.size() / kDim; ++row) {
    const size_t first = row / seq * seq, keys = row - first + 1;
    double most = -std::numeric_limits<double>::infinity(), sum = 0;
    for (size_t key = 0; key < keys; ++key) {
      double score = 0;
      for (int i = 0; i < kDim; ++i)
        score += static_cast<double>(q[row * kDim + i]) * static_cast<double>(k[(first + key) * kDim + i]);
      weights[key] = score / std::sqrt(static_cast<double>(kDim));
      most = std::max(most, weights[key]);
    }
    for (size_t key = 0; key < keys; ++key) sum += weights[key] = std::exp(weights[key] - most);
    for (size_t key = 0; key < keys; ++key)
      for (int i = 0; i < kDim; ++i)
        o[row * kDim + i] +=
            static_cast<float>(weights[key] / sum * static_cast<double>(v[(first + key) * kDim + i]));
  }
  return o;
}

// The layer's memory, and its launchers in their order.
struct Layer {
  explicit Layer(int length)
      : seq(length),
        tokens(kBatch * length),
        x(random_halves(1, elements(kWidth), 1, 0.5)),
        gamma(random_halves(2, kWidth, 0.1, 1)),
        beta(random_halves(3, kWidth, 0.1)),
        to_q(random_halves(4, kWidth * kDim, 0.1)),
        to_k(random_halves(5, kWidth * kDim, 0.1)),
        to_v(random_halves(6, kWidth * kDim, 0.1)),
        back(random_halves(7, kDim * kWidth, 0.1)),
        to_inner(random_halves(8, kWidth * kInner, 0.1)),
        bias(random_halves(9, kInner, 0.5)),
        norm(elements(kWidth)),
        q(elements(kDim)),
        k(elements(kDim)),
        v(elements(kDim)),
        o(elements(kDim)),
        projected(elements(kWidth)),
        inner(elements(kInner)),
        mean(tokens),
        rstd(tokens),
        lse(tokens) {}

  size_t elements(int each) const { return static_cast<size_t>(tokens) * static_cast<size_t>(each); }

  void normalize(cudaStream_t stream) const {
    day12::layer_norm_persistent<half>(
        {x.data(), gamma.data(), beta.data(), norm.data(), mean.data(), rstd.data(), tokens, kWidth, kEps},
        stream);
  }
  void attend(cudaStream_t stream) const {
    day43::attention_wide<half>({q.data(), k.data(), v.data(), o.data(), lse.data(), kBatch, 1, seq, seq,
                                 kDim, 1 / std::sqrt(static_cast<float>(kDim)), true},
                                stream);
  }
  void run(cudaStream_t stream) const {
    normalize(stream);
    day66::matmul_grouped<half>({norm.data(), to_q.data(), q.data(), tokens, kDim, kWidth}, stream);
    day66::matmul_grouped<half>({norm.data(), to_k.data(), k.data(), tokens, kDim, kWidth}, stream);
    day66::matmul_grouped<half>({norm.data(), to_v.data(), v.data(), tokens, kDim, kWidth}, stream);
    attend(stream);
    day66::matmul_grouped<half>({o.data(), back.data(), projected.data(), tokens, kWidth, kDim}, stream);
    day66::linear_fused<half>(
        {{projected.data(), to_inner.data(), inner.data(), tokens, kInner, kWidth}, bias.data()}, stream);
  }

  int seq, tokens;
  Halves x, gamma, beta, to_q, to_k, to_v, back, to_inner, bias;
  Halves norm, q, k, v, o, projected, inner;
  days::DeviceBuffer<float> mean, rstd, lse;
};

// Right to within what rounding to fp16 and sums of fp16's products leave.
void near(days::Program& program, const Halves& got, const std::vector<float>& expected, const char* name) {
  program.compare(floats(got.download()).data(), expected.data(), expected.size(), name, {2e-3, 2e-3});
}

std::vector<uint32_t> bits(const Halves& values) {
  const std::vector<half> host = values.download();
  std::vector<uint32_t> result(host.size());
  for (size_t i = 0; i < host.size(); ++i) {
    uint16_t two_bytes;
    std::memcpy(&two_bytes, &host[i], sizeof two_bytes);
    result[i] = two_bytes;
  }
  return result;
}

void run_layer(days::Program& program) {
  if (!days::sm_80.met(days::query_device())) return program.skip("needs sm_80");
  const days::Stream stream;
  const Layer layer(static_cast<int>(program.number("--size")));
  layer.run(stream);
  CUDA_CHECK(cudaStreamSynchronize(stream));

  const std::vector<float> norm = floats(layer.norm.download());
  near(program, layer.norm,
       normed(floats(layer.x.download()), floats(layer.gamma.download()), floats(layer.beta.download())),
       "layer norm");
  near(program, layer.q, product(norm, floats(layer.to_q.download()), kDim, kWidth), "q");
  near(program, layer.k, product(norm, floats(layer.to_k.download()), kDim, kWidth), "k");
  near(program, layer.v, product(norm, floats(layer.to_v.download()), kDim, kWidth), "v");
  near(
      program, layer.o,
      attended(floats(layer.q.download()), floats(layer.k.download()), floats(layer.v.download()), layer.seq),
      "attention");
  near(program, layer.projected,
       product(floats(layer.o.download()), floats(layer.back.download()), kWidth, kDim), "projection");
  std::vector<float> inner =
      product(floats(layer.projected.download()), floats(layer.to_inner.download()), kInner, kWidth);
  const std::vector<float> bias = floats(layer.bias.download());
  for (size_t i = 0; i < inner.size(); ++i) inner[i] = std::max(inner[i] + bias[i % kInner], 0.0f);
  near(program, layer.inner, inner, "max(x W + b, 0)");

  const Halves* const made[] = {&layer.norm, &layer.q,         &layer.k,    &layer.v,
                                &layer.o,    &layer.projected, &layer.inner};
  std::vector<std::vector<uint32_t>> first;
  for (const Halves* values : made) first.push_back(bits(*values));
  const days::Graph graph(stream, [&] { layer.run(stream); });
  const size_t launches = static_cast<size_t>(program.number("--launches"));
  for (size_t launch = 1; launch <= launches; ++launch) {
    program.progress(launch, launches, "launch");
    for (const Halves* values : made)
      CUDA_CHECK(cudaMemsetAsync(values->data(), 0xff, values->size() * sizeof(half), stream));
    graph.launch(stream);
    CUDA_CHECK(cudaStreamSynchronize(stream));
    for (size_t i = 0; i < first.size(); ++i)
      program.compare(bits(*made[i]).data(), first[i].data(), first[i].size(),
                      ("launch " + std::to_string(launch) + " of the graph").c_str());
  }
  if (!days::on_gpu()) return;
  const double tokens = layer.tokens;
  program.table({.unit = "token", .units = tokens, .part = "whole"});
  program.row("launches", days::time_streams({stream}, 20, [&] { layer.run(stream); }));
  program.row("graph", days::time_streams({stream}, 20, [&] { graph.launch(stream); }));
  program.table({.unit = "token", .units = tokens, .part = "parts"});
  program.row("layer norm", days::time_streams({stream}, 20, [&] { layer.normalize(stream); }));
  program.row("attention", days::time_streams({stream}, 20, [&] { layer.attend(stream); }));
}

}  // namespace

int main(int argc, char** argv) {
  const days::About about{
      .name = "layer",
      .does = "a transformer's layer on three days' kernels",
      .gpu_size = 0,
      .cpu_size = 0,
      .type = "fp16",
      .flags = {days::number_flag("--size", "tokens of a sequence", days::on_gpu() ? 512 : 75, 1, 4096),
                days::number_flag("--launches", "launches of the graph", 2, 1, 1000)}};
  return days::program(argc, argv, about, [](days::Program& program) { run_layer(program); });
}
