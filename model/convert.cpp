// SPDX-License-Identifier: MIT
#include "model/convert.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <set>
#include <stdexcept>
#include <utility>

#include "common/types.h"
#include "model/json.h"
#include "model/safetensors.h"

namespace model {
namespace {

using Ordered = nlohmann::ordered_json;

// The shortest decimal number that is this fp32: 1e-05, not 9.99999974e-06.
double decimal(double value) {
  std::array<char, 40> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size() - 1, static_cast<float>(value));
  return end.ec == std::errc() ? std::strtod(text.data(), nullptr) : value;
}

template <class T>
std::string rounded(const std::vector<float>& values, const std::string& name) {
  std::string bytes(values.size() * sizeof(T), '\0');
  for (size_t i = 0; i < values.size(); ++i) {
    const T value = days::from_float<T>(values[i]);
    if (std::isfinite(values[i]) && !std::isfinite(days::to_float(value)))
      throw std::invalid_argument("tensor \"" + name + "\" has " + std::to_string(values[i]) +
                                  ", which fp16 has not: convert to F32 or BF16");
    std::memcpy(&bytes[i * sizeof(T)], &value, sizeof(T));
  }
  return bytes;
}
std::string bytes_of(const std::vector<float>& values, std::string_view dtype, const std::string& name) {
  if (dtype == "F16") return rounded<days::half>(values, name);
  if (dtype == "BF16") return rounded<days::bf16>(values, name);
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

// What the file says of the model.
struct Sizes {
  uint64_t layers, width, heads, kv_heads, dim, inner, vocab, context;
};
class Converter {
 public:
  Converter(const Gguf& file, std::string_view dtype) : file_(file), dtype_(dtype) {
    if (file.text("general.architecture") != "llama")
      fail("is of the architecture \"" + std::string(file.text("general.architecture")) +
           "\"; only llama is converted");
    for (const char* scaling :
         {"llama.rope.scaling.type", "llama.attention.sliding_window", "llama.expert_count"})
      if (file.has(scaling)) fail(std::string("has ") + scaling + ", which is not converted");
    s_.layers = size("llama.block_count", 1024);
    s_.width = size("llama.embedding_length", 1 << 20);
    s_.heads = size("llama.attention.head_count", 1024);
    s_.kv_heads =
        file.has("llama.attention.head_count_kv") ? size("llama.attention.head_count_kv", 1024) : s_.heads;
    s_.dim = file.has("llama.attention.key_length") ? size("llama.attention.key_length", 1024)
                                                    : s_.width / s_.heads;
    s_.inner = size("llama.feed_forward_length", 1 << 20);
    s_.vocab = tokens().size();
    s_.context = size("llama.context_length", 1 << 20);
    if (s_.dim == 0 || s_.dim % 2 != 0 ||
        (file.has("llama.rope.dimension_count") && file.whole("llama.rope.dimension_count") != s_.dim))
      fail("turns only a part of a head, or heads have no dimension that 2 divides");
    if (file.has("llama.attention.value_length") && file.whole("llama.attention.value_length") != s_.dim)
      fail("has values of another dimension than keys");
  }

  void weights(const std::filesystem::path& to, const std::function<void(int, int)>& progress) {
    progress_ = progress;
    take("token_embd", "model.embed_tokens", s_.vocab, s_.width);
    for (uint64_t l = 0; l < s_.layers; ++l) {
      const std::string from = "blk." + std::to_string(l) + ".",
                        into = "model.layers." + std::to_string(l) + ".";
      const uint64_t q = s_.heads * s_.dim, kv = s_.kv_heads * s_.dim;
      take(from + "attn_norm", into + "input_layernorm", 0, s_.width);
      take(from + "attn_q", into + "self_attn.q_proj", q, s_.width, s_.heads);
      take(from + "attn_k", into + "self_attn.k_proj", kv, s_.width, s_.kv_heads);
      take(from + "attn_v", into + "self_attn.v_proj", kv, s_.width);
      take(from + "attn_output", into + "self_attn.o_proj", s_.width, q);
      take(from + "ffn_norm", into + "post_attention_layernorm", 0, s_.width);
      take(from + "ffn_gate", into + "mlp.gate_proj", s_.inner, s_.width);
      take(from + "ffn_up", into + "mlp.up_proj", s_.inner, s_.width);
      take(from + "ffn_down", into + "mlp.down_proj", s_.width, s_.inner);
    }
    take("output_norm", "model.norm", 0, s_.width);
    if (!tied()) take("output", "lm_head", s_.vocab, s_.width);
    for (const auto& [name, tensor] : file_.tensors())
      if (!taken_.contains(name)) fail("tensor \"" + name + "\" is none of a Llama's, or not converted");
    std::map<std::string, Tensor> tensors;
    for (const auto& [name, made] : made_) tensors[name] = {std::string(dtype_), made.first, made.second};
    write_safetensors(to, tensors, {{"format", "pt"}});
  }

  std::string config() const {
    const std::string name = dtype_ == "F32" ? "float32" : dtype_ == "F16" ? "float16" : "bfloat16";
    Ordered json = {
        {"architectures", {"LlamaForCausalLM"}},
        {"model_type", "llama"},
        {"attention_bias", false},
        {"attention_dropout", 0.0},
        {"head_dim", s_.dim},
        {"hidden_act", "silu"},
        {"hidden_size", s_.width},
        {"intermediate_size", s_.inner},
        {"max_position_embeddings", s_.context},
        {"mlp_bias", false},
        {"num_attention_heads", s_.heads},
        {"num_hidden_layers", s_.layers},
        {"num_key_value_heads", s_.kv_heads},
        {"rms_norm_eps", decimal(file_.real("llama.attention.layer_norm_rms_epsilon"))},
        {"rope_scaling", nullptr},
        {"rope_theta",
         file_.has("llama.rope.freq_base") ? decimal(file_.real("llama.rope.freq_base")) : 10000.0},
        {"tie_word_embeddings", tied()},
        {"torch_dtype", name},
        {"vocab_size", s_.vocab}};
    for (const auto& [key, id] : kNamed)
      if (file_.has(id)) json[std::string(key) + "_id"] = token_named(id);
    return json.dump(2) + "\n";
  }

  std::string tokenizer() const {
    const std::string_view kind = file_.text("tokenizer.ggml.model"), cut = file_.text("tokenizer.ggml.pre");
    if (kind != "gpt2") fail("its tokenizer is \"" + std::string(kind) + "\"; only gpt2 is converted");
    Ordered words = {
        {"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", true}};
    if (cut == "smollm") {
      words = {{"type", "Sequence"},
               {"pretokenizers", {{{"type", "Digits"}, {"individual_digits", true}}, words}}};
    } else if (cut != "gpt-2" && cut != "gpt2") {
      fail("its tokenizer cuts a text as \"" + std::string(cut) +
           "\" does; only gpt-2 and smollm are converted");
    }
    if (file_.has("tokenizer.ggml.add_bos_token") && file_.truth("tokenizer.ggml.add_bos_token"))
      fail("its texts begin with a token of their own (add_bos_token), which is not converted");
    const auto& types = file_.whole_numbers("tokenizer.ggml.token_type");
    if (types.size() != tokens().size())
      fail("has " + std::to_string(tokens().size()) + " tokens and " + std::to_string(types.size()) +
           " kinds of them");
    Ordered added = Ordered::array();
    Json vocab = Json::object();  // a map: looks names up
    for (size_t id = 0; id < tokens().size(); ++id) {
      constexpr int64_t kNormal = 1, kControl = 3, kOwn = 4, kUnused = 5;
      const std::string text(tokens()[id]);
      if (vocab.contains(text))
        fail("has the token " + Json(text).dump(-1, ' ', true, Json::error_handler_t::replace) + " twice");
      vocab[text] = id;
      if (types[id] == kNormal) continue;
      if (types[id] != kControl && types[id] != kOwn && types[id] != kUnused)
        fail("token " + std::to_string(id) + " is of the kind " + std::to_string(types[id]) +
             ", which is not converted");
      added.push_back({{"id", id},
                       {"content", text},
                       {"single_word", false},
                       {"lstrip", false},
                       {"rstrip", false},
                       {"normalized", false},
                       {"special", types[id] == kControl}});
    }
    Ordered merges = Ordered::array();
    for (const std::string_view merge : file_.texts("tokenizer.ggml.merges")) merges.push_back(merge);
    // Of what is null nothing is done.
    const Ordered json = {
        {"version", "1.0"},
        {"truncation", nullptr},
        {"padding", nullptr},
        {"added_tokens", added},
        {"normalizer", nullptr},
        {"pre_tokenizer", words},
        {"post_processor", nullptr},
        {"decoder",
         {{"type", "ByteLevel"}, {"add_prefix_space", true}, {"trim_offsets", true}, {"use_regex", true}}},
        {"model",
         {{"type", "BPE"},
          {"dropout", nullptr},
          {"unk_token", nullptr},
          {"continuing_subword_prefix", nullptr},
          {"end_of_word_suffix", nullptr},
          {"fuse_unk", false},
          {"byte_fallback", false},
          {"vocab", vocab},
          {"merges", merges}}}};
    return text_of(json);
  }

  std::string tokenizer_config() const {
    Ordered json = {{"tokenizer_class", "PreTrainedTokenizerFast"},
                    {"add_prefix_space", false},
                    {"clean_up_tokenization_spaces", false},
                    {"model_max_length", s_.context}};
    for (const auto& [key, id] : kNamed)
      if (file_.has(id)) json[key] = tokens()[token_named(id)];
    if (file_.has("tokenizer.chat_template")) json["chat_template"] = file_.text("tokenizer.chat_template");
    return text_of(json);
  }

 private:
  struct Named {
    const char *key, *id;
  };
  static constexpr Named kNamed[] = {{"bos_token", "tokenizer.ggml.bos_token_id"},
                                     {"eos_token", "tokenizer.ggml.eos_token_id"},
                                     {"pad_token", "tokenizer.ggml.padding_token_id"}};

  [[noreturn]] void fail(const std::string& what) const { throw FileError(file_.name() + ": " + what); }
  uint64_t size(const std::string& key, uint64_t most) const {
    const uint64_t value = file_.whole(key);
    if (value == 0 || value > most)
      fail(key + " is " + std::to_string(value) + "; 1 to " + std::to_string(most) + " are allowed");
    return value;
  }
  const std::vector<std::string_view>& tokens() const { return file_.texts("tokenizer.ggml.tokens"); }
  size_t token_named(const char* id) const {
    const uint64_t token = file_.whole(id);
    if (token >= tokens().size()) fail(std::string(id) + " is no token: " + std::to_string(token));
    return token;
  }
  bool tied() const { return !file_.tensors().contains("output.weight"); }
  std::string text_of(const Ordered& json) const {
    try {
      return json.dump(1) + "\n";
    } catch (const nlohmann::json::exception&) {
      fail("a token, a merge or the chat template is no UTF-8");
    }
  }

  // rows: 0 is a vector. heads: of q or k, whose rows go back to where they were; 0 of another tensor.
  void take(const std::string& from, const std::string& into, uint64_t rows, uint64_t cols,
            uint64_t heads = 0) {
    std::vector<int64_t> shape;
    if (rows > 0) shape.push_back(static_cast<int64_t>(rows));
    shape.push_back(static_cast<int64_t>(cols));
    std::vector<float> values = floats_of(file_.at(from + ".weight", shape));
    if (heads > 0) values = rows_in_halves(values, heads, s_.dim);
    taken_.insert(from + ".weight");
    made_[into + ".weight"] = {shape, bytes_of(values, dtype_, from)};
    if (progress_) progress_(static_cast<int>(made_.size()), static_cast<int>(file_.tensors().size()));
  }

  const Gguf& file_;
  std::string_view dtype_;
  Sizes s_{};
  std::set<std::string> taken_;
  std::map<std::string, std::pair<std::vector<int64_t>, std::string>> made_;
  std::function<void(int, int)> progress_;
};

}  // namespace

std::vector<float> rows_in_halves(const std::vector<float>& rows, size_t heads, size_t dim) {
  const size_t in = rows.size() / (heads * dim), half = dim / 2;
  std::vector<float> to(rows.size());
  for (size_t h = 0; h < heads; ++h)
    for (size_t i = 0; i < dim; ++i) {
      const size_t from = 2 * (i % half) + i / half;  // where llama.cpp has put row i of the head
      std::copy_n(&rows[(h * dim + from) * in], in, &to[(h * dim + i) * in]);
    }
  return to;
}

void convert(const Gguf& file, const std::filesystem::path& folder, std::string_view dtype,
             const std::function<void(int, int)>& progress) {
  if (dtype != "F32" && dtype != "F16" && dtype != "BF16")
    throw std::invalid_argument("a folder's weights are F32, F16 or BF16, not " + std::string(dtype));
  Converter converter(file, dtype);
  const std::string config = converter.config(), tokenizer = converter.tokenizer(),
                    tokenizer_config = converter.tokenizer_config();
  std::filesystem::create_directories(folder);
  // Without its config.json a folder is no model: so it is away until all is there.
  std::filesystem::remove(folder / "config.json");
  converter.weights(folder / "model.safetensors", progress);
  write_whole(folder / "tokenizer.json", tokenizer);
  write_whole(folder / "tokenizer_config.json", tokenizer_config);
  write_whole(folder / "config.json", config);
}

}  // namespace model
