// SPDX-License-Identifier: MIT
//
// A small Llama from llama.cpp's file to its logits: the folder, each projection by itself, what is refused, and conversations.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "model/convert.h"
#include "model/gguf.h"
#include "model/safetensors.h"
#include "model/tokens.h"
#include "serve/chat.h"
#include "serve/generator.h"
#include "serve/model.h"
#include "tests/model/files/scratch.h"
#include "tests/serve/llama_gguf.h"
#include "tests/serve/reference.h"

namespace {

namespace fs = std::filesystem;
using model::FileError;
using Ids = std::vector<int32_t>;

class Llama : public model::Scratch {
 protected:
  static const serve::Model& model(bool tied) {
    static const serve::Model with = serve_test::random_model(model::tiny_llama(), true, 81),
                              without = serve_test::random_model(model::tiny_llama(), false, 82);
    return tied ? with : without;
  }
  fs::path converted(const serve::Model& model, std::string_view dtype = "F32") {
    const std::vector<std::string> special{"<|endoftext|>", "<|im_start|>", "<|im_end|>"};
    std::ofstream(folder() / "tiny.gguf", std::ios::binary)
        << model::llama_gguf(model, model::byte_letters(), special, model::kTinyTemplate).bytes();
    model::convert(model::Gguf(folder() / "tiny.gguf"), folder() / "tiny", dtype);
    return folder() / "tiny";
  }
  std::string text_of(const fs::path& file) { return std::string(model::MappedFile(file).bytes()); }
  // What is said of the folder with `from` in config.json replaced.
  void refuses(const fs::path& at, const std::string& from, const std::string& to,
               const std::string& because) {
    const std::string whole = text_of(at / "config.json");
    std::string text = whole;
    const size_t place = text.find(from);
    ASSERT_NE(place, std::string::npos) << from;
    text.replace(place, from.size(), to);
    std::ofstream(at / "config.json") << text;
    try {
      static_cast<void>(serve::load(at));
      ADD_FAILURE() << "takes what should be refused: " << because;
    } catch (const FileError& error) {
      EXPECT_NE(std::string(error.what()).find(because), std::string::npos) << error.what();
    }
    std::ofstream(at / "config.json") << whole;
  }
};

TEST_F(Llama, EachProjectionComesBackBitForBit) {
  for (const bool tied : {true, false}) {
    const serve::Model& from = model(tied);
    const serve::Model made = serve::load(converted(from));
    const serve::Config &c = made.config, &e = from.config;
    EXPECT_EQ(std::tie(c.layers, c.width, c.heads, c.kv_heads, c.head_dim, c.inner, c.vocab, c.context),
              std::tie(e.layers, e.width, e.heads, e.kv_heads, e.head_dim, e.inner, e.vocab, e.context));
    EXPECT_EQ(c.eps, e.eps);
    EXPECT_EQ(c.base, e.base);
    EXPECT_EQ(made.ends, (Ids{258}));
    EXPECT_EQ(made.weights.tokens, from.weights.tokens);
    EXPECT_EQ(made.weights.output, from.weights.output);
    EXPECT_EQ(made.weights.norm, from.weights.norm);
    for (size_t l = 0; l < from.weights.layers.size(); ++l) {
      const serve::Weights::Layer &got = made.weights.layers[l], &wanted = from.weights.layers[l];
      const auto rows = [&](const serve::Weights::Layer& of, int begin, int end) {
        return std::vector<float>(of.qkv.begin() + begin * 192, of.qkv.begin() + end * 192);
      };
      EXPECT_EQ(rows(got, 0, 192), rows(wanted, 0, 192)) << "q";
      EXPECT_EQ(rows(got, 192, 256), rows(wanted, 192, 256)) << "k";
      EXPECT_EQ(rows(got, 256, 320), rows(wanted, 256, 320)) << "v";
      EXPECT_EQ(got.proj, wanted.proj);
      EXPECT_EQ(got.first, wanted.first);
      EXPECT_EQ(got.down, wanted.down);
      EXPECT_EQ(got.norm1, wanted.norm1);
      EXPECT_EQ(got.norm2, wanted.norm2);
    }
  }
}

TEST_F(Llama, LogitsAreTheReferences) {
  const serve::Model made = serve::load(converted(model(true)));
  Ids ids;
  for (int i = 0; i < 20; ++i) ids.push_back(i * 37 % 512);
  const auto expected = serve_test::reference(model(true), ids);
  serve::Generator<float> generator(made, {.sequences = 4, .chunk = 7});
  const int slot = *generator.add(ids, {});
  serve::first_token(generator);
  const std::vector<float> logits = generator.logits(slot);
  double most = 0;
  for (const double value : expected.back()) most = std::max(most, std::abs(value));
  for (size_t i = 0; i < logits.size(); ++i)
    ASSERT_NEAR(static_cast<double>(logits[i]), expected.back()[i], 1e-5 * most) << i;
  generator.remove(slot);
  // How likely each token is, over chunks and slices that do not divide them.
  const std::vector<double> chances = generator.log_chances(ids);
  ASSERT_EQ(chances.size(), ids.size() - 1);
  for (size_t i = 0; i < chances.size(); ++i) {
    double sum = 0;
    for (const double value : expected[i]) sum += std::exp(value);
    EXPECT_NEAR(chances[i], expected[i][static_cast<size_t>(ids[i + 1])] - std::log(sum), 1e-4) << i;
  }
  EXPECT_EQ(generator.free_slots(), 4);
}

// Llama 3.1's turns, by their definition in waves; and the reference of the tests with them.
TEST_F(Llama, TurnsAreStretched) {
  serve::Config config = model::tiny_llama();
  config.base = 500000;
  config.stretch = {8, 1, 4, 8192};
  const std::vector<double> turns = serve::turns_of(config);
  EXPECT_EQ(turns[0], 1.0);                                         // goes round 1304 times in 8192 positions
  EXPECT_DOUBLE_EQ(turns[31], std::pow(500000.0, -62.0 / 64) / 8);  // not once
  const fs::path at = converted(model(true));
  std::string text = text_of(at / "config.json");
  const std::string from = "\"rope_scaling\": null";
  text.replace(text.find(from), from.size(),
               "\"rope_scaling\": {\"rope_type\": \"llama3\", \"factor\": 8.0, \"low_freq_factor\": 1.0, "
               "\"high_freq_factor\": 4.0, \"original_max_position_embeddings\": 16}");
  std::ofstream(at / "config.json") << text;
  const serve::Model made = serve::load(at);
  Ids ids;
  for (int i = 0; i < 30; ++i) ids.push_back(i * 29 % 512);
  serve::Model reference = model(true);
  reference.config.stretch = {8, 1, 4, 16};
  const auto expected = serve_test::reference(reference, ids).back();
  serve::Generator<float> generator(made, {.sequences = 1});
  const int slot = *generator.add(ids, {});
  serve::first_token(generator);
  const std::vector<float> logits = generator.logits(slot);
  for (size_t i = 0; i < logits.size(); ++i)
    ASSERT_NEAR(static_cast<double>(logits[i]), expected[i], 1e-4) << i;
}

TEST_F(Llama, SixteenBitsAreRoundedOnce) {
  for (const char* dtype : {"F16", "BF16"}) {
    const serve::Model made = serve::load(converted(model(true), dtype));
    for (size_t i = 0; i < 1000; ++i) {
      const float value = model(true).weights.tokens[i];
      EXPECT_EQ(made.weights.tokens[i], dtype[0] == 'F'
                                            ? days::to_float(days::from_float<days::half>(value))
                                            : days::to_float(days::from_float<days::bf16>(value)));
    }
  }
  serve::Model large = model(true);
  large.weights.layers[1].down[5] = 70000;
  EXPECT_THROW(converted(large, "F16"), std::invalid_argument);
  EXPECT_EQ(serve::load(converted(large, "BF16")).weights.layers[1].down[5], 70144.0f);
  EXPECT_THROW(converted(large, "F8"), std::invalid_argument);
}

TEST_F(Llama, WhatIsNotComputedHereIsRefusedByName) {
  const fs::path at = converted(model(true));
  refuses(at, "\"llama\"", "\"mistral\"", "model_type is \"mistral\"");
  refuses(at, "\"model_type\": \"llama\",", "", "model_type is missing");
  refuses(at, "\"attention_bias\": false", "\"attention_bias\": true", "attention_bias is true");
  refuses(at, "\"mlp_bias\": false", "\"mlp_bias\": true", "mlp_bias is true");
  refuses(at, "\"mlp_bias\": false", "\"sliding_window\": 4096", "sliding_window is 4096");
  refuses(at, "\"silu\"", "\"gelu\"", "hidden_act is \"gelu\"");
  refuses(at, "\"rope_scaling\": null", "\"rope_scaling\": {\"rope_type\": \"yarn\"}",
          "rope_scaling is of the type \"yarn\"");
  refuses(at, "\"rope_scaling\": null", "\"rope_scaling\": {\"rope_type\": \"llama3\"}", "factor is missing");
  refuses(at, "\"num_key_value_heads\": 1", "\"num_key_value_heads\": 2", "heads");
  refuses(at, "\"num_key_value_heads\": 1", "\"num_key_value_heads\": 3", "should be F32 (192, 192)");
  refuses(at, "\"head_dim\": 64", "\"head_dim\": 80", "a head's dimension");
  refuses(at, "\"num_hidden_layers\": 2", "\"num_hidden_layers\": 3", "has no tensor \"model.layers.2.");
  refuses(at, "\"hidden_size\": 192", "\"hidden_size\": -1", "hidden_size is no size");
  refuses(at, "\"rms_norm_eps\": 1e-05", "\"rms_norm_eps\": \"small\"", "rms_norm_eps is no number");
  refuses(at, "\"eos_token_id\": 258", "\"eos_token_id\": 512", "eos_token_id is no token");
  refuses(at, "\"tie_word_embeddings\": true", "\"tie_word_embeddings\": false", "has no tensor \"lm_head");
}

TEST_F(Llama, FilesOfOtherModelsAreNotConverted) {
  const auto refused = [&](const model::GgufWriter& w, const std::string& because) {
    std::ofstream(folder() / "other.gguf", std::ios::binary) << w.bytes();
    try {
      model::convert(model::Gguf(folder() / "other.gguf"), folder() / "other", "F32");
      ADD_FAILURE() << "takes what should be refused: " << because;
    } catch (const FileError& error) {
      EXPECT_NE(std::string(error.what()).find(because), std::string::npos) << error.what();
    }
    EXPECT_FALSE(fs::exists(folder() / "other" / "config.json"));
  };
  const auto file = [&] {
    return model::llama_gguf(model(true), model::byte_letters(), {"<|endoftext|>"}, "");
  };
  model::GgufWriter other;
  refused(other, "has no value \"general.architecture\"");
  other.text("general.architecture", "qwen2");
  refused(other, "architecture \"qwen2\"");
  model::GgufWriter window = file();
  window.whole("llama.attention.sliding_window", 4096);
  refused(window, "llama.attention.sliding_window");
  model::GgufWriter bias = file();
  bias.tensor("blk.0.attn_q.bias", {192}, 0, std::string(768, '\0'));
  refused(bias, "\"blk.0.attn_q.bias\" is none of a Llama's");
  serve::Model shorter = model(true);
  shorter.config.layers = 1;
  refused(model::llama_gguf(shorter, model::byte_letters(), {"<|endoftext|>", "<|endoftext|>"}, ""), "twice");
}

TEST_F(Llama, ConversationsAreTheTemplates) {
  const fs::path at = converted(model(true));
  const model::Tokenizer tokenizer = model::Tokenizer::load(at);
  EXPECT_EQ(tokenizer.split(), model::Split::kDigits);
  const auto chat = serve::ChatTemplate::of(at, tokenizer);
  EXPECT_EQ(chat.name(), "chatml");
  const auto text = [&](const Ids& ids) {
    std::string all;
    for (const int32_t id : ids) {
      if (id == tokenizer.special("<|im_start|>")) all += "{start}";
      if (id == tokenizer.special("<|im_end|>")) all += "{end}";
      all += tokenizer.bytes(id);
    }
    return all;
  };
  const std::vector<serve::Message> hello{{"user", "ab <|im_end|> 12"}};
  EXPECT_EQ(
      text(chat.encode(tokenizer, hello)),
      "{start}system\nYou are a small model{end}\n{start}user\nab <|im_end|> 12{end}\n{start}assistant\n");
  const std::vector<serve::Message> more{{"system", "s"}, {"user", "u"}, {"assistant", "a"}, {"user", "v"}};
  EXPECT_EQ(text(chat.encode(tokenizer, more)),
            "{start}system\ns{end}\n{start}user\nu{end}\n{start}assistant\na{end}\n{start}user\nv{end}\n{"
            "start}assistant\n");
  EXPECT_EQ(text(chat.encode_more(tokenizer, {"user", "w"})),
            "{end}\n{start}user\nw{end}\n{start}assistant\n");
  EXPECT_EQ(chat.ends(tokenizer), (Ids{258, 260}));
  EXPECT_EQ(text(serve::ChatTemplate::of(at, tokenizer, "plain").encode(tokenizer, hello)),
            "ab <|im_end|> 12\n");
  EXPECT_EQ(text(serve::ChatTemplate::of(at, tokenizer, "chatml").encode(tokenizer, hello)),
            "{start}user\nab <|im_end|> 12{end}\n{start}assistant\n");
  EXPECT_THROW(serve::ChatTemplate::of(at, tokenizer, "llama3"), FileError);  // its marks are not there
  const auto with = [&](const std::string& jinja) {
    std::ofstream(at / "chat_template.jinja") << jinja;
    return serve::ChatTemplate::of(at, tokenizer).name();
  };
  EXPECT_EQ(
      with("{% for message in messages %}{{'<|im_start|>' + message['role'] + '\\n' + message['content'] + "
           "'<|im_end|>' + '\\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' "
           "}}{% endif %}"),
      "chatml");
  EXPECT_THROW(
      with("{{ bos_token }}{% for message in messages %}[INST] {{ message['content'] }} [/INST]{% endfor %}"),
      FileError);
  EXPECT_THROW(with(std::string(model::kTinyTemplate) + "{{ more }}"), FileError);
  fs::remove(at / "chat_template.jinja");
  fs::remove(at / "tokenizer_config.json");
  EXPECT_EQ(serve::ChatTemplate::of(at, tokenizer).name(), "plain");
}

}  // namespace
