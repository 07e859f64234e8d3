// SPDX-License-Identifier: MIT
//
// Part of run_day.cpp: --image and --out, for ladders that have a .picture.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/harness/options.h"
#include "common/image.h"
#include "common/ladder.h"

namespace days {
namespace detail {

inline const char* picture_help(const std::vector<const LadderInfo*>& ladders) {
  for (const LadderInfo* ladder : ladders) {
    if (ladder->picture_size)
      return "  --image FILE          a PNG or JPEG as input, in place of random numbers\n"
             "  --out FILE            the fastest rung's result as PNG; --variant chooses another\n";
  }
  return "";
}

inline bool same_file(const std::string& a, const std::string& b) {
  struct stat one {
  }, other{};
  return ::stat(a.c_str(), &one) == 0 && ::stat(b.c_str(), &other) == 0 && one.st_dev == other.st_dev &&
         one.st_ino == other.st_ino;
}

// Every rung runs thread by thread on the CPU backend: a picture of this size is minutes of work.
inline constexpr uint64_t kMostPixelsOnCpu = uint64_t{1} << 26;

// The picture of --image; --out is looked at first, so that nobody waits for a result that has no place.
inline SharedImage read_picture(const Options& options, bool simt) {
  if (image_files() == nullptr)
    throw Exit(kMachine, "--image needs libpng and libjpeg, and this program was built without them",
               "sudo apt-get install libpng-dev libjpeg-dev, then ./days run once more");
  const std::string& out = options.out;
  if (!out.empty()) {
    const size_t dot = out.rfind('.');
    const std::string extension = dot == std::string::npos ? "" : out.substr(dot);
    if (extension != ".png" && extension != ".PNG")
      throw Exit(kUsage, "--out " + out + ": pictures are written as PNG; end the name with .png");
    if (same_file(out, options.image))
      throw Exit(kUsage, "--out " + out + " is the picture of --image itself");
  }
  if (same_file(options.json, options.image) || (!out.empty() && options.json == out))
    throw Exit(kUsage, "--json " + options.json + " is a picture's file");
  return SharedImage(new Image(image_files()->read(options.image, simt ? kMostPixelsOnCpu : kAnyPixels)));
}

// The ladder on this picture alone: `given`, of --size, or else `usual` has the numbers of its shape that a
// picture has not.
inline LadderInfo with_picture(const LadderInfo& ladder, const SharedImage& image,
                               const std::optional<Shape>& given, const Shape& usual) {
  std::vector<int64_t> numbers = ladder.picture_size(*image).numbers();
  const size_t own = numbers.size(), others = ladder.extents.size() - own;
  if (given && given->size() != others) {
    std::string names;
    for (size_t i = own; i < ladder.extents.size(); ++i)
      names += (names.empty() ? "" : "x") + ladder.extents[i];
    throw Exit(kUsage, "with --image, --size gives " + (names.empty() ? "nothing: the picture has it all"
                                                                      : names + " of " + ladder.name));
  }
  for (size_t i = 0; i < others; ++i)
    numbers.push_back(given ? given->numbers()[i] : usual.numbers()[own + i]);

  LadderInfo copy = ladder;
  copy.bench_shapes = copy.show_shapes = {Shape(numbers)};
  copy.test_shapes.clear();
  copy.makers = {InputMaker{}};
  for (const Typed& type : ladder.types) {
    copy.makers[0].make.push_back(
        [in = type.picture_in, image](void* p, const Shape& s, Inputs& inputs) { in(p, s, image, inputs); });
  }
  return copy;
}

}  // namespace detail
}  // namespace days
