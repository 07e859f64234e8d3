// SPDX-License-Identifier: MIT
#include "gpt/files.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "common/check.h"
#include "common/util.h"
#include "model/json.h"
#include "model/safetensors.h"
#include "model/tokens.h"

namespace gpt {
namespace {

namespace fs = std::filesystem;
using model::FileError;
using model::Json;

std::string_view bytes_of(const std::vector<float>& values, size_t offset, size_t n) {
  return {reinterpret_cast<const char*>(values.data() + offset), n * sizeof(float)};
}

// The shape in files, which hold no padding.
std::vector<int64_t> shape_in_file(const Layout& layout, const Parameter& p) {
  std::vector<int64_t> shape = p.shape;
  if (p.offset == layout.tokens) shape[0] = layout.config.vocab;
  return shape;
}
size_t elements_in_file(const Layout& layout, const Parameter& p) {
  size_t n = 1;
  for (const int64_t extent : shape_in_file(layout, p)) n *= static_cast<size_t>(extent);
  return n;
}

void add_tensors(const Layout& layout, const std::vector<float>& values, const std::string& prefix,
                 std::map<std::string, model::Tensor>* tensors) {
  for (const Parameter& p : layout.parameters)
    (*tensors)[prefix + p.name] = {"F32", shape_in_file(layout, p),
                                   bytes_of(values, p.offset, elements_in_file(layout, p))};
}
std::vector<float> take_tensors(const Layout& layout, const model::Safetensors& file,
                                const std::string& prefix) {
  constexpr std::string_view kOuter = "transformer.";
  // How large a model is, is config.json's word alone until all its tensors are seen: only then memory is taken.
  std::vector<const model::Tensor*> found;
  for (const Parameter& p : layout.parameters) {
    std::string name = prefix + p.name;
    if (!file.tensors().contains(name) && file.tensors().contains(prefix + p.name.substr(kOuter.size())))
      name = prefix + p.name.substr(kOuter.size());
    found.push_back(&file.at(name, "F32", shape_in_file(layout, p)));
  }
  std::vector<float> values(layout.elements);
  for (size_t i = 0; i < found.size(); ++i)
    std::memcpy(values.data() + layout.parameters[i].offset, found[i]->bytes.data(), found[i]->bytes.size());
  return values;
}

// Of a whole number with digits alone.
template <class Number>
Number number_of(const std::string& text, const std::string& what) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    throw FileError(what + " is no number: \"" + text + "\"");
  return value;
}

std::string folder_name(int64_t step) {
  char name[40];
  std::snprintf(name, sizeof name, "step_%06lld", static_cast<long long>(step));
  return name;
}

}  // namespace

fs::path given_or_in_course(const std::string& given, const std::string& place) {
  if (!given.empty()) return given;
  for (fs::path folder = fs::current_path();; folder = folder.parent_path()) {
    if (fs::exists(folder / "corpus" / "austen.txt")) return folder / place;
    if (folder == folder.parent_path())
      throw std::invalid_argument("corpus/austen.txt is not here: start in the course's folder");
  }
}

size_t write_tokens(const fs::path& text, size_t most_bytes, int vocab, const fs::path& folder,
                    const std::function<void(int, int)>& progress) {
  days::require(vocab <= 65536, "tokens in files have 16 bits: a vocabulary has at most 65536, not", vocab);
  const model::MappedFile file(text);
  const std::string_view all = file.bytes().substr(0, most_bytes);
  const model::Tokenizer tokenizer = model::Tokenizer::train(all, vocab, progress);
  const std::vector<int32_t> ids = tokenizer.encode(all);
  const std::vector<uint16_t> tokens(ids.begin(), ids.end());
  const size_t of_training = tokens.size() - tokens.size() / 10;
  const std::string_view bytes(reinterpret_cast<const char*>(tokens.data()),
                               tokens.size() * sizeof(uint16_t));
  tokenizer.save(folder);
  model::write_whole(folder / "val.bin", bytes.substr(of_training * sizeof(uint16_t)));
  model::write_whole(folder / "train.bin", bytes.substr(0, of_training * sizeof(uint16_t)));
  return tokens.size();
}

std::vector<uint16_t> read_tokens(const fs::path& path, int vocab) {
  const model::MappedFile file(path);
  if (file.bytes().size() % 2 != 0) throw FileError(file.name() + ": has half a token at its end");
  std::vector<uint16_t> tokens(file.bytes().size() / 2);
  if (!tokens.empty()) std::memcpy(tokens.data(), file.bytes().data(), file.bytes().size());
  for (size_t i = 0; i < tokens.size(); ++i)
    if (tokens[i] >= vocab)
      throw FileError(file.name() + ": token " + std::to_string(i) + " is " + std::to_string(tokens[i]) +
                      ", and the model's vocabulary has " + std::to_string(vocab));
  return tokens;
}

