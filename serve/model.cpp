// SPDX-License-Identifier: MIT
#include "serve/model.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

#include "common/check.h"
#include "common/util.h"
#include "gpt/files.h"
#include "model/json.h"
#include "model/safetensors.h"

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
  if (c.stretch.factor != 0)
    days::require(c.stretch.factor >= 1 && c.stretch.factor <= 1e6 && c.stretch.low > 0 &&
                      c.stretch.high > c.stretch.low && c.stretch.high <= 1e6 && c.stretch.context >= 1 &&
                      c.stretch.context <= 1e9,
                  "the turns are stretched by 1 to 1e6, with 0 < low < high, not by", c.stretch.factor);
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

std::vector<double> turns_of(const Config& c) {
  constexpr double kTwoPi = 2 * 3.14159265358979323846;
  std::vector<double> turns;
  for (int i = 0; i < c.head_dim / 2; ++i) {
    double turn = std::pow(c.base, -2.0 * i / c.head_dim);
    if (c.stretch.factor > 0) {
      const Config::Stretch& s = c.stretch;
      const double rounds = s.context * turn / kTwoPi;
      const double part = std::clamp((rounds - s.low) / (s.high - s.low), 0.0, 1.0);
      turn *= part + (1 - part) / s.factor;
    }
    turns.push_back(turn);
  }
  return turns;
}

// ---- folders ----

namespace {

using model::FileError;
using model::Json;

// config.json, whose every complaint begins with the file's name.
class FolderConfig {
 public:
  FolderConfig(std::string file, const Json& json) : file_(std::move(file)), json_(json) {}

  [[noreturn]] void fail(const std::string& what) const { throw FileError(file_ + ": " + what); }
  Config read_llama(std::vector<int32_t>* ends) const {
    only("hidden_act", "silu", "silu");
    only("attention_bias", false, false);
    only("mlp_bias", false, false);
    only("sliding_window", nullptr, nullptr);
    only("use_sliding_window", false, false);
    only("quantization_config", nullptr, nullptr);
    only("partial_rotary_factor", 1.0, 1.0);
    Config c{.layers = size("num_hidden_layers"),
             .width = size("hidden_size"),
             .heads = size("num_attention_heads"),
             .norm = Norm::kRms,
             .inner_kind = Inner::kSwiGlu,
             .places = Places::kTurned,
             .has_biases = false};
    c.kv_heads = has("num_key_value_heads") ? size("num_key_value_heads") : c.heads;
    if (c.heads == 0) fail("num_attention_heads is 0");
    c.head_dim = has("head_dim") ? size("head_dim") : c.width / c.heads;
    c.inner = size("intermediate_size");
    c.vocab = size("vocab_size");
    c.padded_vocab = days::round_up(c.vocab, 8);
    c.context = size("max_position_embeddings");
    c.eps = static_cast<float>(real(json_, "rms_norm_eps"));
    read_turns(&c);
    read_ends(c.vocab, ends);
    try {
      require_config(c);
    } catch (const std::invalid_argument& error) {
      fail(error.what());
    }
    return c;
  }
  void read_ends(int vocab, std::vector<int32_t>* ends) const {
    if (const Json& end = at("eos_token_id"); end.is_array()) {
      for (const Json& one : end) ends->push_back(token(one, vocab));
    } else if (!end.is_null()) {
      ends->push_back(token(end, vocab));
    }
  }
  bool tied() const {
    const Json& value = at("tie_word_embeddings");
    if (!value.is_null() && !value.is_boolean()) fail("tie_word_embeddings is " + value.dump());
    return value.is_boolean() && value.get<bool>();
  }

 private:
  static const Json& in(const Json& object, const char* key) {
    static const Json kNull;
    return object.is_object() && object.contains(key) ? object[key] : kNull;
  }
  const Json& at(const char* key) const { return in(json_, key); }
  bool has(const char* key) const { return !at(key).is_null(); }

