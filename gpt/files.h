// SPDX-License-Identifier: MIT
//
// The files of a training: tokens, checkpoints, and its curve. All are written so that under their name there is a whole one or none.
// Whatever reads or writes throws model::FileError, which names the file, and std::filesystem::filesystem_error where a folder cannot be
// made, renamed or removed.
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

// Trains a tokenizer of `vocab` tokens on the first most_bytes bytes of the text and writes vocab.json and merges.txt, then these bytes
// as tokens, 16 bits each: the last tenth of the tokens as val.bin, and at last the others as train.bin. Returns how many tokens both
// have. progress(done, of) is Tokenizer::train()'s. Throws std::invalid_argument where vocab is not 257 to 65536, or the text is too
// short for it.
size_t write_tokens(const std::filesystem::path& text, size_t most_bytes, int vocab,
                    const std::filesystem::path& folder, const std::function<void(int, int)>& progress = {});

// Reads such a file. Throws model::FileError also where a token is not below `vocab`.
std::vector<uint16_t> read_tokens(const std::filesystem::path& file, int vocab);

// ---- curve ----

struct Point {
  int64_t step;
  double train, validation;  // losses; NaN where nobody looked
};
// The text of a file of points, and the points of such a file.
std::string curve_csv(const std::vector<Point>& points);
std::vector<Point> read_csv(const std::filesystem::path& file);
// The text of an SVG picture of the points: training is a thin line, validation dots.
std::string curve_svg(const std::vector<Point>& points, const std::string& title);

// ---- checkpoints ----

struct Checkpoint {
  Config config;
  Memory memory;
  uint64_t samples = 0;  // that the loader has given
  // The caller's own words for all that decides over the steps beside these: size, precision, batch, ... A caller that resumes compares
  // them with its own, and refuses where they differ; load() does not.
  std::string settings;
  std::vector<Point> points;
};

// Writes FOLDER/step_000400 by way of step_000400.tmp: model.safetensors and config.json as Hugging Face's transformers load them,
// optimizer.safetensors, loss.csv, and the tokenizer's files from `tokens`. The number is memory.step; a folder of the same step is
// replaced. Files hold no padding. Returns the folder.
std::filesystem::path save(const std::filesystem::path& folder, const Layout& layout,
                           const Checkpoint& checkpoint, const std::filesystem::path& tokens);
// The folder of the last step below `folder`, if there is any.
std::optional<std::filesystem::path> newest(const std::filesystem::path& folder);
// Reads all of such a folder but the tokenizer. Throws model::FileError that names what is missing or wrong.
Checkpoint load(const std::filesystem::path& folder);

// These read the model alone, from any folder that has config.json and model.safetensors of a GPT-2, names with "transformer." or
// without, weights in fp32. No file has padded_vocab: load_config() and load() make it vocab rounded up to a multiple of 64.
Config load_config(const std::filesystem::path& folder);
std::vector<float> load_weights(const std::filesystem::path& folder, const Layout& layout);

}  // namespace gpt