// ---- curve ----

std::string curve_csv(const std::vector<Point>& points) {
  std::string text = "step,train,validation\n";
  for (const Point& point : points) {
    char line[100];
    std::snprintf(line, sizeof line, "%lld,%.9g,%.9g\n", static_cast<long long>(point.step), point.train,
                  point.validation);
    text += line;
  }
  return text;
}

std::vector<Point> read_csv(const fs::path& path) {
  const model::MappedFile file(path);
  std::vector<Point> points;
  std::string_view rest = file.bytes();
  for (int number = 1; !rest.empty(); ++number) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string line(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (number == 1) continue;
    const size_t first = line.find(','), second = line.find(',', first + 1);
    const std::string where = file.name() + ":" + std::to_string(number);
    if (first == std::string::npos || second == std::string::npos)
      throw FileError(where + ": is no row of three");
    const auto loss = [&](const std::string& text) {
      return text.find("nan") != std::string::npos ? NAN : number_of<double>(text, where);
    };
    points.push_back({number_of<int64_t>(line.substr(0, first), where),
                      loss(line.substr(first + 1, second - first - 1)), loss(line.substr(second + 1))});
  }
  return points;
}

std::string curve_svg(const std::vector<Point>& points, const std::string& title) {
  constexpr double kWidth = 640, kHeight = 360, kLeft = 56, kRight = 16, kTop = 40, kBottom = 44;
  double least = INFINITY, most = -INFINITY;
  int64_t last = 1;
  const auto is_shown = [](double loss) { return std::abs(loss) <= 1e6; };  // neither NaN nor run away
  for (const Point& point : points) {
    last = std::max(last, point.step);
    for (const double loss : {point.train, point.validation})
      if (is_shown(loss)) least = std::min(least, loss), most = std::max(most, loss);
  }
  if (!(least <= most)) least = 0, most = 1;
  least = std::floor(least), most = std::max(std::ceil(most), least + 1);
  const auto x = [&](int64_t step) {
    return kLeft + (kWidth - kLeft - kRight) * static_cast<double>(step) / static_cast<double>(last);
  };
  const auto y = [&](double loss) {
    return kTop + (kHeight - kTop - kBottom) * (most - loss) / (most - least);
  };
  std::string svg;
  const auto add = [&](const char* format, auto... values) {
    char line[400];
    std::snprintf(line, sizeof line, format, values...);
    svg += line;
  };
  add("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" font-family=\"sans-serif\" "
      "font-size=\"13\">\n",
      kWidth, kHeight);
  svg += "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
  add("<text x=\"%.0f\" y=\"22\" font-size=\"15\">%s</text>\n", kLeft, title.c_str());
  const double every = std::max(1.0, std::ceil((most - least) / 20));
  for (double loss = least; loss <= most; loss += every) {
    add("<line x1=\"%.0f\" x2=\"%.0f\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#ddd\"/>\n", kLeft, kWidth - kRight,
        y(loss), y(loss));
    add("<text x=\"%.0f\" y=\"%.1f\" text-anchor=\"end\">%.0f</text>\n", kLeft - 8, y(loss) + 4, loss);
  }
  for (const int64_t step : {int64_t{0}, last / 2, last})
    add("<text x=\"%.1f\" y=\"%.0f\" text-anchor=\"middle\">%lld</text>\n", x(step), kHeight - kBottom + 20,
        static_cast<long long>(step));
  add("<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"middle\">step</text>\n", (kLeft + kWidth) / 2, kHeight - 8);
  svg += "<polyline fill=\"none\" stroke=\"#1f77b4\" stroke-width=\"1\" points=\"";
  for (const Point& point : points)
    if (is_shown(point.train)) add("%.1f,%.1f ", x(point.step), y(point.train));
  svg += "\"/>\n";
  for (const Point& point : points)
    if (is_shown(point.validation))
      add("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"#d62728\"/>\n", x(point.step), y(point.validation));
  add("<text x=\"%.0f\" y=\"22\" text-anchor=\"end\"><tspan fill=\"#1f77b4\">training</tspan>  "
      "<tspan fill=\"#d62728\">validation</tspan></text>\n</svg>\n",
      kWidth - kRight);
  return svg;
}

// ---- checkpoints ----

fs::path save(const fs::path& folder, const Layout& layout, const Checkpoint& c, const fs::path& tokens) {
  const fs::path name = folder / folder_name(c.memory.step), temporary = name.string() + ".tmp";
  fs::create_directories(folder);
  fs::remove_all(temporary);
  fs::create_directory(temporary);
  const Config& of = c.config;
  const nlohmann::ordered_json config = {{"architectures", {"GPT2LMHeadModel"}},
                                         {"model_type", "gpt2"},
                                         {"activation_function", "gelu_new"},
                                         {"n_layer", of.layers},
                                         {"n_head", of.heads},
                                         {"n_embd", of.width},
                                         {"n_positions", of.context},
                                         {"n_ctx", of.context},
                                         {"vocab_size", of.vocab},
                                         {"layer_norm_epsilon", 1e-5},
                                         {"attn_pdrop", 0.0},
                                         {"embd_pdrop", 0.0},
                                         {"resid_pdrop", 0.0},
                                         {"tie_word_embeddings", true},
                                         {"bos_token_id", of.vocab - 1},
                                         {"eos_token_id", of.vocab - 1}};
  model::write_whole(temporary / "config.json", config.dump(2) + "\n");
  for (const char* file : {"vocab.json", "merges.txt"})
    model::write_whole(temporary / file, model::MappedFile(tokens / file).bytes());
  model::write_whole(temporary / "loss.csv", curve_csv(c.points));
  std::map<std::string, model::Tensor> kept;
  add_tensors(layout, c.memory.m, "m.", &kept);
  add_tensors(layout, c.memory.v, "v.", &kept);
  model::write_safetensors(temporary / "optimizer.safetensors", kept,
                           {{"step", std::to_string(c.memory.step)},
                            {"samples", std::to_string(c.samples)},
                            {"settings", c.settings}});
  std::map<std::string, model::Tensor> weights;
  add_tensors(layout, c.memory.weights, "", &weights);
  model::write_safetensors(temporary / "model.safetensors", weights, {{"format", "pt"}});
  model::sync_folder(temporary);
  fs::remove_all(name);  // of the same step: it has been computed again
  fs::rename(temporary, name);
  model::sync_folder(folder);
  return name;
}

std::optional<fs::path> newest(const fs::path& folder) {
  std::optional<fs::path> found;
  int64_t most = -1;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("step_") || name.size() < 11 ||
        name.find_first_not_of("0123456789", 5) != std::string::npos)
      continue;
    const auto step = number_of<int64_t>(name.substr(5), entry.path().string());
    if (step > most) most = step, found = entry.path();
  }
  return found;
}

