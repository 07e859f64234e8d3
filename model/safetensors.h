// SPDX-License-Identifier: MIT
//
// Files of tensors in the format safetensors: 8 bytes that hold the header's length, the header in JSON, then the tensors' bytes,
// without gaps. https://github.com/huggingface/safetensors#format
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/files.h"

namespace model {

struct Tensor {
  std::string dtype;           // "F32", "BF16", "F16", "U8", ...
  std::vector<int64_t> shape;  // {} is a single number
  // Its elements, little endian. They begin at any address, so that a reader copies them before it takes them for numbers. They belong to
  // the Safetensors or, in write_safetensors(), to the caller, and the view is good as long as that lives.
  std::string_view bytes;

  int64_t elements() const;
};

// A file of tensors, mapped. Every length, offset and size is checked before anything is taken: the constructor throws FileError,
// which says what is wrong, where the file is not exactly what the format allows.
class Safetensors {
 public:
  explicit Safetensors(const std::filesystem::path& path);

  const std::string& name() const { return file_.name(); }

  // Throws FileError that names the tensor, where there is none of that name, type or shape.
  const Tensor& at(const std::string& name) const;
  const Tensor& at(const std::string& name, std::string_view dtype, const std::vector<int64_t>& shape) const;
  const std::map<std::string, Tensor>& tensors() const { return tensors_; }
  const std::map<std::string, std::string>& metadata() const { return metadata_; }

 private:
  MappedFile file_;
  std::map<std::string, Tensor> tensors_;
  std::map<std::string, std::string> metadata_;
};

// The numbers of a tensor of F32, F16 or BF16; throws std::invalid_argument for another.
std::vector<float> floats_of(const Tensor&);

// Bytes of an element of that type; 0 where the format has no such type, or one of less than a byte.
size_t bytes_of(std::string_view dtype);

// Writes such a file by write_whole(), and throws FileError as that does. Throws std::invalid_argument where a tensor's bytes are not what
// its type and shape say, a name or metadata is no UTF-8, or the header is longer than readers take.
void write_safetensors(const std::filesystem::path& path, const std::map<std::string, Tensor>& tensors,
                       const std::map<std::string, std::string>& metadata = {});

}  // namespace model
