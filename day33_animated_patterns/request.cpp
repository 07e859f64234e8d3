// SPDX-License-Identifier: MIT
#include "day33_animated_patterns/request.h"

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "day33_animated_patterns/patterns.h"

namespace day33 {
namespace {

constexpr int kMostFrames = 1000000;
constexpr int kMostFps = 50;  // browsers show a GIF with shorter frames at ten a second

// A whole number from 1 to `most`; 0 where the text is none.
int number(const std::string& text, int most) {
  if (text.empty() || text.size() > 9) return 0;
  int value = 0;
  for (const char digit : text) {
    if (digit < '0' || digit > '9') return 0;
    value = 10 * value + (digit - '0');
  }
  return value <= most ? value : 0;
}

int whole(const std::string& flag, const std::string& text, int most) {
  const int value = number(text, most);
  if (value == 0)
    throw days::ImageError(flag + " is a number from 1 to " + std::to_string(most) + ", not \"" + text +
                           "\"");
  return value;
}

void set_size(Request& request, const std::string& text) {
  const size_t cross = text.find('x');
  const int width = number(text.substr(0, cross), kMostSide);
  const int height = cross == std::string::npos ? 0 : number(text.substr(cross + 1), kMostSide);
  if (width == 0 || height == 0) {
    throw days::ImageError("--size is WIDTHxHEIGHT in pixels, each from 1 to " + std::to_string(kMostSide) +
                           ", not \"" + text + "\"");
  }
  request.width = width;
  request.height = height;
}

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

// The folder that a path lies in.
std::string parent_of(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

std::vector<std::string> pattern_names() {
  return {"plasma", "waves", "mandelbrot", "gray_scott"};
}

bool Request::gif() const {
  return ends_with(out, ".gif") || ends_with(out, ".GIF");
}
int Request::hundredths() const {
  return std::max(2, (100 + fps / 2) / fps);
}

Request parse_request(const std::vector<std::string>& words) {
  Request request;
  for (size_t i = 0; i < words.size(); i += 2) {
    const std::string& flag = words[i];
    const char* known[] = {"--pattern", "--size", "--frames", "--fps", "--out"};
    if (std::find(std::begin(known), std::end(known), flag) == std::end(known))
      throw days::ImageError("an animation knows no " + flag +
                             ", but --pattern, --size, --frames, --fps and --out");
    if (i + 1 == words.size()) throw days::ImageError(flag + " needs a value");
    const std::string& value = words[i + 1];
    if (flag == "--pattern") {
      request.pattern = value;
    } else if (flag == "--size") {
      set_size(request, value);
    } else if (flag == "--frames") {
      request.frames = whole(flag, value, kMostFrames);
    } else if (flag == "--fps") {
      request.fps = whole(flag, value, kMostFps);
    } else {
      request.out = value;
      if (value.empty()) throw days::ImageError("--out needs the name of a GIF or of a folder");
    }
  }
  const std::vector<std::string> patterns = pattern_names();
  if (std::find(patterns.begin(), patterns.end(), request.pattern) == patterns.end()) {
    std::string all;
    for (const std::string& name : patterns) all += (all.empty() ? "" : ", ") + name;
    throw days::ImageError("--pattern is one of " + all + ", not \"" + request.pattern + "\"");
  }
  if (ends_with(request.out, ".png") || ends_with(request.out, ".PNG"))
    throw days::ImageError("--out " + request.out +
                           ": an animation is a GIF, or a folder of PNG frames; name a folder for these");
  return request;
}

double worst_bytes(const Request& request) {
  const double pixels = double{1} * request.width * request.height;
  // GIF: codes of up to 12 bits for a pixel of 8, and a table now and then. PNG: three bytes, rows and chunks with heads.
  const double frame = request.gif() ? 1.6 * pixels + 1100 : 3.01 * pixels + 6.0 * request.height + 1100;
  return request.frames * frame;
}

void require_room(const Request& request, double free) {
  const double worst = worst_bytes(request);
  if (worst <= free / 2) return;
  throw days::ImageError(std::to_string(request.frames) + " frames of " + std::to_string(request.width) +
                             " x " + std::to_string(request.height) + " may take " + bytes_in_words(worst) +
                             ", more than half of the " + bytes_in_words(free) +
                             " that are free there: take fewer or smaller frames, or another disk",
                         3);
}

void require_memory(const Request& request, double memory) {
  // Six arrays of floats for the reaction, and the CPU's own, beside the frame.
  const double bytes = 64.0 * request.width * request.height;
  if (bytes <= memory / 2) return;
  throw days::ImageError("a frame of " + std::to_string(request.width) + " x " +
                             std::to_string(request.height) + " needs " + bytes_in_words(bytes) +
                             " of memory, more than half of the " + bytes_in_words(memory) +
                             " here: take a smaller --size",
                         3);
}

double free_bytes(const std::string& path) {
  const std::string folder = parent_of(path);
  struct stat there {};
  if (::stat(folder.c_str(), &there) != 0 || !S_ISDIR(there.st_mode)) {
    const int why = errno;
    throw days::ImageError(path + " cannot be written: " + folder + ": " +
                               (S_ISREG(there.st_mode) ? "is no folder" : std::strerror(why)),
                           2, "mkdir -p " + folder);
  }
  struct statvfs disk {};
  if (::statvfs(folder.c_str(), &disk) != 0) throw days::ImageError(folder + ": " + std::strerror(errno), 3);
  return static_cast<double>(disk.f_bavail) * static_cast<double>(disk.f_frsize);
}

std::string bytes_in_words(double bytes) {
  const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < std::size(units)) {
    bytes /= 1024;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof text, bytes < 10 && unit > 0 ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
  return text;
}

}  // namespace day33