Config load_config(const fs::path& folder) {
  const model::MappedFile file(folder / "config.json");
  const Json json = model::parse_json(file.bytes(), file.name(), 8);
  const auto fail = [&](const std::string& what) { throw FileError(file.name() + ": " + what); };
  if (!json.is_object()) fail("is no object");
  const auto text = [&](const char* key, const char* wanted) {
    if (!json.contains(key) || json[key] != wanted)
      fail(std::string(key) + " is " + (json.contains(key) ? json[key].dump() : "missing") +
           ", and has to be " + wanted);
  };
  text("model_type", "gpt2");
  text("activation_function", "gelu_new");
  const auto number = [&](const char* key) {
    if (!json.contains(key)) fail(std::string("has no ") + key);
    if (!json[key].is_number_unsigned() || json[key].get<uint64_t>() > 1 << 24)
      fail(std::string(key) + " is no size: " + json[key].dump());
    return json[key].get<int>();
  };
  Config config{number("n_layer"),    number("n_head"), number("n_embd"), number("vocab_size"), 0,
                number("n_positions")};
  config.padded_vocab = days::round_up(config.vocab, 64);
  if (!json.contains("layer_norm_epsilon") || !json["layer_norm_epsilon"].is_number() ||
      json["layer_norm_epsilon"].get<double>() != 1e-5)
    fail("layer_norm_epsilon has to be 1e-05");
  try {
    require_config(config);
  } catch (const std::invalid_argument& error) {
    fail(error.what());
  }
  return config;
}

std::vector<float> load_weights(const fs::path& folder, const Layout& layout) {
  return take_tensors(layout, model::Safetensors(folder / "model.safetensors"), "");
}

Checkpoint load(const fs::path& folder) {
  Checkpoint c;
  c.config = load_config(folder);
  const Layout layout(c.config);
  c.memory.weights = load_weights(folder, layout);
  const fs::path name = folder / "optimizer.safetensors";
  const model::Safetensors kept(name);
  c.memory.m = take_tensors(layout, kept, "m.");
  c.memory.v = take_tensors(layout, kept, "v.");
  const auto metadata = [&](const char* key) {
    const auto found = kept.metadata().find(key);
    if (found == kept.metadata().end())
      throw FileError(name.string() + ": has no " + key + " in its metadata");
    return found->second;
  };
  c.memory.step = number_of<int64_t>(metadata("step"), name.string() + ": step");
  c.samples = number_of<uint64_t>(metadata("samples"), name.string() + ": samples");
  c.settings = metadata("settings");
  if (c.memory.step < 0) throw FileError(name.string() + ": step is negative");
  c.points = read_csv(folder / "loss.csv");
  return c;
}

}  // namespace gpt
