// SPDX-License-Identifier: MIT
#include "serve/text.h"

#include <algorithm>
#include <utility>

namespace serve {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

// How long a character is that begins so, 0 where none does.
size_t length_of(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return 2;
  if (first >= 0xe0 && first <= 0xef) return 3;
  if (first >= 0xf0 && first <= 0xf4) return 4;
  return 0;
}
// Whether `next` can be byte number `at`, from 1, of a character that begins with `first`. The second byte leaves out what is written
// longer than it need be, halves of pairs, and what is beyond U+10FFFF.
bool continues(unsigned char first, size_t at, unsigned char next) {
  unsigned char least = 0x80, most = 0xbf;
  if (at == 1) {
    if (first == 0xe0) least = 0xa0;
    if (first == 0xed) most = 0x9f;
    if (first == 0xf0) least = 0x90;
    if (first == 0xf4) most = 0x8f;
  }
  return next >= least && next <= most;
}

}  // namespace

TextStream::TextStream(std::vector<std::string> stops) : stops_(std::move(stops)) {
  std::erase(stops_, "");
}

std::string TextStream::add(std::string_view bytes) {
  if (stopped_) return "";
  bytes_ += bytes;
  size_t at = 0;
  while (at < bytes_.size()) {
    const auto byte = [&](size_t i) { return static_cast<unsigned char>(bytes_[at + i]); };
    const size_t length = length_of(byte(0)), here = bytes_.size() - at;
    size_t good = length == 0 ? 0 : 1;
    while (good > 0 && good < std::min(length, here) && continues(byte(0), good, byte(good))) ++good;
    if (length > 0 && good == length) {
      text_.append(bytes_, at, length);
      at += length;
    } else if (good > 0 && good == here) {
      break;  // something may complete it
    } else {
      text_ += kReplacement;
      at += std::max<size_t>(good, 1);
    }
  }
  bytes_.erase(0, at);
  return send(false);
}

std::string TextStream::finish() {
  if (stopped_) return "";
  if (!bytes_.empty()) text_ += kReplacement;
  bytes_.clear();
  return send(true);
}

std::string TextStream::send(bool all) {
  // Of stops that are there the first that is complete, so that it does not matter which pieces the text came in.
  size_t begin = std::string::npos, end = std::string::npos;
  for (const std::string& stop : stops_) {
    const size_t at = text_.find(stop);
    if (at == std::string::npos || std::pair(at + stop.size(), at) >= std::pair(end, begin)) continue;
    begin = at;
    end = at + stop.size();
  }
  if (begin != std::string::npos) {
    stopped_ = true;
    return std::exchange(text_, "").substr(0, begin);
  }
  size_t held = 0;
  for (const std::string& stop : stops_)
    for (size_t n = std::min(stop.size() - 1, text_.size()); !all && n > held; --n)
      if (text_.ends_with(std::string_view(stop).substr(0, n))) held = n;
  std::string sent = text_.substr(0, text_.size() - held);
  text_.erase(0, sent.size());
  return sent;
}

}  // namespace serve
