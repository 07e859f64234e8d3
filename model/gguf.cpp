// SPDX-License-Identifier: MIT
#include "model/gguf.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "common/types.h"

namespace model {
namespace {

static_assert(std::endian::native == std::endian::little, "files are little endian and taken as they are");

constexpr size_t kMostHeader = 64'000'000, kMostName = 65535;
constexpr uint64_t kBlock = 32;  // elements

// The file's numbers for the kinds of values.
enum Kind : uint32_t {
  kU8,
  kI8,
  kU16,
  kI16,
  kU32,
  kI32,
  kF32,
  kBool,
  kText,
  kArray,
  kU64,
  kI64,
  kF64,
  kKinds
};  // clang-format off
constexpr size_t kBytes[kKinds] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
// clang-format on

// Elements of a block, and its bytes.
struct Blocks {
  uint64_t elements, bytes;
};
Blocks blocks_of(GgufType type) {
  switch (type) {
    case GgufType::kF32:
      return {1, 4};
    case GgufType::kF16:
    case GgufType::kBF16:
      return {1, 2};
    case GgufType::kQ4_0:
      return {kBlock, 18};
    case GgufType::kQ4_1:
      return {kBlock, 20};
    case GgufType::kQ8_0:
      return {kBlock, 34};
  }
  return {0, 0};
}

// A name from the file as it may stand in a sentence.
std::string shown(std::string_view name) {
  std::string text = "\"";
  for (const char c : name.substr(0, 80)) text += c >= ' ' && c <= '~' ? c : '?';
  return text + (name.size() > 80 ? "...\"" : "\"");
}

template <class T>
T number_at(std::string_view bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

}  // namespace

const char* name_of(GgufType type) {
  switch (type) {
    case GgufType::kF32:
      return "F32";
    case GgufType::kF16:
      return "F16";
    case GgufType::kQ4_0:
      return "Q4_0";
    case GgufType::kQ4_1:
      return "Q4_1";
    case GgufType::kQ8_0:
      return "Q8_0";
    case GgufType::kBF16:
      return "BF16";
  }
  return "another type";
}

int64_t GgufTensor::elements() const {
  int64_t n = 1;
  for (const int64_t extent : shape) n *= extent;
  return n;
}

// Goes through a file once.
class GgufReader {
 public:
  explicit GgufReader(Gguf* to) : to_(to), all_(to->file_.bytes()) {}

  void read() {
    if (all_.size() < 24 || !all_.starts_with("GGUF"))
      fail("is no GGUF file: it does not begin with GGUF and three numbers");
    at_ = 4;
    const auto version = number<uint32_t>("version");
    if (version != 3) fail("is of GGUF's version " + std::to_string(version) + "; 3 is read");
    const auto tensors = number<uint64_t>("number of tensors"), values = number<uint64_t>("number of values");
    // A value takes 8 + 4 + 1 bytes at least, a tensor 8 + 4 + 8 + 4 + 8.
    if (values > left() / 13) fail("cannot have " + std::to_string(values) + " values: it is too short");
    if (tensors > left() / 32) fail("cannot have " + std::to_string(tensors) + " tensors: it is too short");
    for (uint64_t i = 0; i < values; ++i) read_value();
    uint64_t alignment = 32;
    if (to_->has("general.alignment")) alignment = to_->whole("general.alignment");
    if (!std::has_single_bit(alignment) || alignment < 8 || alignment > 1 << 20)
      fail("general.alignment is no power of two of 8 to 1048576: " + std::to_string(alignment));
    for (uint64_t i = 0; i < tensors; ++i) read_tensor(alignment);
    const size_t begin = (at_ + alignment - 1) / alignment * alignment;
    if (!places_.empty() && begin > all_.size())
      fail("is cut short: its tensors would begin at byte " + std::to_string(begin));
    place(begin, alignment);
  }

 private:
  struct Place {
    uint64_t offset, bytes;
    std::string name;
  };

