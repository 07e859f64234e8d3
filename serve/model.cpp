// SPDX-License-Identifier: MIT
#include "serve/model.h"

#include <string>

#include "common/check.h"
#include "gpt/files.h"

namespace serve {
namespace {

size_t area(int rows, int cols) {
  return static_cast<size_t>(rows) * static_cast<size_t>(cols);
}

// (in, out) to (out, in)
std::vector<float> turned(const float* from, int in, int out) {
  std::vector<float> to(area(in, out));
  for (int i = 0; i < in; ++i)
    for (int o = 0; o < out; ++o)
      to[area(o, in) + static_cast<size_t>(i)] = from[area(i, out) + static_cast<size_t>(o)];
  return to;
}

}  // namespace

void require_config(const Config& c) {
  days::require(c.layers > 0 && c.layers <= 1024, "a model has 1 to 1024 layers, not", c.layers);
  days::require(c.width > 0 && c.width <= 8192 && c.width % 8 == 0,
                "the width is a multiple of 8 up to 8192, not", c.width);
  days::require(c.heads > 0 && c.heads <= 1024, "a model has 1 to 1024 heads, not", c.heads);
  days::require(c.kv_heads > 0 && c.heads % c.kv_heads == 0,
                "the heads are a multiple of those of keys, not of", c.kv_heads);
  days::require(c.head_dim > 0 && c.head_dim % 32 == 0 && c.head_dim <= 128,
                "a head's dimension is 32, 64, 96 or 128, not", c.head_dim);
  days::require(c.inner > 0 && c.inner <= 1 << 20 && c.inner % 8 == 0,
                "the inner width is a multiple of 8 up to 2^20, not", c.inner);
  days::require(c.vocab > 0 && c.vocab <= c.padded_vocab,
                "the padded vocabulary holds the vocabulary; vocab is", c.vocab);
  days::require(c.padded_vocab <= 1 << 20 && c.padded_vocab % 8 == 0,
                "the padded vocabulary is a multiple of 8 up to 2^20, not", c.padded_vocab);
  days::require(c.context > 0 && c.context <= 1 << 20, "a model has 1 to 1048576 positions, not", c.context);
  days::require(c.eps >= 0, "a norm's eps is 0 or more, not", c.eps);
  days::require(c.base >= 1 && c.base <= 1e12, "the base of the turns is 1 to 1e12, not", c.base);
}

void require_weights(const Config& c, const Weights& w) {
  const auto want = [](const char* name, const std::vector<float>& values, size_t n) {
    days::require(values.size() == n, name, " should have so many elements:", n, "; it has", values.size());
  };
  const auto width = static_cast<size_t>(c.width);
  const size_t biases = c.has_biases ? 1 : 0, norm_biases = c.norm == Norm::kLayer ? width : 0;
  want("tokens", w.tokens, area(c.padded_vocab, c.width));
  want("positions", w.positions, c.places == Places::kTable ? area(c.context, c.width) : 0);
  days::require(std::ssize(w.layers) == c.layers, "the weights are of so many layers:", w.layers.size());
  for (const Weights::Layer& l : w.layers) {
    want("norm1", l.norm1, width);
    want("norm1_bias", l.norm1_bias, norm_biases);
    want("qkv", l.qkv, area(c.qkv_width(), c.width));
    want("qkv_bias", l.qkv_bias, biases * static_cast<size_t>(c.qkv_width()));
    want("proj", l.proj, area(c.width, c.q_width()));
    want("proj_bias", l.proj_bias, biases * width);
    want("norm2", l.norm2, width);
    want("norm2_bias", l.norm2_bias, norm_biases);
    want("first", l.first, area(c.first_width(), c.width));
    want("first_bias", l.first_bias, biases * static_cast<size_t>(c.first_width()));
    want("down", l.down, area(c.width, c.inner));
    want("down_bias", l.down_bias, biases * width);
  }
  want("norm", w.norm, width);
  want("norm_bias", w.norm_bias, norm_biases);
  if (!w.output.empty()) want("output", w.output, area(c.padded_vocab, c.width));
}

Config config_of(const gpt::Config& c) {
  return {.layers = c.layers,
          .width = c.width,
          .heads = c.heads,
          .kv_heads = c.heads,
          .head_dim = gpt::kHeadDim,
          .inner = 4 * c.width,
          .vocab = c.vocab,
          .padded_vocab = c.padded_vocab,
          .context = c.context,
          .eps = gpt::kEps};
}

Weights weights_of(const gpt::Layout& layout, const std::vector<float>& all) {
  days::require(all.size() == layout.elements, "a model's weights have the layout's elements, not",
                all.size());
  const int w = layout.config.width;
  const auto row = [&](size_t at, size_t n) {
    return std::vector<float>(all.begin() + static_cast<ptrdiff_t>(at),
                              all.begin() + static_cast<ptrdiff_t>(at + n));
  };
  const auto width = static_cast<size_t>(w);
  Weights weights;
  weights.tokens = row(layout.tokens, area(layout.config.padded_vocab, w));
  weights.positions = row(layout.positions, area(layout.config.context, w));
  for (const gpt::Layer& l : layout.layers)
    weights.layers.push_back({row(l.norm1, width), row(l.norm1_bias, width), turned(&all[l.qkv], w, 3 * w),
                              row(l.qkv_bias, 3 * width), turned(&all[l.proj], w, w), row(l.proj_bias, width),
                              row(l.norm2, width), row(l.norm2_bias, width), turned(&all[l.fc], w, 4 * w),
                              row(l.fc_bias, 4 * width), turned(&all[l.down], 4 * w, w),
                              row(l.down_bias, width)});
  weights.norm = row(layout.norm, width);
  weights.norm_bias = row(layout.norm_bias, width);
  return weights;
}

Model load(const std::filesystem::path& folder) {
  const gpt::Layout layout(gpt::load_config(folder));
  return {config_of(layout.config), weights_of(layout, gpt::load_weights(folder, layout))};
}

}  // namespace serve
