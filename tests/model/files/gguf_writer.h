// SPDX-License-Identifier: MIT
//
// Writes GGUF files for tests: also ones that are wrong.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace model {

class GgufWriter {
 public:
  template <class T>
  static std::string raw(T value) {
    return {reinterpret_cast<const char*>(&value), sizeof value};
  }
  static std::string raw_text(std::string_view text) {
    return raw(uint64_t{text.size()}) + std::string(text);
  }

  // A value of a kind, as bytes.
  void value(const std::string& key, uint32_t kind, const std::string& bytes) {
    values_ += raw_text(key) + raw(kind) + bytes;
    ++count_;
  }
  void whole(const std::string& key, uint32_t number) { value(key, 4, raw(number)); }
  void real(const std::string& key, float number) { value(key, 6, raw(number)); }
  void truth(const std::string& key, bool is) { value(key, 7, raw(is)); }
  void text(const std::string& key, std::string_view text) { value(key, 8, raw_text(text)); }
  void texts(const std::string& key, const std::vector<std::string>& all) {
    std::string bytes = raw(uint32_t{8}) + raw(uint64_t{all.size()});
    for (const std::string& one : all) bytes += raw_text(one);
    value(key, 9, bytes);
  }
  void numbers(const std::string& key, const std::vector<int32_t>& all) {
    std::string bytes = raw(uint32_t{5}) + raw(uint64_t{all.size()});
    for (const int32_t one : all) bytes += raw(one);
    value(key, 9, bytes);
  }

  // shape: the rows' length first, as in the file. The tensor lies behind the last one.
  void tensor(const std::string& name, const std::vector<uint64_t>& shape, uint32_t type,
              const std::string& bytes) {
    tensor_at(name, shape, type, data_.size());
    data_ += bytes;
    data_.resize((data_.size() + 31) / 32 * 32);
  }
  void tensor_at(const std::string& name, const std::vector<uint64_t>& shape, uint32_t type,
                 uint64_t offset) {
    tensors_ += raw_text(name) + raw(static_cast<uint32_t>(shape.size()));
    for (const uint64_t extent : shape) tensors_ += raw(extent);
    tensors_ += raw(type) + raw(offset);
    ++tensor_count_;
  }

  std::string bytes(uint32_t version = 3) const {
    std::string all = "GGUF" + raw(version) + raw(tensor_count_) + raw(count_) + values_ + tensors_;
    all.resize((all.size() + 31) / 32 * 32);
    return all + data_;
  }

 private:
  std::string values_, tensors_, data_;
  uint64_t count_ = 0, tensor_count_ = 0;
};

}  // namespace model
