// SPDX-License-Identifier: MIT
//
// What a generator can be of: a GPT-2 or a Llama, by its sizes and choices, and the model's weights on the host.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "gpt/layout.h"

namespace serve {

enum class Norm : int { kLayer, kRms };     // with mean and bias, or without
enum class Inner : int { kGelu, kSwiGlu };  // gelu(up h), by tanh; or silu(gate h) * up h
enum class Places : int {
  kTable,
  kTurned
};  // a row for each position is added, or q and k are turned (day 46, halves)

struct Config {
  int layers = 0, width = 0;    // width: elements of a token's row
  int heads = 0, kv_heads = 0;  // kv_heads divides heads: query head h reads kv head h / (heads / kv_heads)
  int head_dim = 0;             // 32, 64, 96 or 128; heads * head_dim need not be width
  int inner = 0;                // elements between the two products behind attention
  int vocab = 0;                // tokens
  int padded_vocab = 0;         // rows of the embedding in memory: at least vocab, a multiple of 8
  int context = 0;              // positions
  Norm norm = Norm::kLayer;
  Inner inner_kind = Inner::kGelu;
  Places places = Places::kTable;
  float eps = 1e-5f;  // is added to the variance, or to the mean of squares
  double base =
      10000;  // of the turns: pair i of a head turns base^(-2 i / head_dim) from a position to the next
  bool has_biases = true;  // of the four products of a layer
  // Llama 3.1's change of the turns, so that a model which has learnt `context` positions tells more of them apart; 0: none. A pair that
  // goes round more often than `high` times in them stays, one that does less often than `low` times turns `factor` times slower, and
  // between the two it is a mixture.
  struct Stretch {
    double factor = 0, low = 1, high = 4, context = 8192;
  } stretch{};

  int q_width() const { return heads * head_dim; }
  int qkv_width() const { return (heads + 2 * kv_heads) * head_dim; }
  // What the first of the two products gives: gate and up side by side, where there is a gate.
  int first_width() const { return inner_kind == Inner::kSwiGlu ? 2 * inner : inner; }
};
// Throws std::invalid_argument that names what of the above does not hold.
void require_config(const Config&);
// By how many radians each pair of a head turns from a position to the next: (head_dim / 2).
std::vector<double> turns_of(const Config&);

// Matrices are (out, in), row-major, as a Linear of torch has them. What the configuration has no use for is empty.
struct Weights {
  struct Layer {
    std::vector<float> norm1, norm1_bias;  // (width)
    std::vector<float> qkv, qkv_bias;      // (qkv_width, width): rows of q, of k, and of v, head after head
    std::vector<float> proj, proj_bias;    // (width, q_width)
    std::vector<float> norm2, norm2_bias;  // (width)
    std::vector<float> first, first_bias;  // (first_width, width): rows of the gate first
    std::vector<float> down, down_bias;    // (width, inner)
  };
  std::vector<float> tokens;     // (padded_vocab, width); rows from vocab on are 0
  std::vector<float> positions;  // (context, width), with Places::kTable
  std::vector<Layer> layers;
  std::vector<float> norm, norm_bias;  // (width)
  std::vector<float> output;           // (padded_vocab, width); empty: `tokens`
};
// Throws std::invalid_argument where an array is not as long as the configuration says, and names it.
void require_weights(const Config&, const Weights&);

// A GPT-2 as gpt/ trains it.
Config config_of(const gpt::Config&);
Weights weights_of(const gpt::Layout&, const std::vector<float>& weights);

struct Model {
  Config config;
  Weights weights;
  std::vector<int32_t> ends = {};  // tokens that end a text
};
// Reads config.json and model.safetensors of a folder, as Hugging Face's transformers write it: of a GPT-2 in fp32, or of a Llama in fp32,
// fp16 or bf16. Another architecture, and what a Llama may have and is not computed here (biases, a sliding window, other turns), is
// refused by name. Throws model::FileError that names what is missing or wrong.
Model load(const std::filesystem::path& folder);

}  // namespace serve
