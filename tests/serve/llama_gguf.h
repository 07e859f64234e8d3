// SPDX-License-Identifier: MIT
//
// A Llama as llama.cpp writes it, from weights in Hugging Face's order: for tests.
#pragma once

#include <string>
#include <vector>

#include "serve/model.h"
#include "tests/model/files/gguf_writer.h"

namespace model {

inline constexpr const char* kTinyTemplate =
    "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}{{ "
    "'<|im_start|>system\n"
    "You are a small model<|im_end|>\n' }}{% endif %}{{'<|im_start|>' + message['role'] + '\n' + "
    "message['content'] + "
    "'<|im_end|>' + '\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif "
    "%}";

// Three heads of queries and one of keys, as wide as a grown one's.
inline serve::Config tiny_llama() {
  return {.layers = 2,
          .width = 192,
          .heads = 3,
          .kv_heads = 1,
          .head_dim = 64,
          .inner = 512,
          .vocab = 512,
          .padded_vocab = 512,
          .context = 64,
          .norm = serve::Norm::kRms,
          .inner_kind = serve::Inner::kSwiGlu,
          .places = serve::Places::kTurned,
          .eps = 1e-5f,
          .base = 100000,
          .has_biases = false};
}

// The bytes' letters, as vocab.json has them, and two tokens that are merged.
inline std::vector<std::string> byte_letters() {
  std::vector<std::string> all;
  uint32_t next = 0x100;
  for (uint32_t b = 0; b < 256; ++b) {
    const bool visible = (b >= '!' && b <= '~') || (b >= 0xa1 && b <= 0xac) || b >= 0xae;
    const uint32_t code = visible ? b : next++;
    std::string letter;
    if (code < 0x80) {
      letter = static_cast<char>(code);
    } else {
      letter += static_cast<char>(0xc0 | code >> 6);
      letter += static_cast<char>(0x80 | (code & 0x3f));
    }
    all.push_back(letter);
  }
  all.push_back("ab");
  all.push_back(
      "\xc4\xa0"
      "a");
  return all;
}

// llama.cpp's order of the rows of q and k: of a head's row i in the first half and of row i in the second, pairs.
inline std::vector<float> rows_in_pairs(const float* rows, size_t heads, size_t dim, size_t in) {
  std::vector<float> to;
  for (size_t h = 0; h < heads; ++h)
    for (size_t i = 0; i < dim / 2; ++i)
      for (const size_t row : {h * dim + i, h * dim + dim / 2 + i})
        to.insert(to.end(), rows + row * in, rows + (row + 1) * in);
  return to;
}

// With the tokens of `vocab`: the bytes' letters first, then what `special` names, then made-up words. merges: none.
inline GgufWriter llama_gguf(const serve::Model& model, const std::vector<std::string>& letters,
                             const std::vector<std::string>& special, const std::string& chat_template) {
  const serve::Config& c = model.config;
  GgufWriter w;
  const auto whole = [&](const char* key, int value) { w.whole(key, static_cast<uint32_t>(value)); };
  w.text("general.architecture", "llama");
  whole("llama.block_count", c.layers);
  whole("llama.context_length", c.context);
  whole("llama.embedding_length", c.width);
  whole("llama.feed_forward_length", c.inner);
  whole("llama.attention.head_count", c.heads);
  whole("llama.attention.head_count_kv", c.kv_heads);
  whole("llama.attention.key_length", c.head_dim);
  whole("llama.rope.dimension_count", c.head_dim);
  w.real("llama.rope.freq_base", static_cast<float>(c.base));
  w.real("llama.attention.layer_norm_rms_epsilon", c.eps);
  w.text("tokenizer.ggml.model", "gpt2");
  w.text("tokenizer.ggml.pre", "smollm");
  w.truth("tokenizer.ggml.add_bos_token", false);
  std::vector<std::string> tokens = letters;
  tokens.insert(tokens.end(), special.begin(), special.end());
  std::vector<int32_t> types(tokens.size(), 1);
  for (size_t i = 0; i < special.size(); ++i) types[letters.size() + i] = 3;
  while (static_cast<int>(tokens.size()) < c.vocab) tokens.push_back("word" + std::to_string(tokens.size()));
  types.resize(tokens.size(), 1);
  w.texts("tokenizer.ggml.tokens", tokens);
  w.numbers("tokenizer.ggml.token_type", types);
  w.texts("tokenizer.ggml.merges", {"a b", "\xc4\xa0 a"});
  if (!special.empty()) whole("tokenizer.ggml.eos_token_id", static_cast<int>(letters.size()));
  if (!chat_template.empty()) w.text("tokenizer.chat_template", chat_template);

  const auto put = [&](const std::string& name, uint64_t rows, uint64_t cols, const float* values) {
    std::vector<uint64_t> shape{cols};
    if (rows > 0) shape.push_back(rows);
    w.tensor(name + ".weight", shape, 0,
             {reinterpret_cast<const char*>(values), std::max<uint64_t>(rows, 1) * cols * sizeof(float)});
  };
  const auto width = static_cast<uint64_t>(c.width), dim = static_cast<uint64_t>(c.head_dim),
             heads = static_cast<uint64_t>(c.heads), kv = static_cast<uint64_t>(c.kv_heads),
             inner = static_cast<uint64_t>(c.inner), vocab = static_cast<uint64_t>(c.vocab);
  put("token_embd", vocab, width, model.weights.tokens.data());
  for (int l = 0; l < c.layers; ++l) {
    const serve::Weights::Layer& of = model.weights.layers[static_cast<size_t>(l)];
    const std::string b = "blk." + std::to_string(l) + ".";
    const float *const q = of.qkv.data(), *const k = q + heads * dim * width, *const v = k + kv * dim * width;
    put(b + "attn_norm", 0, width, of.norm1.data());
    put(b + "attn_q", heads * dim, width, rows_in_pairs(q, heads, dim, width).data());
    put(b + "attn_k", kv * dim, width, rows_in_pairs(k, kv, dim, width).data());
    put(b + "attn_v", kv * dim, width, v);
    put(b + "attn_output", width, heads * dim, of.proj.data());
    put(b + "ffn_norm", 0, width, of.norm2.data());
    put(b + "ffn_gate", inner, width, of.first.data());
    put(b + "ffn_up", inner, width, of.first.data() + inner * width);
    put(b + "ffn_down", width, inner, of.down.data());
  }
  put("output_norm", 0, width, model.weights.norm.data());
  if (!model.weights.output.empty()) put("output", vocab, width, model.weights.output.data());
  return w;
}

}  // namespace model
