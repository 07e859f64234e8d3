// SPDX-License-Identifier: MIT
#include "model/safetensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <set>
#include <stdexcept>
#include <utility>

#include "common/types.h"
#include "model/json.h"

namespace model {
namespace {

static_assert(std::endian::native == std::endian::little, "files are little endian and taken as they are");

constexpr size_t kLength = 8,
                 kMostHeader = 16'000'000;  // the format has 100 MB; models of 100,000 tensors take 10
constexpr std::string_view kMetadata = "__metadata__";

// Bytes of such a tensor; false where 64 bits cannot say it.
bool size_of(const std::vector<int64_t>& shape, size_t each, size_t* bytes) {
  *bytes = each;
  const bool none = std::find(shape.begin(), shape.end(), 0) != shape.end();
  for (const int64_t extent : shape)
    if (!none && __builtin_mul_overflow(*bytes, static_cast<size_t>(extent), bytes)) return false;
  if (none) *bytes = 0;
  return true;
}

// A whole number of 0 to 2^63 - 1.
bool whole(const Json& value) {
  return value.is_number_unsigned() && value.get<uint64_t>() <= static_cast<uint64_t>(INT64_MAX);
}

}  // namespace

size_t bytes_of(std::string_view dtype) {
  static constexpr std::array<std::pair<std::string_view, size_t>, 14> kTypes{{{"BOOL", 1},
                                                                               {"U8", 1},
                                                                               {"I8", 1},
                                                                               {"F8_E4M3", 1},
                                                                               {"F8_E5M2", 1},
                                                                               {"U16", 2},
                                                                               {"I16", 2},
                                                                               {"F16", 2},
                                                                               {"BF16", 2},
                                                                               {"U32", 4},
                                                                               {"I32", 4},
                                                                               {"F32", 4},
                                                                               {"F64", 8},
                                                                               {"I64", 8}}};
  for (const auto& [name, bytes] : kTypes)
    if (name == dtype) return bytes;
  return dtype == "U64" ? 8 : 0;
}

int64_t Tensor::elements() const {
  int64_t n = 1;
  for (const int64_t extent : shape) n *= extent;
  return n;
}

std::vector<float> floats_of(const Tensor& tensor) {
  std::vector<float> to(static_cast<size_t>(tensor.elements()));
  const auto take = [&]<class T>(T value) {
    for (size_t i = 0; i < to.size(); ++i) {
      std::memcpy(&value, tensor.bytes.data() + i * sizeof value, sizeof value);
      to[i] = days::to_float(value);
    }
  };
  if (tensor.dtype == "F32") {
    if (!to.empty()) std::memcpy(to.data(), tensor.bytes.data(), tensor.bytes.size());
  } else if (tensor.dtype == "F16") {
    take(days::half{});
  } else if (tensor.dtype == "BF16") {
    take(days::bf16{});
  } else {
    throw std::invalid_argument("a tensor of " + tensor.dtype + " is none of floats");
  }
  return to;
}

Safetensors::Safetensors(const std::filesystem::path& path) : file_(path) {
  const std::string_view all = file_.bytes();
  const auto fail = [&](const std::string& what) { throw FileError(file_.name() + ": " + what); };
  if (all.size() < kLength)
    fail("is no safetensors file: it has " + std::to_string(all.size()) +
         " bytes, and the header's length alone takes 8");
  uint64_t length;
  std::memcpy(&length, all.data(), kLength);
  if (length > kMostHeader)
    fail("its header would have " + std::to_string(length) + " bytes; 16000000 are the most");
  if (length > all.size() - kLength)
    fail("its header would have " + std::to_string(length) + " bytes, and only " +
         std::to_string(all.size() - kLength) + " follow: the file is cut short, or no safetensors file");
  const std::string_view text = all.substr(kLength, length), data = all.substr(kLength + length);
  if (text.empty() || text.front() != '{') fail("its header does not begin with {");
  const Json header = parse_json(text, file_.name() + ", header", 3);

  std::vector<std::pair<size_t, size_t>> ranges;
  for (const auto& [name, entry] : header.items()) {
    if (!entry.is_object()) fail("\"" + name + "\" is no object");
    if (name == kMetadata) {
      for (const auto& [key, value] : entry.items()) {
        if (!value.is_string()) fail("metadata \"" + key + "\" is no text");
        metadata_[key] = value.get<std::string>();
      }
      continue;
    }
    const auto wrong = [&, &name = name](const std::string& what) {
      fail("tensor \"" + name + "\": " + what);
    };
    for (const char* key : {"dtype", "shape", "data_offsets"})
      if (!entry.contains(key)) wrong(std::string("has no ") + key);
    if (entry.size() != 3) wrong("has more than dtype, shape and data_offsets");
    if (!entry["dtype"].is_string()) wrong("its dtype is no text");
    Tensor tensor{entry["dtype"].get<std::string>(), {}, {}};
    const size_t each = bytes_of(tensor.dtype);
    if (each == 0) wrong("has the unknown dtype " + tensor.dtype);
    if (!entry["shape"].is_array()) wrong("its shape is no list");
    for (const Json& extent : entry["shape"]) {
      if (!whole(extent)) wrong("its shape has an extent of " + extent.dump());
      tensor.shape.push_back(extent.get<int64_t>());
    }
    const Json& offsets = entry["data_offsets"];
    if (!offsets.is_array() || offsets.size() != 2 || !whole(offsets[0]) || !whole(offsets[1]))
      wrong("its data_offsets are no two whole numbers");
    const size_t begin = offsets[0].get<size_t>(), end = offsets[1].get<size_t>();
    if (begin > end || end > data.size())
      wrong("its bytes would be " + std::to_string(begin) + " to " + std::to_string(end) + " of " +
            std::to_string(data.size()));
    size_t bytes;
    if (!size_of(tensor.shape, each, &bytes))
      wrong("its shape " + shape_text(tensor.shape) + " is too large");
    if (bytes != end - begin)
      wrong("shape " + shape_text(tensor.shape) + " of " + tensor.dtype + " takes " + std::to_string(bytes) +
            " bytes, and it has " + std::to_string(end - begin));
    tensor.bytes = data.substr(begin, end - begin);
    ranges.emplace_back(begin, end);
    tensors_.emplace(name, std::move(tensor));
  }
  std::sort(ranges.begin(), ranges.end());
  size_t expected = 0;
  for (const auto& [begin, end] : ranges) {
    if (begin != expected)
      fail(begin < expected ? "two tensors share byte " + std::to_string(begin)
                            : "bytes " + std::to_string(expected) + " to " + std::to_string(begin) +
                                  " belong to no tensor");
    expected = end;
  }
  if (expected != data.size())
    fail("bytes " + std::to_string(expected) + " to " + std::to_string(data.size()) + " belong to no tensor");
}

const Tensor& Safetensors::at(const std::string& name) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) throw FileError(file_.name() + ": has no tensor \"" + name + "\"");
  return found->second;
}