  [[noreturn]] void fail(const std::string& what) const { throw FileError(to_->file_.name() + ": " + what); }
  size_t left() const { return std::min(all_.size(), kMostHeader) - at_; }

  std::string_view take(uint64_t bytes, const std::string& of) {
    if (bytes > left()) {
      fail(of + " would take " + std::to_string(bytes) + " bytes, and " + std::to_string(left()) +
           (all_.size() > kMostHeader ? " are left of the 64000000 that may stand before tensors"
                                      : " follow: the file is cut short"));
    }
    at_ += bytes;
    return all_.substr(at_ - bytes, bytes);
  }
  template <class T>
  T number(const std::string& of) {
    return number_at<T>(take(sizeof(T), of));
  }
  std::string_view text(const std::string& of) { return take(number<uint64_t>(of), of); }
  std::string name(const std::string& of) {
    const std::string_view name = text(of);
    if (name.empty() || name.size() > kMostName)
      fail(of + " has " + std::to_string(name.size()) + " bytes; 1 to 65535 are allowed");
    return std::string(name);
  }

  static int64_t signed_at(uint32_t kind, std::string_view bytes) {
    switch (kind) {
      case kI8:
        return number_at<int8_t>(bytes);
      case kI16:
        return number_at<int16_t>(bytes);
      case kI32:
        return number_at<int32_t>(bytes);
      default:
        return number_at<int64_t>(bytes);
    }
  }
  static uint64_t unsigned_at(uint32_t kind, std::string_view bytes) {
    switch (kind) {
      case kU8:
        return number_at<uint8_t>(bytes);
      case kU16:
        return number_at<uint16_t>(bytes);
      case kU32:
        return number_at<uint32_t>(bytes);
      default:
        return number_at<uint64_t>(bytes);
    }
  }
  static bool is_signed(uint32_t kind) { return kind == kI8 || kind == kI16 || kind == kI32 || kind == kI64; }

  void read_value() {
    const std::string key = name("a value's name"), said = "value " + shown(key);
    const auto kind = number<uint32_t>(said);
    if (kind >= kKinds) fail(said + " is of the unknown kind " + std::to_string(kind));
    Gguf::Value value;
    if (kind == kText) {
      value = text(said);
    } else if (kind == kArray) {
      value = array(said);
    } else {
      const std::string_view bytes = take(kBytes[kind], said);
      if (kind == kBool) {
        if (static_cast<unsigned char>(bytes[0]) > 1) fail(said + " is neither true nor false");
        value = bytes[0] == 1;
      } else if (kind == kF32) {
        value = static_cast<double>(number_at<float>(bytes));
      } else if (kind == kF64) {
        value = number_at<double>(bytes);
      } else if (is_signed(kind)) {
        value = signed_at(kind, bytes);
      } else {
        value = unsigned_at(kind, bytes);
      }
    }
    if (!to_->values_.emplace(key, std::move(value)).second) fail(said + " is there twice");
  }
  Gguf::Value array(const std::string& said) {
    const auto kind = number<uint32_t>(said);
    const auto count = number<uint64_t>(said);
    if (kind >= kKinds) fail(said + " is of the unknown kind " + std::to_string(kind));
    if (kind == kArray) fail(said + " is an array of arrays");
    const uint64_t each = kind == kText ? 8 : kBytes[kind];
    if (count > left() / each)
      fail(said + " cannot have " + std::to_string(count) + " elements: the file is too short");
    if (kind == kText) {
      std::vector<std::string_view> texts;
      texts.reserve(count);
      for (uint64_t i = 0; i < count; ++i) texts.push_back(text(said));
      return texts;
    }
    const std::string_view bytes = take(count * each, said);
    if (kind == kF32 || kind == kF64) return {};
    std::vector<int64_t> numbers;
    numbers.reserve(count);
    for (uint64_t i = 0; i < count; ++i) {
      const std::string_view one = bytes.substr(i * each, each);
      if (is_signed(kind)) {
        numbers.push_back(signed_at(kind, one));
      } else {
        const uint64_t whole = kind == kBool ? unsigned_at(kU8, one) : unsigned_at(kind, one);
        if (whole > static_cast<uint64_t>(INT64_MAX))
          fail(said + " has a number above 2^63: " + std::to_string(whole));
        numbers.push_back(static_cast<int64_t>(whole));
      }
    }
    return numbers;
  }

