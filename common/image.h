// SPDX-License-Identifier: MIT
//
// Pictures: what a day with something to see reads and writes with --image and --out.
//
// The struct and the hook need no library. The readers and the writer are common/image/*.cpp, which are
// compiled and linked with libpng and libjpeg where those are found, and only into days with a folder
// samples/. They hook themselves in: a program without them has image_files() == nullptr.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace days {

struct Image {
  int width = 0, height = 0;
  int channels = 3;                   // 1: gray, 3: red, green, blue
  std::vector<unsigned char> pixels;  // (height, width, channels), no gap between rows
  std::vector<std::string> remarks;   // what of the file did not make it into the pixels
};

// A picture as a ladder's inputs are given it: ladder.h, which includes neither this file nor <memory>, has
// to declare it.
struct SharedImage : std::shared_ptr<const Image> {
  using shared_ptr::shared_ptr;
};

// One line that names the file and the reason. code: an exit code, 2 where the file is at fault, 3 where this
// machine is (too large for its memory, disk full). next: a command that helps, or "".
class ImageError : public std::runtime_error {
 public:
  ImageError(const std::string& line, int code = 2, std::string next = "")
      : std::runtime_error(line), code_(code), next_(std::move(next)) {}
  int code() const { return code_; }
  const std::string& next() const { return next_; }

 private:
  int code_;
  std::string next_;
};

inline constexpr uint64_t kAnyPixels = UINT64_MAX;

// Reads a PNG or JPEG of any kind as three channels of 8 bits. 16 bits are rounded to 8, a palette is looked
// up, gray is tripled, what is transparent is laid over white, CMYK is converted without a colour profile;
// EXIF orientation, gamma and profiles are ignored, and `remarks` says which of these happened. Throws
// ImageError for whatever is no whole picture; never reads more than the file, never needs more memory than a
// quarter of this machine's. A picture of more than `most_pixels` is refused before it is decoded.
Image read_image(const std::string& path, uint64_t most_pixels = kAnyPixels);
// The same from memory; `name` stands for the file in errors.
Image decode_image(const unsigned char* data, size_t size, const std::string& name,
                   uint64_t most_pixels = kAnyPixels);

// Writes a PNG, as OutputFile of common/output.h writes: a failure leaves what was there before.
void write_png(const std::string& path, const Image& image);

struct ImageFiles {
  Image (*read)(const std::string& path, uint64_t most_pixels);
  void (*write)(const std::string& path, const Image& image);
};
// Set before main() by common/image/files.cpp, where that is linked in.
inline const ImageFiles*& image_files() {
  static const ImageFiles* files = nullptr;
  return files;
}

// 0 to 255, rounded; NaN becomes 0. For pixels that a kernel computed in floating point.
inline unsigned char to_pixel(double value) {
  return value >= 255 ? 255 : value > 0 ? static_cast<unsigned char>(value + 0.5) : 0;
}

}  // namespace days
