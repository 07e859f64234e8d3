// SPDX-License-Identifier: MIT
//
// A generator's model in double by obvious loops, without a cache: for models as small as the tests'.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "common/random.h"
#include "serve/model.h"

namespace serve_test {

using Row = std::vector<double>;

inline Row normalized(const serve::Config& c, const Row& x, const std::vector<float>& gamma,
                      const std::vector<float>& beta) {
  double mean = 0, square = 0;
  for (const double value : x) mean += value / static_cast<double>(x.size());
  if (c.norm == serve::Norm::kRms) mean = 0;
  for (const double value : x) square += (value - mean) * (value - mean) / static_cast<double>(x.size());
  Row y;
  for (size_t i = 0; i < x.size(); ++i) {
    y.push_back((x[i] - mean) / std::sqrt(square + static_cast<double>(c.eps)) *
                static_cast<double>(gamma[i]));
    if (!beta.empty()) y.back() += static_cast<double>(beta[i]);
  }
  return y;
}
inline Row product(const Row& x, const std::vector<float>& w, const std::vector<float>& bias) {
  Row y(w.size() / x.size());
  for (size_t o = 0; o < y.size(); ++o) {
    if (!bias.empty()) y[o] = static_cast<double>(bias[o]);
    for (size_t i = 0; i < x.size(); ++i) y[o] += x[i] * static_cast<double>(w[o * x.size() + i]);
  }
  return y;
}
inline void turn(Row* row, size_t begin, const serve::Config& c, int position) {
  const auto half = static_cast<size_t>(c.head_dim / 2);
  for (size_t i = 0; i < half; ++i) {
    double turn = std::pow(c.base, -2.0 * static_cast<double>(i) / static_cast<double>(c.head_dim));
    // Llama 3.1's text: long waves are stretched, short ones are not.
    const double wave = 2 * std::acos(-1.0) / turn, learnt = c.stretch.context;
    if (c.stretch.factor > 0 && wave > learnt / c.stretch.high) {
      const double smooth = (learnt / wave - c.stretch.low) / (c.stretch.high - c.stretch.low);
      turn = wave > learnt / c.stretch.low ? turn / c.stretch.factor
                                           : (1 - smooth) * turn / c.stretch.factor + smooth * turn;
    }
    const double angle = position * turn;
    const double a = (*row)[begin + i], b = (*row)[begin + half + i];
    (*row)[begin + i] = a * std::cos(angle) - b * std::sin(angle);
    (*row)[begin + half + i] = a * std::sin(angle) + b * std::cos(angle);
  }
}

// The logits behind each of the tokens.
inline std::vector<Row> reference(const serve::Model& model, std::span<const int32_t> tokens) {
  const serve::Config& c = model.config;
  const serve::Weights& w = model.weights;
  const auto width = static_cast<size_t>(c.width), dim = static_cast<size_t>(c.head_dim);
  const auto heads = static_cast<size_t>(c.heads), kv_heads = static_cast<size_t>(c.kv_heads);
  std::vector<Row> x;
  for (size_t t = 0; t < tokens.size(); ++t) {
    x.emplace_back();
    for (size_t i = 0; i < width; ++i) {
      double value = static_cast<double>(w.tokens[static_cast<size_t>(tokens[t]) * width + i]);
      if (c.places == serve::Places::kTable) value += static_cast<double>(w.positions[t * width + i]);
      x.back().push_back(value);
    }
  }
  for (const serve::Weights::Layer& l : w.layers) {
    std::vector<Row> qkv;
    for (size_t t = 0; t < x.size(); ++t) {
      qkv.push_back(product(normalized(c, x[t], l.norm1, l.norm1_bias), l.qkv, l.qkv_bias));
      if (c.places == serve::Places::kTurned)
        for (size_t h = 0; h < heads + kv_heads; ++h) turn(&qkv[t], h * dim, c, static_cast<int>(t));
    }
    for (size_t t = 0; t < x.size(); ++t) {
      Row attended(heads * dim);
      for (size_t h = 0; h < heads; ++h) {
        const size_t key = (heads + h / (heads / kv_heads)) * dim, value = key + kv_heads * dim;
        Row weights;
        double sum = 0;
        for (size_t s = 0; s <= t; ++s) {
          double score = 0;
          for (size_t d = 0; d < dim; ++d) score += qkv[t][h * dim + d] * qkv[s][key + d];
          weights.push_back(std::exp(score / std::sqrt(static_cast<double>(dim))));
          sum += weights.back();
        }
        for (size_t s = 0; s <= t; ++s)
          for (size_t d = 0; d < dim; ++d) attended[h * dim + d] += weights[s] / sum * qkv[s][value + d];
      }
      const Row added = product(attended, l.proj, l.proj_bias);
      for (size_t i = 0; i < width; ++i) x[t][i] += added[i];
      const Row first = product(normalized(c, x[t], l.norm2, l.norm2_bias), l.first, l.first_bias);
      const auto inner = static_cast<size_t>(c.inner);
      Row between;
      for (size_t i = 0; i < inner; ++i) {
        const double z = first[i];
        between.push_back(
            c.inner_kind == serve::Inner::kSwiGlu
                ? z / (1 + std::exp(-z)) * first[inner + i]
                : 0.5 * z * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (z + 0.044715 * z * z * z))));
      }
      const Row down = product(between, l.down, l.down_bias);
      for (size_t i = 0; i < width; ++i) x[t][i] += down[i];
    }
  }
  std::vector<Row> logits;
  for (const Row& row : x) {
    logits.push_back(
        product(normalized(c, row, w.norm, w.norm_bias), w.output.empty() ? w.tokens : w.output, {}));
    logits.back().resize(static_cast<size_t>(c.vocab));
  }
  return logits;
}