  void read_tensor(uint64_t alignment) {
    const std::string key = name("a tensor's name"), said = "tensor " + shown(key);
    const auto extents = number<uint32_t>(said);
    if (extents < 1 || extents > 4)
      fail(said + " has " + std::to_string(extents) + " extents; 1 to 4 are allowed");
    GgufTensor tensor{};
    bool fits = true;
    uint64_t elements = 1;
    for (uint32_t i = 0; i < extents; ++i) {
      const auto extent = number<uint64_t>(said);
      if (extent == 0 || extent > static_cast<uint64_t>(INT64_MAX))
        fail(said + " has an extent of " + std::to_string(extent));
      fits = fits && !__builtin_mul_overflow(elements, extent, &elements);
      tensor.shape.insert(tensor.shape.begin(), static_cast<int64_t>(extent));
    }
    tensor.type = static_cast<GgufType>(number<uint32_t>(said));
    const auto [block, bytes_of_block] = blocks_of(tensor.type);
    if (block == 0)
      fail(said + " is of the type " + std::to_string(static_cast<uint32_t>(tensor.type)) +
           "; F32, F16, BF16, Q8_0, Q4_0 and Q4_1 are read");
    if (tensor.shape.back() % static_cast<int64_t>(block) != 0)
      fail(said + " has rows of " + std::to_string(tensor.shape.back()) + " elements, and " +
           name_of(tensor.type) + " has blocks of 32");
    uint64_t bytes = 0;
    fits = fits && elements <= static_cast<uint64_t>(INT64_MAX) &&
           !__builtin_mul_overflow(elements / block, bytes_of_block, &bytes);
    if (!fits) fail(said + " is too large: " + shape_text(tensor.shape));
    const auto offset = number<uint64_t>(said);
    if (offset % alignment != 0)
      fail(said + " begins at " + std::to_string(offset) + ", no multiple of " + std::to_string(alignment));
    if (!to_->tensors_.emplace(key, std::move(tensor)).second) fail(said + " is there twice");
    places_.push_back({offset, bytes, key});
  }
  // Gives each tensor its bytes: one behind the other, with no more between than aligns the next.
  void place(size_t begin, uint64_t alignment) {
    const std::string_view data = begin > all_.size() ? std::string_view() : all_.substr(begin);
    std::sort(places_.begin(), places_.end(),
              [](const Place& a, const Place& b) { return a.offset < b.offset; });
    uint64_t end = 0;
    for (const Place& place : places_) {
      const std::string said = "tensor " + shown(place.name);
      if (place.offset > data.size() || place.bytes > data.size() - place.offset)
        fail(said + " would have " + std::to_string(place.bytes) + " bytes from byte " +
             std::to_string(place.offset) + " of " + std::to_string(data.size()) +
             " on: the file is cut short");
      if (place.offset < end) fail(said + " shares byte " + std::to_string(place.offset) + " with another");
      if (place.offset - end >= alignment)
        fail("bytes " + std::to_string(end) + " to " + std::to_string(place.offset) + " belong to no tensor");
      to_->tensors_.at(place.name).bytes = data.substr(place.offset, place.bytes);
      end = place.offset + place.bytes;
    }
    if (data.size() - end >= alignment)
      fail("bytes " + std::to_string(end) + " to " + std::to_string(data.size()) + " belong to no tensor");
  }

