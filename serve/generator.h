// SPDX-License-Identifier: MIT
//
// A model that writes: several texts at once, each with its own length, keys and values in pages, and its own way to choose. Texts come
// and go between two steps. A step of all of them is a CUDA graph that serves every length. All device memory is taken in the constructor.
//
//   serve::Generator<bf16> generator(serve::load(folder), {.sequences = 8});
//   const auto slot = generator.add(tokenizer.encode("It was"), {.temperature = 0.8f, .seed = 1});
//   while (auto one = generator.prefill()) ...;      // the prompt's tokens go into the cache; the first new token
//   for (const auto& [slot, token] : generator.decode()) ...;  // the next one of each text
//   generator.remove(*slot);
//
// A text's tokens are the same bit for bit whatever the other texts are, and whether there are any.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/types.h"
#include "serve/model.h"

namespace serve {

// How a text's tokens are chosen. The same seed after the same tokens gives the same ones.
struct Sampling {
  float temperature = 0;  // 0 takes the likeliest token; at most 100
  int top_k = 0;          // of the likeliest alone, at most 256; 0: of all
  float top_p =
      1;  // of the likeliest that have this share of the chance, 0 to 1; at least one, and at most 256 below 1
  uint64_t seed = 0;
};
// Throws std::invalid_argument that names what of the above does not hold. NaN never does.
void require_sampling(const Sampling&);

// How a step of all texts is computed. Each does what stands above it, too.
enum class Step : int {
  kCached,  // the general product's kernels, launched one by one
  kGraph,   // the same as one CUDA graph
  kFused,  // five kernels a layer, which read each weight once (step.h): half and bf16, a head's dimension of 32, 64 or 128
  kDependent,  // a kernel fetches its first weights before the one ahead has ended: sm_90
  kQuantized,  // layers of 4 bits, logits by weights of 8: other numbers, and the prompts' weights are rounded alike
  kPersistent,  // a step is one kernel and the choice (persistent.h), of one text alone
  kBest,  // the fastest of those above kQuantized that does not change the weights and that the model and the device allow
};
inline constexpr Step kLastStep = Step::kPersistent;
const char* name_of(Step);

struct Size {
  int sequences = 32;  // texts at once: 1 to 1024
  int chunk = 512;     // tokens of a prompt that are computed at once
  int pages = 0;       // of 16 tokens each, for all texts; 0: as many as let every text fill the context
  Step step = Step::kBest;
};

struct Token {
  int slot;
  int32_t token;  // -1: the model's numbers are NaN or infinite, and the text can only be removed
};

// T: float, half or bf16. Every function throws days::CudaError where the device fails.
template <class T>
class Generator {
 public:
  // Throws std::invalid_argument where the model or the size is none.
  Generator(const Model& model, const Size& size);
  ~Generator();

  const Config& config() const;
  size_t bytes() const;  // of the device's memory
  // What such a step lacks here, "needs sm_90", or "". The constructor throws std::invalid_argument with these words.
  static std::string lacks(const Config& config, Step step);
  Step step() const;  // never kBest
  // How many kernels a step of so many texts launches; and how many bytes of weights, keys and values it reads where each has `length`
  // tokens in the cache.
  int launches(int texts) const;
  double step_bytes(int texts, int length) const;
  // With kQuantized: how far weights moved, the root of the mean of squares as a part of that of the weights. Else 0.
  double quantization_error() const;
  int free_slots() const;
  int free_pages() const;

  // Throws std::invalid_argument where the prompt is empty, longer than the context or than all pages, or has a token that is none, and
  // as require_sampling() does.
  void require_text(std::span<const int32_t> prompt, const Sampling& sampling) const;
  // Takes a slot and the pages that the prompt needs, and returns the slot; nothing where either is lacking now. Throws as
  // require_text() does. `prompt` is copied.
  std::optional<int> add(std::span<const int32_t> prompt, const Sampling& sampling);
  // Goes on with a text that has all its tokens: its last one, then these, are a prompt that waits. Whether there were pages for it; where
  // not, nothing has changed. Throws std::invalid_argument where they do not fit the context, as require_text() does for tokens, and where
  // the slot's prompt waits or its last token is none.
  bool extend(int slot, std::span<const int32_t> tokens);
  // Frees the slot and its pages. Throws std::invalid_argument where the slot is not in use. May stand anywhere between two calls.
  void remove(int slot);

  // Whether a prompt waits, wholly or in part.
  bool has_prompts() const;
  // Computes at most `chunk` tokens of the prompt that has waited longest, and waits. Returns its text's first token where it was the end.
  std::optional<Token> prefill();

  // How many pages decode() needs beyond those that are free. As long as it is positive, decode() throws std::invalid_argument: somebody
  // has to be removed.
  int missing_pages() const;
  // The next token of each text whose prompt is computed, and that is shorter than the context. Waits.
  std::vector<Token> decode();

  // How likely the model finds each token behind the first: the natural logarithm of its chance. NaN where the model's numbers are. Takes a
  // slot and pages as add() does, and gives them back; throws std::invalid_argument where they are not free, or a prompt waits.
  std::vector<double> log_chances(std::span<const int32_t> tokens);

  // A text's tokens that are in the cache: all but the last that it got. At the context it is full.
  int length(int slot) const;
  // What the slot's last token was chosen from: (vocab). Good until the next prefill() or decode(); throws std::invalid_argument where
  // the last of these gave the slot no token.
  std::vector<float> logits(int slot) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Computes prompts until a text has its first token, and returns that. A prompt has to wait.
template <class T>
Token first_token(Generator<T>& generator) {
  for (;;)
    if (const auto first = generator.prefill()) return *first;
}

}  // namespace serve