  // What changes a Llama, and is not computed here.
  void only(const char* key, const Json& wanted, const Json& preset) const {
    const Json& value = at(key).is_null() ? preset : at(key);
    if (value != wanted)
      fail(std::string(key) + " is " + value.dump() + ", and only " + wanted.dump() + " is computed here");
  }
  int size(const char* key) const {
    if (!has(key)) fail(std::string("has no ") + key);
    if (!at(key).is_number_unsigned() || at(key).get<uint64_t>() > 1 << 24)
      fail(std::string(key) + " is no size: " + at(key).dump());
    return at(key).get<int>();
  }
  double real(const Json& object, const char* key) const {
    const Json& value = in(object, key);
    if (!value.is_number())
      fail(std::string(key) + (value.is_null() ? " is missing" : " is no number: " + value.dump()));
    return value.get<double>();
  }
  int32_t token(const Json& value, int vocab) const {
    if (!value.is_number_unsigned() || value.get<uint64_t>() >= static_cast<uint64_t>(vocab))
      fail("eos_token_id is no token: " + value.dump());
    return value.get<int32_t>();
  }
  // Since transformers 5 both stand in rope_parameters.
  void read_turns(Config* c) const {
    const Json& both = at("rope_parameters");
    const Json& scaling = both.is_null() ? at("rope_scaling") : both;
    const Json& of_base = both.is_null() ? json_ : both;
    c->base = in(of_base, "rope_theta").is_null() ? 10000.0 : real(of_base, "rope_theta");
    if (scaling.is_null()) return;
    const Json& type = in(scaling, "rope_type").is_null() ? in(scaling, "type") : in(scaling, "rope_type");
    if (type == "default") return;
    if (type != "llama3")
      fail("rope_scaling is of the type " + type.dump() +
           ", and only \"default\" and \"llama3\" are computed here");
    c->stretch = {real(scaling, "factor"), real(scaling, "low_freq_factor"),
                  real(scaling, "high_freq_factor"), real(scaling, "original_max_position_embeddings")};
  }

  std::string file_;
  const Json& json_;
};

std::vector<float> tensor_of(const model::Safetensors& file, const std::string& name,
                             const std::vector<int64_t>& shape) {
  const std::string& dtype = file.at(name).dtype;
  const model::Tensor& tensor = file.at(name, dtype, shape);
  if (dtype != "F32" && dtype != "F16" && dtype != "BF16")
    throw FileError(file.name() + ": tensor \"" + name + "\" is " + dtype +
                    ", and F32, F16 or BF16 are read");
  return model::floats_of(tensor);
}

Model load_llama(const std::filesystem::path& folder, const std::string& config_file, const Json& json) {
  const FolderConfig config(config_file, json);
  Model made;
  made.config = config.read_llama(&made.ends);
  const Config& c = made.config;
  const model::Safetensors file(folder / "model.safetensors");
  const auto take = [&](const std::string& name, int64_t rows, int64_t cols) {
    return tensor_of(file, name + ".weight",
                     rows == 0 ? std::vector<int64_t>{cols} : std::vector<int64_t>{rows, cols});
  };
  const auto append = [](std::vector<float>* to, const std::vector<float>& rows) {
    to->insert(to->end(), rows.begin(), rows.end());
  };
  // Rows from vocab on are 0.
  const auto padded = [&](const std::string& name) {
    std::vector<float> rows = take(name, c.vocab, c.width);
    rows.resize(area(c.padded_vocab, c.width));
    return rows;
  };
  Weights& w = made.weights;
  w.tokens = padded("model.embed_tokens");
  for (int l = 0; l < c.layers; ++l) {
    const std::string of = "model.layers." + std::to_string(l) + ".";
    const int64_t kv = int64_t{c.kv_heads} * c.head_dim;
    Weights::Layer layer;
    layer.norm1 = take(of + "input_layernorm", 0, c.width);
    layer.qkv = take(of + "self_attn.q_proj", c.q_width(), c.width);
    append(&layer.qkv, take(of + "self_attn.k_proj", kv, c.width));
    append(&layer.qkv, take(of + "self_attn.v_proj", kv, c.width));
    layer.proj = take(of + "self_attn.o_proj", c.width, c.q_width());
    layer.norm2 = take(of + "post_attention_layernorm", 0, c.width);
    layer.first = take(of + "mlp.gate_proj", c.inner, c.width);
    append(&layer.first, take(of + "mlp.up_proj", c.inner, c.width));
    layer.down = take(of + "mlp.down_proj", c.width, c.inner);
    w.layers.push_back(std::move(layer));
  }
  w.norm = take("model.norm", 0, c.width);
  if (!config.tied()) w.output = padded("lm_head");
  return made;
}

}  // namespace

Model load(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / "config.json";
  const model::MappedFile file(path);
  const Json json = model::parse_json(file.bytes(), file.name(), 8);
  const Json type = json.is_object() && json.contains("model_type") ? json["model_type"] : Json();
  if (type == "llama") return load_llama(folder, file.name(), json);
  if (type != "gpt2")
    throw FileError(file.name() + ": model_type is " + (type.is_null() ? "missing" : type.dump()) +
                    ", and only \"gpt2\" and \"llama\" are computed here");
  const gpt::Layout layout(gpt::load_config(folder));
  Model made{config_of(layout.config), weights_of(layout, gpt::load_weights(folder, layout))};
  const FolderConfig config(file.name(), json);
  config.read_ends(made.config.vocab, &made.ends);
  return made;
}

}  // namespace serve
