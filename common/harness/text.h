// SPDX-License-Identifier: MIT
//
// Part of run_day.cpp: numbers as people read them, lines of at most 80 columns, colours where a terminal
// wants them.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace days::detail {

// Three significant digits without an exponent: 0.123, 3.84, 44.6, 602, 12345.
inline std::string three_digits(double value) {
  char text[32];
  const double size = std::abs(value);
  const int decimals = size >= 99.95 ? 0 : size >= 9.995 ? 1 : size >= 0.9995 ? 2 : 3;
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

inline std::string time_text(double seconds) {
  if (seconds < 999.5e-6) return three_digits(1e6 * seconds) + " us";
  if (seconds < 999.5e-3) return three_digits(1e3 * seconds) + " ms";
  return three_digits(seconds) + " s";
}

inline std::string bytes_text(double bytes) {
  const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < std::size(units)) {
    bytes /= 1024;
    ++unit;
  }
  char text[48];
  std::snprintf(text, sizeof text, bytes == std::floor(bytes) || bytes >= 100 ? "%.0f %s" : "%.1f %s", bytes,
                units[unit]);
  return text;
}

inline std::string error_text(double error) {
  if (error == 0) return "0";
  char text[32];
  std::snprintf(text, sizeof text, "%.0e", error);
  return std::isfinite(error) ? text : "nan";
}

// Columns that a UTF-8 string takes on screen (continuation bytes take none).
inline size_t columns(const std::string& text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}
inline std::string left(const std::string& text, size_t width) {
  return text + std::string(width > columns(text) ? width - columns(text) : 0, ' ');
}
inline std::string right(const std::string& text, size_t width) {
  return std::string(width > columns(text) ? width - columns(text) : 0, ' ') + text;
}

// Broken at spaces into lines of at most `width` columns; from the second on they begin with `indent`.
inline std::string wrap(const std::string& text, const std::string& indent, size_t width = 80) {
  std::string out, line;
  size_t at = 0;
  while (at < text.size()) {
    size_t end = text.find(' ', at);
    if (end == std::string::npos) end = text.size();
    const std::string word = text.substr(at, end - at);
    if (!line.empty() && line != indent && columns(line) + 1 + columns(word) > width) {
      out += line + "\n";
      line = indent;
    }
    line += (line.empty() || line == indent ? "" : " ") + word;
    at = end + 1;
  }
  return out + line;
}

// The word of `known` with the fewest edits (insert, drop, replace a letter) from `word`; "" where none is
// near.
inline std::string nearest(const std::string& word, const std::vector<std::string>& known) {
  std::string best;
  size_t least = word.size() / 2 + 2;
  for (const std::string& candidate : known) {
    std::vector<size_t> row(candidate.size() + 1);
    for (size_t j = 0; j <= candidate.size(); ++j) row[j] = j;
    for (size_t i = 1; i <= word.size(); ++i) {
      size_t diagonal = row[0];
      row[0] = i;
      for (size_t j = 1; j <= candidate.size(); ++j) {
        const size_t replaced = diagonal + (word[i - 1] == candidate[j - 1] ? 0 : 1);
        diagonal = row[j];
        row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
      }
    }
    if (row.back() < least) {
      least = row.back();
      best = candidate;
    }
  }
  return best;
}

// Escapes for a terminal, or nothing. NO_COLOR (no-color.org) and TERM=dumb turn them off unless
// --color=always was given.
class Colors {
 public:
  explicit Colors(const std::string& when) {
    const char* no_color = std::getenv("NO_COLOR");
    const char* term = std::getenv("TERM");
    const bool unwanted =
        (no_color != nullptr && *no_color != 0) || (term != nullptr && std::string(term) == "dumb");
    on_ = when == "always" || (when != "never" && !unwanted && isatty(1) != 0);
  }
  std::string green(const std::string& s) const { return paint("32", s); }
  std::string red(const std::string& s) const { return paint("1;31", s); }
  std::string yellow(const std::string& s) const { return paint("33", s); }
  std::string cyan(const std::string& s) const { return paint("36", s); }
  std::string bold(const std::string& s) const { return paint("1", s); }

 private:
  std::string paint(const char* code, const std::string& s) const {
    return on_ ? std::string("\033[") + code + "m" + s + "\033[0m" : s;
  }
  bool on_ = false;
};

}  // namespace days::detail