// Models of two layers, as small as lets every part of them count.
inline serve::Config small_gpt() {
  return {.layers = 2,
          .width = 64,
          .heads = 2,
          .kv_heads = 2,
          .head_dim = 32,
          .inner = 128,
          .vocab = 61,
          .padded_vocab = 64,
          .context = 48};
}
// Three heads that share one of keys, whose dimension is not the width's share.
inline serve::Config small_llama() {
  return {.layers = 2,
          .width = 96,
          .heads = 3,
          .kv_heads = 1,
          .head_dim = 64,
          .inner = 136,
          .vocab = 70,
          .padded_vocab = 72,
          .context = 48,
          .norm = serve::Norm::kRms,
          .inner_kind = serve::Inner::kSwiGlu,
          .places = serve::Places::kTurned,
          .eps = 1e-5f,
          .base = 1000,
          .has_biases = false};
}
// Two heads of keys, each with two of queries: which reads which can be wrong.
inline serve::Config small_grouped() {
  serve::Config config = small_llama();
  config.heads = 4;
  config.kv_heads = 2;
  return config;
}
inline std::vector<int32_t> some_ids(int count, int vocab, uint64_t seed) {
  std::vector<int32_t> ids;
  for (int i = 0; i < count; ++i)
    ids.push_back(static_cast<int32_t>(days::uniform_integer(seed, static_cast<uint64_t>(i), 0, vocab)));
  return ids;
}

// Weights that let every part of the model count: a matrix keeps the size of what it multiplies.
inline serve::Model random_model(const serve::Config& c, bool tied, uint64_t seed) {
  serve::Model model{c, {}};
  uint64_t stream = seed << 16;
  const auto values = [&](int rows, int cols, double center, double deviation, int valid_rows = -1) {
    std::vector<float> all;
    ++stream;
    for (uint64_t i = 0; i < static_cast<uint64_t>(rows) * static_cast<uint64_t>(cols); ++i) {
      const bool valid =
          valid_rows < 0 || i < static_cast<uint64_t>(valid_rows) * static_cast<uint64_t>(cols);
      all.push_back(
          valid ? static_cast<float>(center + deviation * static_cast<double>(days::normal(stream, i)))
                : 0.0f);
    }
    return all;
  };
  const auto matrix = [&](int out, int in) { return values(out, in, 0, 1 / std::sqrt(in)); };
  const auto bias = [&](int n, bool there) { return there ? values(1, n, 0, 0.1) : std::vector<float>(); };
  const auto gamma = [&] { return values(1, c.width, 1, 0.1); };
  const bool mean = c.norm == serve::Norm::kLayer;
  serve::Weights& w = model.weights;
  w.tokens = values(c.padded_vocab, c.width, 0, 0.2, c.vocab);
  if (c.places == serve::Places::kTable) w.positions = values(c.context, c.width, 0, 0.2);
  for (int l = 0; l < c.layers; ++l) {
    serve::Weights::Layer layer;
    layer.norm1 = gamma();
    layer.norm1_bias = bias(c.width, mean);
    layer.qkv = matrix(c.qkv_width(), c.width);
    layer.qkv_bias = bias(c.qkv_width(), c.has_biases);
    layer.proj = matrix(c.width, c.q_width());
    layer.proj_bias = bias(c.width, c.has_biases);
    layer.norm2 = gamma();
    layer.norm2_bias = bias(c.width, mean);
    layer.first = matrix(c.first_width(), c.width);
    layer.first_bias = bias(c.first_width(), c.has_biases);
    layer.down = matrix(c.width, c.inner);
    layer.down_bias = bias(c.width, c.has_biases);
    w.layers.push_back(layer);
  }
  w.norm = gamma();
  w.norm_bias = bias(c.width, mean);
  if (!tied) w.output = values(c.padded_vocab, c.width, 0, 0.2, c.vocab);
  return model;
}

}  // namespace serve_test
