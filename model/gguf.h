// SPDX-License-Identifier: MIT
//
// Files of a model in the format GGUF, version 3, as llama.cpp writes them: named values, then tensors, many of them in blocks of a few
// bits. https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/files.h"

namespace model {

// How a tensor's elements lie in the file. A block is 32 elements of a row, and begins with d, or with d and m, in fp16:
//   Q8_0  d, then 32 bytes q, signed: d q
//   Q4_0  d, then 16 bytes: element i is the lower half q of byte i, element 16 + i the upper one: d (q - 8)
//   Q4_1  d and m, then 16 bytes as Q4_0's: d q + m
enum class GgufType : uint32_t { kF32 = 0, kF16 = 1, kQ4_0 = 2, kQ4_1 = 3, kQ8_0 = 8, kBF16 = 30 };
const char* name_of(GgufType);

struct GgufTensor {
  GgufType type;
  std::vector<int64_t> shape;  // the rows' length last, as in safetensors; the file has it first
  std::string_view bytes;      // as long as the Gguf lives

  int64_t elements() const;
};

// A file, mapped. Every count, length, offset and size is checked before anything is taken: the constructor throws FileError, which says
// what is wrong, where the file is not exactly what the format allows, or has more than 64 MB before its tensors, an array in an array, a
// tensor of another type than those above, or a value or tensor of the same name twice.
class Gguf {
 public:
  explicit Gguf(const std::filesystem::path& path);

  const std::string& name() const { return file_.name(); }

  // Each throws FileError that names the value, where there is none of that name or it is of another kind. Numbers of any width are one
  // kind; negative ones are none of whole().
  bool has(const std::string& key) const { return values_.contains(key); }
  uint64_t whole(const std::string& key) const;
  double real(const std::string& key) const;  // or a whole one
  bool truth(const std::string& key) const;
  std::string_view text(const std::string& key) const;
  const std::vector<std::string_view>& texts(const std::string& key) const;
  const std::vector<int64_t>& whole_numbers(const std::string& key) const;

  const std::map<std::string, GgufTensor>& tensors() const { return tensors_; }
  const GgufTensor& at(const std::string& name) const;
  const GgufTensor& at(const std::string& name, const std::vector<int64_t>& shape) const;

 private:
  // A monostate stands for an array of numbers that are not whole, which no model needs.
  using Value = std::variant<std::monostate, bool, uint64_t, int64_t, double, std::string_view,
                             std::vector<std::string_view>, std::vector<int64_t>>;
  friend class GgufReader;
  template <class T>
  const T& value(const std::string& key, const char* kind) const;

  MappedFile file_;
  std::map<std::string, Value> values_;
  std::map<std::string, GgufTensor> tensors_;
};

// The numbers that a tensor stands for, in its order.
std::vector<float> floats_of(const GgufTensor&);

}  // namespace model
