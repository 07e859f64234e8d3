// SPDX-License-Identifier: MIT
//
// Part of run_day.cpp: the flags of a day's executable.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "common/harness/text.h"
#include "common/inputs.h"

namespace days {
namespace detail {

// Ends the program with this code, one line on stderr, and below it what helps: flags or a command.
class Exit : public std::runtime_error {
 public:
  Exit(int code, const std::string& line, std::string next = "")
      : std::runtime_error(line), code_(code), next_(std::move(next)) {}
  int code() const { return code_; }
  const std::string& next() const { return next_; }

 private:
  int code_;
  std::string next_;
};
inline constexpr int kWrong = 1, kUsage = 2, kMachine = 3;

struct Options {
  std::string size_text;
  std::optional<Shape> size;
  std::vector<std::string> variants, types;
  std::string json, cases, begun, image, out, color = "auto";
  bool list = false, help = false, exercise = false, small = false, once = false;
};

inline std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

inline Shape parse_size(const std::string& text) {
  std::vector<int64_t> numbers;
  for (const std::string& part : split(text, 'x')) {
    const std::string digits = part.substr(part.rfind('-', 0) == 0 ? 1 : 0);
    if (digits.empty() || digits.find_first_not_of("0123456789") != std::string::npos) {
      throw Exit(kUsage, "--size " + text + ": \"" + part + "\" is no number; write it like 4096x33");
    }
    if (digits.find_first_not_of('0') == std::string::npos)
      throw Exit(kUsage, "--size " + text + ": a size is at least 1");
    if (part[0] == '-') throw Exit(kUsage, "--size " + text + ": a size is positive");
    errno = 0;
    const long long value = std::strtoll(part.c_str(), nullptr, 10);
    if (errno == ERANGE) throw Exit(kMachine, "--size " + text + " is too large for any device's memory");
    numbers.push_back(value);
  }
  return Shape(std::move(numbers));
}

inline Options parse_options(int argc, char** argv) {
  Options options;
  const std::vector<std::string> known = {"--size",     "--variant", "--type",  "--json",  "--color",
                                          "--exercise", "--cases",   "--small", "--begun", "--image",
                                          "--out",      "--list",    "--once",  "--help"};
  const std::map<std::string, bool*> switches = {{"--list", &options.list},
                                                 {"--help", &options.help},
                                                 {"--exercise", &options.exercise},
                                                 {"--small", &options.small},
                                                 {"--once", &options.once}};
  for (int i = 1; i < argc; ++i) {
    std::string flag = argv[i], value;
    const size_t equals = flag.rfind("--", 0) == 0 ? flag.find('=') : std::string::npos;
    const bool joined = equals != std::string::npos;
    if (joined) {
      value = flag.substr(equals + 1);
      flag.resize(equals);
    }
    if (flag == "-h") flag = "--help";
    if (std::find(known.begin(), known.end(), flag) == known.end()) {
      const std::string near = nearest(flag, known);
      throw Exit(kUsage, "unknown argument " + flag + (near.empty() ? "" : ". Nearest: " + near), "--help");
    }
    if (const auto on = switches.find(flag); on != switches.end()) {
      if (joined) throw Exit(kUsage, flag + " takes no value");
      *on->second = true;
      continue;
    }
    if (!joined) {
      if (++i >= argc) throw Exit(kUsage, flag + " needs a value; --help shows one");
      value = argv[i];
    }
    if (flag == "--size") {
      options.size_text = value;
      options.size = parse_size(value);
    } else if (flag == "--variant") {
      options.variants = split(value, ',');
    } else if (flag == "--type") {
      options.types = split(value, ',');
    } else if (flag == "--json") {
      options.json = value;
    } else if (flag == "--cases") {
      options.cases = value;
    } else if (flag == "--begun") {
      options.begun = value;
    } else if (flag == "--image" || flag == "--out") {
      if (value.empty()) throw Exit(kUsage, flag + " needs the name of a file");
      (flag == "--image" ? options.image : options.out) = value;
    } else if (value == "auto" || value == "always" || value == "never") {
      options.color = value;
    } else {
      throw Exit(kUsage, "--color is auto, always or never, not " + value);
    }
  }
  if (options.once && (!options.json.empty() || !options.cases.empty() || !options.out.empty()))
    throw Exit(kUsage, "--once has no results: it goes without --json, --cases and --out");
  if (!options.out.empty() && options.image.empty())
    throw Exit(kUsage, "--out is for the result of a picture: --image says which");
  return options;
}

}  // namespace detail
}  // namespace days
