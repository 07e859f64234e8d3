// SPDX-License-Identifier: MIT
//
// llama.cpp's file becomes a folder of Hugging Face's: blocks of 4 bits become numbers, and the rows of q and k go back to where they were.

#include <cstdio>
#include <string>
#include <vector>

#include "common/compare.h"
#include "common/program.h"
#include "day81_llama_inference/model.h"
#include "model/safetensors.h"

namespace {

// Each projection by itself: a model whose k stands in the wrong order still speaks, only worse.
void check(const model::Gguf& file, const day81::fs::path& folder, days::Program& program) {
  const serve::Config config = serve::load(folder).config;
  const model::Safetensors made(folder / "model.safetensors");
  const auto same = [&](const std::string& from, const std::string& into, size_t heads) {
    const std::vector<float> got = model::floats_of(made.at("model.layers.0." + into + ".weight"));
    const std::vector<float> rows = model::floats_of(file.at("blk.0." + from + ".weight"));
    const auto dim = static_cast<size_t>(config.head_dim);
    const size_t width = static_cast<size_t>(config.width), half = dim / 2;
    std::vector<float> expected(got.size());
    for (size_t row = 0; row < got.size() / width; ++row) {
      // Of llama.cpp's head the pair i is its rows 2 i and 2 i + 1; of Hugging Face's its rows i and dim / 2 + i.
      const size_t in_head = row % dim, pair = in_head / 2;
      const size_t to = heads == 0 ? row : row - in_head + pair + (in_head % 2) * half;
      for (size_t i = 0; i < width; ++i) expected[to * width + i] = rows[row * width + i];
    }
    program.compare(got.data(), expected.data(), got.size(), into.c_str(), {1e-7, 1e-2});  // of any 16 bits
  };
  same("attn_q", "self_attn.q_proj", static_cast<size_t>(config.heads));
  same("attn_k", "self_attn.k_proj", static_cast<size_t>(config.kv_heads));
  same("attn_v", "self_attn.v_proj", 0);
}

}  // namespace

int main(int argc, char** argv) {
  const days::About about{
      .name = "convert",
      .does = "makes a folder of llama.cpp's file",
      .gpu_size = 0,
      .cpu_size = 0,
      .flags = {day81::model_flag(), days::path_flag("--to", "the folder, instead of the file's name"),
                days::choice_flag("--weights", "in the folder", {"fp16", "bf16", "fp32"})}};
  return days::program(argc, argv, about, [](days::Program& program) {
    const day81::fs::path file = day81::given(program);
    const day81::fs::path to =
        program.path("--to").empty() ? day81::folder_of(file) : day81::fs::path(program.path("--to"));
    const std::string& weights = program.choice("--weights");
    day81::convert_here(file, to, weights == "fp16" ? "F16" : weights == "bf16" ? "BF16" : "F32", program);
    check(model::Gguf(file), to, program);
  });
}