  Gguf* to_;
  std::string_view all_;
  size_t at_ = 0;
  std::vector<Place> places_;
};

Gguf::Gguf(const std::filesystem::path& path) : file_(path) {
  GgufReader(this).read();
}

template <class T>
const T& Gguf::value(const std::string& key, const char* kind) const {
  const auto found = values_.find(key);
  if (found == values_.end()) throw FileError(name() + ": has no value \"" + key + "\"");
  if (const T* value = std::get_if<T>(&found->second)) return *value;
  throw FileError(name() + ": \"" + key + "\" is no " + kind);
}

uint64_t Gguf::whole(const std::string& key) const {
  const auto found = values_.find(key);
  if (found != values_.end())
    if (const auto* number = std::get_if<int64_t>(&found->second); number != nullptr && *number >= 0)
      return static_cast<uint64_t>(*number);
  return value<uint64_t>(key, "whole number");
}
double Gguf::real(const std::string& key) const {
  const auto found = values_.find(key);
  if (found != values_.end())
    if (const auto* number = std::get_if<uint64_t>(&found->second)) return static_cast<double>(*number);
  return value<double>(key, "number");
}
bool Gguf::truth(const std::string& key) const {
  return value<bool>(key, "true or false");
}
std::string_view Gguf::text(const std::string& key) const {
  return value<std::string_view>(key, "text");
}
const std::vector<std::string_view>& Gguf::texts(const std::string& key) const {
  return value<std::vector<std::string_view>>(key, "list of texts");
}
const std::vector<int64_t>& Gguf::whole_numbers(const std::string& key) const {
  return value<std::vector<int64_t>>(key, "list of whole numbers");
}

const GgufTensor& Gguf::at(const std::string& name) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) throw FileError(file_.name() + ": has no tensor \"" + name + "\"");
  return found->second;
}
const GgufTensor& Gguf::at(const std::string& name, const std::vector<int64_t>& shape) const {
  const GgufTensor& tensor = at(name);
  if (tensor.shape != shape)
    throw FileError(file_.name() + ": tensor \"" + name + "\" is " + shape_text(tensor.shape) +
                    ", and should be " + shape_text(shape));
  return tensor;
}

std::vector<float> floats_of(const GgufTensor& tensor) {
  const auto half_at = [](const char* at) {
    days::half value;
    std::memcpy(&value, at, sizeof value);
    return days::to_float(value);
  };
  std::vector<float> to(static_cast<size_t>(tensor.elements()));
  const auto [block, each] = blocks_of(tensor.type);
  const char* from = tensor.bytes.data();
  for (size_t i = 0; i < to.size(); i += block, from += each) {
    switch (tensor.type) {
      case GgufType::kF32:
        std::memcpy(&to[i], from, sizeof(float));
        break;
      case GgufType::kF16:
        to[i] = half_at(from);
        break;
      case GgufType::kBF16: {
        days::bf16 value;
        std::memcpy(&value, from, sizeof value);
        to[i] = days::to_float(value);
        break;
      }
      case GgufType::kQ8_0: {
        const float d = half_at(from);
        for (size_t e = 0; e < kBlock; ++e)
          to[i + e] = d * static_cast<float>(static_cast<signed char>(from[2 + e]));
        break;
      }
      case GgufType::kQ4_0:
      case GgufType::kQ4_1: {
        const bool has_least = tensor.type == GgufType::kQ4_1;
        const float d = half_at(from), least = has_least ? half_at(from + 2) : -8 * d;
        const char* const codes = from + (has_least ? 4 : 2);
        for (size_t e = 0; e < kBlock / 2; ++e) {
          const auto byte = static_cast<unsigned char>(codes[e]);
          to[i + e] = d * static_cast<float>(byte & 15) + least;
          to[i + kBlock / 2 + e] = d * static_cast<float>(byte >> 4) + least;
        }
        break;
      }
    }
  }
  return to;
}

}  // namespace model
