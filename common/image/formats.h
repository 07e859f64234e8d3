// SPDX-License-Identifier: MIT
//
// What the parts of common/image share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "common/image.h"

namespace days::image {

struct Bytes {
  const unsigned char* data;
  size_t size;
  uint64_t most_pixels = kAnyPixels;  // that whoever reads the file has a use for
};

// Throw ImageError; `file` begins with the format's signature.
Image decode_png(Bytes file, const std::string& name);
Image decode_jpeg(Bytes file, const std::string& name);

// Makes room for a picture whose header promises width x height. A few bytes can promise anything, so before
// any memory is taken the promise is held against the file's own size: `most_pixels` is what a file of that
// length can encode at the very best. Then against what the reader takes and this machine's memory.
void reserve(Image& image, uint64_t width, uint64_t height, double most_pixels, Bytes file,
             const std::string& name);

}  // namespace days::image
