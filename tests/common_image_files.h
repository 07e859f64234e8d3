// SPDX-License-Identifier: MIT
//
// Picture files of every kind, made for the tests of common/image with the libraries' own writers.
#pragma once

#ifdef DAYS_PICTURES
#include <cstdio>  // before jpeglib.h, which needs it

#include <jpeglib.h>
#include <png.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace days_test {

using File = std::vector<unsigned char>;

inline constexpr int kWidth = 37, kHeight = 23;  // no multiple of 8: interlacing and JPEG's blocks have rests

// Smooth, so that JPEG keeps it, and different in each channel.
inline unsigned char pixel(int x, int y, int c) {
  return static_cast<unsigned char>(c == 0 ? 6 * x : c == 1 ? 10 * y : 3 * x + 4 * y);
}

// depth 1, 2, 4, 8, 16; color one of PNG_COLOR_TYPE_*. With fewer than 8 bits the red channel's upper bits.
inline File png_file(int depth, int color, bool interlaced, bool transparent_colour = false) {
  File file;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_set_write_fn(
      png, &file,
      [](png_structp p, png_bytep data, size_t n) {
        File& to = *static_cast<File*>(png_get_io_ptr(p));
        to.insert(to.end(), data, data + n);
      },
      nullptr);
  png_set_IHDR(png, info, kWidth, kHeight, depth, color,
               interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  if (color == PNG_COLOR_TYPE_PALETTE) {
    std::vector<png_color> palette(size_t{1} << depth);
    for (size_t i = 0; i < palette.size(); ++i) {
      const png_byte v = static_cast<png_byte>(i);
      palette[i] = {v, static_cast<png_byte>(255 - v), static_cast<png_byte>(v ^ 0x55)};
    }
    png_set_PLTE(png, info, palette.data(), static_cast<int>(palette.size()));
  }
  if (transparent_colour) {
    png_color_16 zero{};
    png_set_tRNS(png, info, nullptr, 0, &zero);
  }
  png_write_info(png, info);
  const int channels = color == PNG_COLOR_TYPE_RGB          ? 3
                       : color == PNG_COLOR_TYPE_RGBA       ? 4
                       : color == PNG_COLOR_TYPE_GRAY_ALPHA ? 2
                                                            : 1;
  std::vector<std::vector<unsigned char>> rows(kHeight);
  std::vector<png_bytep> pointers;
  for (int y = 0; y < kHeight; ++y) {
    std::vector<unsigned char>& row = rows[static_cast<size_t>(y)];
    row.assign(static_cast<size_t>(kWidth * channels * 2), 0);
    for (int x = 0; x < kWidth; ++x) {
      for (int c = 0; c < channels; ++c) {
        const bool alpha = channels % 2 == 0 && c == channels - 1;
        const unsigned char v = alpha ? static_cast<unsigned char>(x % 2 == 0 ? 255 : y) : pixel(x, y, c);
        const size_t at = static_cast<size_t>(x * channels + c);
        if (depth == 16) {
          row[2 * at] = row[2 * at + 1] = v;
        } else if (depth == 8) {
          row[at] = v;
        } else {
          const size_t bit = at * static_cast<size_t>(depth);
          row[bit / 8] = static_cast<unsigned char>(
              row[bit / 8] | (v >> (8 - depth)) << (8 - depth - static_cast<int>(bit % 8)));
        }
      }
    }
    pointers.push_back(row.data());
  }
  png_write_image(png, pointers.data());
  png_write_end(png, nullptr);
  png_destroy_write_struct(&png, &info);
  return file;
}

// What a reader must make of png_file's pixel.
inline int expected(int depth, int color, int x, int y, int c, bool transparent_colour) {
  const auto value = [&](int channel) -> int {
    const int v = pixel(x, y, channel);
    return depth >= 8 ? v : (v >> (8 - depth)) * 255 / ((1 << depth) - 1);
  };
  if (color == PNG_COLOR_TYPE_PALETTE) {
    const int index = pixel(x, y, 0) >> (8 - depth);
    return c == 0 ? index : c == 1 ? 255 - index : index ^ 0x55;
  }
  const bool gray = color == PNG_COLOR_TYPE_GRAY || color == PNG_COLOR_TYPE_GRAY_ALPHA;
  const int opaque = value(gray ? 0 : c);
  int alpha = 255;
  if (color == PNG_COLOR_TYPE_RGBA || color == PNG_COLOR_TYPE_GRAY_ALPHA) alpha = x % 2 == 0 ? 255 : y;
  if (transparent_colour && value(0) == 0 && (gray || (value(1) == 0 && value(2) == 0))) alpha = 0;
  return (opaque * alpha + 255 * (255 - alpha) + 127) / 255;
}

// space JCS_RGB (stored as YCbCr), JCS_GRAYSCALE or JCS_CMYK; exif: the orientation to store, 0 for none
inline File jpeg_file(J_COLOR_SPACE space, bool progressive, int exif = 0) {
  jpeg_compress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&jpeg, &memory, &size);
  const int channels = space == JCS_CMYK ? 4 : space == JCS_RGB ? 3 : 1;
  jpeg.image_width = kWidth;
  jpeg.image_height = kHeight;
  jpeg.input_components = channels;
  jpeg.in_color_space = space;
  jpeg_set_defaults(&jpeg);
  jpeg_set_quality(&jpeg, 98, TRUE);
  if (space == JCS_RGB) jpeg.comp_info[0].h_samp_factor = jpeg.comp_info[0].v_samp_factor = 1;
  if (space == JCS_CMYK) jpeg.write_Adobe_marker = TRUE;
  if (progressive) jpeg_simple_progression(&jpeg);
  jpeg_start_compress(&jpeg, TRUE);
  if (exif != 0) {
    unsigned char marker[] = {'E', 'x',  'i', 'f', 0, 0, 'M', 'M', 0, 42, 0, 0, 0,    8, 0, 1,
                              1,   0x12, 0,   3,   0, 0, 0,   1,   0, 0,  0, 0, 0xff, 0, 0, 0};
    marker[25] = static_cast<unsigned char>(exif);
    jpeg_write_marker(&jpeg, JPEG_APP0 + 1, marker, sizeof marker);
  }
  for (int y = 0; y < kHeight; ++y) {
    unsigned char row[4 * kWidth];
    for (int x = 0; x < kWidth; ++x) {
      for (int c = 0; c < channels; ++c) row[x * channels + c] = c == 3 ? 200 : pixel(x, y, c);
    }
    JSAMPROW pointer = row;
    jpeg_write_scanlines(&jpeg, &pointer, 1);
  }
  jpeg_finish_compress(&jpeg);
  File file(memory, memory + size);
  jpeg_destroy_compress(&jpeg);
  std::free(memory);
  return file;
}

// Puts the right checksum behind every chunk of a PNG, as far as its lengths make sense: a changed byte then
// reaches the code behind the checksum.
inline void mend_checksums(File& file) {
  const auto number = [&](size_t at) {
    return uint32_t{file[at]} << 24 | uint32_t{file[at + 1]} << 16 | uint32_t{file[at + 2]} << 8 |
           file[at + 3];
  };
  for (size_t at = 8; at + 12 <= file.size();) {
    const size_t length = number(at);
    if (length > file.size() - at - 12) return;
    uint32_t crc = ~0u;
    for (size_t i = at + 4; i < at + 8 + length; ++i) {
      crc ^= file[i];
      for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    crc = ~crc;
    for (size_t i = 0; i < 4; ++i)
      file[at + 8 + length + i] = static_cast<unsigned char>(crc >> (24 - 8 * i));
    at += 12 + length;
  }
}

}  // namespace days_test
#endif
