// SPDX-License-Identifier: MIT
//
// GPT-2's parameters: their names, which are Hugging Face's, their shapes, and where each lies. All arrays of a training, weights,
// gradients, and what the optimizer keeps, have this one order: layer after layer, so that a layer's gradients are one range.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gpt {

inline constexpr int kHeadDim = 64;
inline constexpr float kEps = 1e-5f;

struct Config {
  int layers = 0, heads = 0, width = 0;
  int vocab = 0;         // tokens
  int padded_vocab = 0;  // rows of the embedding in memory, at least as many; the rest are 0 and stay so
  int context = 0;       // positions

  bool operator==(const Config&) const = default;
};
// "tiny", "small" or "gpt2".
Config config_of(const std::string& size);
// Throws std::invalid_argument that names what does not fit.
void require_config(const Config& config);

struct Parameter {
  std::string name;
  std::vector<int64_t> shape;  // in memory: (in, out) of a matrix, as Hugging Face's GPT-2 has it
  size_t offset;               // elements, a multiple of kAlignment
  size_t elements;
  bool decays;  // matrices and embeddings do; biases and norms do not
};

// Where the tensors of a layer lie.
struct Layer {
  size_t norm1, norm1_bias, qkv, qkv_bias, proj, proj_bias;
  size_t norm2, norm2_bias, fc, fc_bias, down, down_bias;
};

class Layout {
 public:
  static constexpr size_t kAlignment = 128;

  explicit Layout(const Config& config);

  Config config;
  std::vector<Parameter> parameters;
  std::vector<Layer> layers;
  size_t tokens, positions, norm, norm_bias;  // offsets of the embeddings and of the last norm
  size_t elements;                            // of each array, with the gaps

  size_t weights() const;  // without gaps and padding
};

// A training's start: normal with deviation 0.02, that of what is added to the residual over sqrt(2 layers); norms 1, biases 0.
std::vector<float> initial_weights(const Layout& layout, uint64_t seed);

// The learning rate of step `step`, from 0: `warmup` steps up to `most`, then down half a cosine to a tenth of it at step `steps`.
double learning_rate(int64_t step, int64_t steps, int64_t warmup, double most);

}  // namespace gpt
