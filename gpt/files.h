// SPDX-License-Identifier: MIT
//
// The files of a training: tokens, checkpoints, and its curve. All are written so that under their name there is a whole one or none.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "gpt/layout.h"
#include "gpt/trainer.h"
#include "model/files.h"

namespace gpt {

// `given`, or where that is "" a place in the course's folder: the working one or the nearest above it that has corpus/austen.txt.
// Throws std::invalid_argument where there is none.
std::filesystem::path given_or_in_course(const std::string& given, const std::string& place);

// ---- tokens ----

// Trains a tokenizer on the text and writes vocab.json and merges.txt, then the text's tokens, 16 bits each: train.bin, and of the last
// tenth val.bin. Returns how many tokens there are. progress(tokens of the vocabulary, of).
size_t write_tokens(const std::filesystem::path& text, size_t most_bytes, int vocab,
                    const std::filesystem::path& folder, const std::function<void(int, int)>& progress = {});

// A file of tokens, each below `vocab`. Throws model::FileError.
std::vector<uint16_t> read_tokens(const std::filesystem::path& file, int vocab);

// ---- curve ----

struct Point {
  int64_t step;
  double train, validation;  // losses; NaN where nobody looked
};
std::string curve_csv(const std::vector<Point>& points);
std::vector<Point> read_csv(const std::filesystem::path& file);
// A picture of it: training thin, validation with dots.
std::string curve_svg(const std::vector<Point>& points, const std::string& title);

// ---- checkpoints ----

struct Checkpoint {
  Config config;
  Memory memory;
  uint64_t samples = 0;  // that the loader has given
  std::string settings;  // what else the same steps need; a resume with others is refused
  std::vector<Point> points;
};

// Writes FOLDER/step_000400 by way of step_000400.tmp: model.safetensors and config.json as Hugging Face's transformers load them,
// optimizer.safetensors, loss.csv, and the tokenizer's files from `tokens`. Returns the folder.
std::filesystem::path save(const std::filesystem::path& folder, const Layout& layout,
                           const Checkpoint& checkpoint, const std::filesystem::path& tokens);
// The folder of the last step below `folder`, if there is any.
std::optional<std::filesystem::path> newest(const std::filesystem::path& folder);
// Throws model::FileError that names what is missing or wrong.
Checkpoint load(const std::filesystem::path& folder);

// The model alone, of any folder that has config.json and model.safetensors of a GPT-2, names with "transformer." or without.
Config load_config(const std::filesystem::path& folder);
std::vector<float> load_weights(const std::filesystem::path& folder, const Layout& layout);

}  // namespace gpt
