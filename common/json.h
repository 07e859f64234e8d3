// SPDX-License-Identifier: MIT
//
// Writes JSON (RFC 8259), with what is not a finite number as null.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <type_traits>

namespace days {

// json.open('{'); json.key("rows"); json.open('['); json.value(1.5); json.close(); json.close(); json.text()
class Json {
 public:
  void open(char bracket) {
    separate();
    text_ += bracket;
    closing_ += bracket == '{' ? '}' : ']';
    fresh_ = true;
  }
  // The same, with all that is in it on one line.
  void open_flat(char bracket) {
    open(bracket);
    if (flat_ == 0) flat_ = closing_.size();
  }
  void close() {
    const bool empty = fresh_, flat = flat_ > 0;
    fresh_ = false;
    const char bracket = closing_.back();
    if (closing_.size() == flat_) flat_ = 0;
    closing_.pop_back();
    if (!empty && !flat) line();
    text_ += bracket;
  }
  void key(const std::string& name) {
    separate();
    quote(name);
    text_ += ": ";
    after_key_ = true;
  }
  void value(const std::string& v) {
    separate();
    quote(v);
  }
  void value(const char* v) { value(std::string(v)); }
  void value(bool v) {
    separate();
    text_ += v ? "true" : "false";
  }
  void value(double v) {
    separate();
    char number[32];
    // Whole numbers to the last digit: bytes and operations are counts.
    const bool whole = std::abs(v) < 1e15 && v == std::floor(v);
    std::snprintf(number, sizeof number, whole ? "%.0f" : "%.9g", v);
    text_ += std::isfinite(v) ? number : "null";
  }
  template <class I>
  requires(std::is_integral_v<I> && !std::is_same_v<I, bool>) void value(I v) {
    separate();
    text_ += std::to_string(v);
  }
  template <class V>
  void member(const std::string& name, const V& v) {
    key(name);
    value(v);
  }
  const std::string& text() const { return text_; }

 private:
  void line() { text_ += "\n" + std::string(2 * closing_.size(), ' '); }
  void separate() {
    if (after_key_) {
      after_key_ = false;
      return;
    }
    if (closing_.empty()) return;
    if (!fresh_) text_ += flat_ > 0 ? ", " : ",";
    fresh_ = false;
    if (flat_ == 0) line();
  }
  void quote(const std::string& s) {
    text_ += '"';
    for (const char c : s) {
      const unsigned char byte = static_cast<unsigned char>(c);
      if (c == '"' || c == '\\') {
        text_ += '\\';
        text_ += c;
      } else if (byte < 0x20) {
        char code[8];
        std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(byte));
        text_ += code;
      } else {
        text_ += c;
      }
    }
    text_ += '"';
  }

  std::string text_, closing_;
  size_t flat_ = 0;  // how many brackets were open when the line began that does not end; 0: none
  bool fresh_ = true, after_key_ = false;
};

}  // namespace days