const Tensor& Safetensors::at(const std::string& name, std::string_view dtype,
                              const std::vector<int64_t>& shape) const {
  const Tensor& tensor = at(name);
  if (tensor.dtype != dtype || tensor.shape != shape)
    throw FileError(file_.name() + ": tensor \"" + name + "\" is " + tensor.dtype + " " +
                    shape_text(tensor.shape) + ", and should be " + std::string(dtype) + " " +
                    shape_text(shape));
  return tensor;
}

void write_safetensors(const std::filesystem::path& path, const std::map<std::string, Tensor>& tensors,
                       const std::map<std::string, std::string>& metadata) {
  // The widest types first: then each tensor is aligned to its type, since the header's end is aligned to 8.
  std::vector<std::pair<std::string, const Tensor*>> order;
  for (const auto& [name, tensor] : tensors) {
    size_t bytes = 0;
    const size_t each = bytes_of(tensor.dtype);
    const bool negative =
        std::any_of(tensor.shape.begin(), tensor.shape.end(), [](int64_t n) { return n < 0; });
    if (name == kMetadata || each == 0 || negative || !size_of(tensor.shape, each, &bytes) ||
        bytes != tensor.bytes.size())
      throw std::invalid_argument("tensor \"" + name + "\": " + tensor.dtype + " " +
                                  shape_text(tensor.shape) + " and " + std::to_string(tensor.bytes.size()) +
                                  " bytes do not go together");
    order.emplace_back(name, &tensor);
  }
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return bytes_of(a.second->dtype) > bytes_of(b.second->dtype);
  });
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header[std::string(kMetadata)] = metadata;
  std::vector<std::string_view> parts(2);
  size_t end = 0;
  for (const auto& [name, tensor] : order) {
    header[name] = {{"dtype", tensor->dtype},
                    {"shape", tensor->shape},
                    {"data_offsets", {end, end + tensor->bytes.size()}}};
    end += tensor->bytes.size();
    parts.push_back(tensor->bytes);
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const nlohmann::json::exception&) {
    throw std::invalid_argument(path.string() + ": a name or metadata is no UTF-8");
  }
  text.append((8 - text.size() % 8) % 8, ' ');
  if (text.size() > kMostHeader)
    throw std::invalid_argument(path.string() + ": the header is longer than readers take");
  const uint64_t length = text.size();
  parts[0] = {reinterpret_cast<const char*>(&length), kLength};
  parts[1] = text;
  write_whole(path, parts);
}

}  // namespace model
