// SPDX-License-Identifier: MIT
//
// A Llama from llama.cpp's file as a folder of Hugging Face's.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "model/gguf.h"

namespace model {

// The rows of q or k, (heads * dim, in), in Hugging Face's order. Both turn pairs of a head's elements by the position. There a pair is
// element i and element dim / 2 + i; llama.cpp moves the rows so that it is 2 i and 2 i + 1.
std::vector<float> rows_in_halves(const std::vector<float>& rows, size_t heads, size_t dim);

// Writes model.safetensors, tokenizer.json, tokenizer_config.json and at last config.json into the folder, which is made where it is
// missing, as transformers' LlamaForCausalLM and AutoTokenizer load them. dtype: "F32" keeps the file's numbers; "F16" and "BF16" round
// them. progress(done, of) is called for each tensor. Throws FileError that names what is missing, or there and not of a Llama;
// std::invalid_argument for another dtype and for a number beyond fp16; std::filesystem::filesystem_error for the folder.
void convert(const Gguf& file, const std::filesystem::path& folder, std::string_view dtype,
             const std::function<void(int, int)>& progress = {});

}  // namespace model
