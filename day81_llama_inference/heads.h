// SPDX-License-Identifier: MIT
// Day 81: what judges who attends with fewer heads of keys than of queries, for the program and for the exercise.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "common/buffer.h"
#include "common/compare.h"
#include "common/program.h"
#include "common/random.h"

namespace day81 {

// A token's attention to `keys` tokens. Query head h of `heads` has its own head of keys and values among kv_heads, which divides heads;
// neighbouring query heads share one. dim is 64.
struct Heads {
  const float* q;      // (heads, dim)
  const float *k, *v;  // (kv_heads, keys, dim)
  float* o;            // (heads, dim)
  int heads, kv_heads, keys;
};
inline constexpr int kDim = 64;

using Attention = void (*)(const Heads&, cudaStream_t);

inline std::vector<float> expected_heads(const std::vector<float>& q, const std::vector<float>& k,
                                         const std::vector<float>& v, int heads, int kv_heads, int keys) {
  std::vector<float> o;
  for (int h = 0; h < heads; ++h) {
    // The heads of a group stand beside each other: 0 1 2 read the first head of keys, 3 4 5 the second.
    const int group = heads / kv_heads, kv = h / group;
    std::vector<double> weights, row(kDim);
    double sum = 0;
    for (int s = 0; s < keys; ++s) {
      double score = 0;
      for (int d = 0; d < kDim; ++d)
        score += static_cast<double>(q[static_cast<size_t>(h * kDim + d)]) *
                 static_cast<double>(k[static_cast<size_t>((kv * keys + s) * kDim + d)]);
      weights.push_back(std::exp(score / std::sqrt(kDim)));
      sum += weights.back();
    }
    for (int s = 0; s < keys; ++s)
      for (int d = 0; d < kDim; ++d)
        row[static_cast<size_t>(d)] +=
            weights[static_cast<size_t>(s)] / sum *
            static_cast<double>(v[static_cast<size_t>((kv * keys + s) * kDim + d)]);
    for (const double value : row) o.push_back(static_cast<float>(value));
  }
  return o;
}

inline int heads_program(int argc, char** argv, const char* name, const char* does, Attention attention) {
  const days::About about{.name = name, .does = does, .gpu_size = 0, .cpu_size = 0};
  return days::program(argc, argv, about, [attention](days::Program& program) {
    constexpr struct {
      int heads, kv_heads, keys;
    } kShapes[] = {{9, 3, 20}, {4, 4, 33}, {3, 1, 1}, {8, 2, 40}};
    for (const auto& [heads, kv_heads, keys] : kShapes) {
      const auto values = [&](int n, uint64_t stream) {
        std::vector<float> all;
        for (int i = 0; i < n * kDim; ++i) all.push_back(days::normal(stream, static_cast<uint64_t>(i)));
        return all;
      };
      const std::vector<float> q = values(heads, 1), k = values(kv_heads * keys, 2),
                               v = values(kv_heads * keys, 3);
      const days::Stream stream;
      const days::DeviceMemory on_device((q.size() * 2 + k.size() * 2) * sizeof(float));
      auto* const at = static_cast<float*>(on_device.data());
      float *const at_k = at + q.size(), *const at_v = at_k + k.size(), *const at_o = at_v + v.size();
      const auto put = [&](float* to, const std::vector<float>& from) {
        CUDA_CHECK(
            cudaMemcpyAsync(to, from.data(), from.size() * sizeof(float), cudaMemcpyHostToDevice, stream));
      };
      put(at, q), put(at_k, k), put(at_v, v);
      attention({at, at_k, at_v, at_o, heads, kv_heads, keys}, stream);
      std::vector<float> o(q.size());
      CUDA_CHECK(cudaMemcpyAsync(o.data(), at_o, o.size() * sizeof(float), cudaMemcpyDeviceToHost, stream));
      CUDA_CHECK(cudaStreamSynchronize(stream));
      const std::vector<float> expected = expected_heads(q, k, v, heads, kv_heads, keys);
      const std::string what =
          std::to_string(heads) + " heads of queries, " + std::to_string(kv_heads) + " of keys";
      program.compare(o.data(), expected.data(), o.size(), what.c_str(), {1e-5, 1e-5});
    }
  });
}

}  // namespace day81
