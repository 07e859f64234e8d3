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

inline constexpr int kHeadDim = 64;   // elements of a head's q, k and v, in each model
inline constexpr float kEps = 1e-5f;  // is added to the variance in a norm

struct Config {
  int layers = 0, heads = 0;  // 1 to 1024 of each
  int width = 0;              // elements of a token's row: kHeadDim * heads
  int vocab = 0;              // tokens
  // Rows of the embedding in memory: at least vocab, at most 2^20, a multiple of 8. Rows from vocab on are 0 and stay so.
  int padded_vocab = 0;
  int context = 0;  // positions, at most 2^20

  bool operator==(const Config&) const = default;
};
// size: "tiny", "small" or "gpt2"; throws std::invalid_argument for another.
Config config_of(const std::string& size);
// Throws std::invalid_argument that names what of the above does not hold.
void require_config(const Config& config);

struct Parameter {
  std::string name;
  std::vector<int64_t> shape;  // in memory: (in, out) of a matrix, as Hugging Face's GPT-2 has it
  size_t offset;               // where it begins in an array: elements, a multiple of Layout::kAlignment
  size_t elements;
  bool decays;  // matrices and embeddings do; biases and norms do not
};

// The offsets of a layer's tensors, in the order in which they are used; w is the width.
struct Layer {
  size_t norm1, norm1_bias;  // (w), (w): the norm before attention
  size_t qkv, qkv_bias;      // (w, 3 w), (3 w): to q, k and v of all heads
  size_t proj, proj_bias;    // (w, w), (w): from the heads' results to what is added to the residual
  size_t norm2, norm2_bias;  // (w), (w): the norm before the two products with GELU between them
  size_t fc, fc_bias;        // (w, 4 w), (4 w): the first of them
  size_t down, down_bias;    // (4 w, w), (w): the second, to what is added to the residual
};

class Layout {
 public:
  static constexpr size_t kAlignment = 128;  // elements

  // Throws std::invalid_argument as require_config() does.
  explicit Layout(const Config& config);

  Config config;
  std::vector<Parameter> parameters;
  std::vector<Layer> layers;
  size_t tokens, positions, norm, norm_bias;  // offsets of the embeddings and of the last norm
  size_t elements;                            // of each array, with the gaps

  size_t weights() const;  // how many there are without gaps and padding
};

// The weights that a training starts from, (layout.elements). Matrices and embeddings are normal with deviation 0.02, but proj and down,
// whose results are added to the residual, with 0.02 / sqrt(2 layers). Weights of norms are 1; biases, padding and gaps are 0.
std::vector<float> initial_weights(const Layout& layout, uint64_t seed);

// The learning rate of step `step`, which counts from 0. It rises in `warmup` steps to `most`, then falls along half a cosine to a tenth
// of that at step `steps`.
double learning_rate(int64_t step, int64_t steps, int64_t warmup, double most);

}  // namespace gpt
