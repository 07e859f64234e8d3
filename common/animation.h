// SPDX-License-Identifier: MIT
//
// Animations: what a day whose pictures move writes. As image.h, it needs no library: the writer, common/animation/*.cpp, is
// compiled and linked with giflib where that is found, into days with a folder animations/ (which are linked with
// common/image too, for PNG frames). It hooks itself in: a program without it has animation_files() == nullptr.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "common/image.h"

namespace days {

// What each of 256 entries looks like: red, green, blue.
struct Palette {
  unsigned char colors[256][3];
};

// Takes frames, one after the other, and makes a file of them. A writer that is destroyed before finish() leaves what was
// there before.
class FrameWriter {
 public:
  virtual ~FrameWriter() = default;
  // (height, width) entries of the palette. Throws ImageError.
  virtual void add(const uint8_t* pixels) = 0;
  virtual void finish() = 0;
};

struct AnimationFiles {
  // A GIF that begins again when it has ended. Each frame stays for so many hundredths of a second. Throws ImageError:
  // code 2 where the path cannot be written, 3 where the disk is full.
  std::unique_ptr<FrameWriter> (*open_gif)(const std::string& path, int width, int height,
                                           const Palette& palette, int hundredths);
};
// Set before main() by common/animation/gif.cpp, where that is linked in.
inline const AnimationFiles*& animation_files() {
  static const AnimationFiles* files = nullptr;
  return files;
}

}  // namespace days
