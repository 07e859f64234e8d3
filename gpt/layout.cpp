// SPDX-License-Identifier: MIT
#include "gpt/layout.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include "common/check.h"
#include "common/random.h"
#include "common/util.h"

namespace gpt {

Config config_of(const std::string& size) {
  if (size == "tiny") return {2, 2, 128, 512, 512, 64};
  if (size == "small") return {6, 6, 384, 4096, 4096, 256};
  if (size == "gpt2") return {12, 12, 768, 50257, 50304, 1024};
  throw std::invalid_argument("sizes are tiny, small and gpt2, not \"" + size + "\"");
}

void require_config(const Config& c) {
  days::require(c.layers > 0 && c.layers <= 1024, "a model has 1 to 1024 layers, not", c.layers);
  days::require(c.heads > 0 && c.heads <= 1024, "a model has 1 to 1024 heads, not", c.heads);
  days::require(c.width == c.heads * kHeadDim,
                "a head's dimension is 64: the width is 64 times the heads, not", c.width);
  days::require(c.vocab > 0 && c.vocab <= c.padded_vocab,
                "the padded vocabulary holds the vocabulary; vocab is", c.vocab);
  days::require(c.padded_vocab <= 1 << 20 && c.padded_vocab % 8 == 0,
                "the padded vocabulary is a multiple of 8, not", c.padded_vocab);
  days::require(c.context > 0 && c.context <= 1 << 20, "a model has 1 to 1048576 positions, not", c.context);
}

Layout::Layout(const Config& c) : config(c), elements(0) {
  require_config(c);
  const int64_t width = c.width;
  const auto add = [&](const std::string& name, std::vector<int64_t> shape) {
    size_t n = 1;
    for (const int64_t extent : shape) n *= static_cast<size_t>(extent);
    const size_t offset = elements;
    elements = days::round_up(offset + n, kAlignment);
    const bool decays = shape.size() > 1;
    parameters.push_back({"transformer." + name, std::move(shape), offset, n, decays});
    return offset;
  };
  tokens = add("wte.weight", {c.padded_vocab, width});
  positions = add("wpe.weight", {c.context, width});
  for (int l = 0; l < c.layers; ++l) {
    const std::string of = "h." + std::to_string(l) + ".";
    Layer at{};
    at.norm1 = add(of + "ln_1.weight", {width});
    at.norm1_bias = add(of + "ln_1.bias", {width});
    at.qkv = add(of + "attn.c_attn.weight", {width, 3 * width});
    at.qkv_bias = add(of + "attn.c_attn.bias", {3 * width});
    at.proj = add(of + "attn.c_proj.weight", {width, width});
    at.proj_bias = add(of + "attn.c_proj.bias", {width});
    at.norm2 = add(of + "ln_2.weight", {width});
    at.norm2_bias = add(of + "ln_2.bias", {width});
    at.fc = add(of + "mlp.c_fc.weight", {width, 4 * width});
    at.fc_bias = add(of + "mlp.c_fc.bias", {4 * width});
    at.down = add(of + "mlp.c_proj.weight", {4 * width, width});
    at.down_bias = add(of + "mlp.c_proj.bias", {width});
    layers.push_back(at);
  }
  norm = add("ln_f.weight", {width});
  norm_bias = add("ln_f.bias", {width});
}

size_t Layout::weights() const {
  size_t n = 0;
  for (const Parameter& p : parameters) n += p.elements;
  return n - static_cast<size_t>(config.padded_vocab - config.vocab) * static_cast<size_t>(config.width);
}

std::vector<float> initial_weights(const Layout& layout, uint64_t seed) {
  std::vector<float> weights(layout.elements);
  for (const Parameter& p : layout.parameters) {
    const bool into_residual = p.name.ends_with("c_proj.weight");
    const double deviation = 0.02 / (into_residual ? std::sqrt(2.0 * layout.config.layers) : 1.0);
    size_t n = p.elements;
    if (p.offset == layout.tokens)
      n = static_cast<size_t>(layout.config.vocab) * static_cast<size_t>(layout.config.width);
    for (size_t i = 0; i < n; ++i) {
      float& w = weights[p.offset + i];
      if (p.decays) {
        w = static_cast<float>(deviation * days::normal(seed, p.offset + i));
      } else {
        w = p.name.ends_with(".weight") ? 1.0f : 0.0f;
      }
    }
  }
  return weights;
}

double learning_rate(int64_t step, int64_t steps, int64_t warmup, double most) {
  if (step < warmup) return most * static_cast<double>(step + 1) / static_cast<double>(warmup);
  const double way =
      std::min(1.0, static_cast<double>(step - warmup) / std::max(1.0, static_cast<double>(steps - warmup)));
  return most * (0.1 + 0.45 * (1 + std::cos(std::numbers::pi * way)));
}

}  // namespace gpt
