// SPDX-License-Identifier: MIT
//
// PNG through libpng. Its errors come back by longjmp, so a function that calls setjmp holds nothing with a
// destructor: whatever needs one lives in the caller, behind the struct that is passed in.

#include <png.h>

#include <cerrno>
#include <csetjmp>
#include <cstdio>
#include <cstring>

#include "common/image/formats.h"
#include "common/output.h"

namespace days {
namespace image {
namespace {

struct Reading {
  Bytes file;
  size_t at = 0;
  png_structp png = nullptr;
  png_infop info = nullptr;
  std::vector<png_bytep> rows;
  std::vector<unsigned char> rgba;  // with an alpha channel: four channels, before they are laid over white
  Image image;
  std::string problem;  // libpng's words, or an ImageError's
  int code = 2;

  ~Reading() { png_destroy_read_struct(&png, &info, nullptr); }
};

[[noreturn]] void on_error(png_structp png, png_const_charp text) {
  static_cast<Reading*>(png_get_error_ptr(png))->problem = std::string("is damaged: ") + text;
  png_longjmp(png, 1);
}
void on_warning(png_structp, png_const_charp) {}  // about text, gamma, profiles: nothing that is used here

void from_memory(png_structp png, png_bytep to, size_t count) {
  Reading& reading = *static_cast<Reading*>(png_get_io_ptr(png));
  if (count > reading.file.size - reading.at) png_error(png, "it ends too early");
  std::memcpy(to, reading.file.data + reading.at, count);
  reading.at += count;
}

// Sets up the conversions to 8-bit RGB or RGBA and makes room. No exception may cross libpng's frames, and
// none does: this is called from ours.
void prepare(Reading& r, const std::string& name) {
  png_uint_32 width = 0, height = 0;
  int depth = 0, color = 0, interlace = 0;
  png_get_IHDR(r.png, r.info, &width, &height, &depth, &color, &interlace, nullptr, nullptr);
  const bool alpha = (color & PNG_COLOR_MASK_ALPHA) != 0 || png_get_valid(r.png, r.info, PNG_INFO_tRNS) != 0;
  if (depth == 16) {
    png_set_scale_16(r.png);
    r.image.remarks.push_back("16 bits a channel are rounded to 8");
  }
  if (alpha) r.image.remarks.push_back("what is transparent is laid over white");
  png_set_expand(r.png);  // palettes, fewer than 8 bits, transparency given as one colour
  png_set_gray_to_rgb(r.png);
  if (alpha) png_set_add_alpha(r.png, 0xff, PNG_FILLER_AFTER);
  png_set_interlace_handling(r.png);
  // Deflate makes at most 1,032 bytes of one, and the least that a row of a PNG takes is a filter byte and
  // one bit a pixel.
  const double bits = 8.0 * 1032 * static_cast<double>(r.file.size);
  const double channels = png_get_channels(r.png, r.info);
  reserve(r.image, width, height, bits / (depth * channels), r.file, name);
  png_read_update_info(r.png, r.info);
  const size_t row = (alpha ? 4 : 3) * static_cast<size_t>(width);
  if (png_get_rowbytes(r.png, r.info) != row)
    throw ImageError(name + ": is a PNG of a kind that is not read");
  unsigned char* to = r.image.pixels.data();
  if (alpha) {
    r.rgba.resize(row * height);
    to = r.rgba.data();
  }
  r.rows.resize(height);
  for (size_t y = 0; y < height; ++y) r.rows[y] = to + y * row;
}

// False: `problem` says what is wrong.
bool read_header(Reading& r) {
  if (setjmp(png_jmpbuf(r.png)) != 0) return false;
  png_set_read_fn(r.png, &r, from_memory);
  png_set_user_limits(r.png, 0x7fffffff, 0x7fffffff);  // reserve() has its own
  png_read_info(r.png, r.info);
  return true;
}
bool prepare_guarded(Reading& r, const std::string& name) {
  if (setjmp(png_jmpbuf(r.png)) != 0) return false;
  try {
    prepare(r, name);
  } catch (const ImageError& error) {
    r.problem = error.what();
    r.code = error.code();
    return false;
  }
  return true;
}
bool read_pixels(Reading& r) {
  if (setjmp(png_jmpbuf(r.png)) != 0) return false;
  png_read_image(r.png, r.rows.data());
  png_read_end(r.png, nullptr);
  return true;
}

}  // namespace

Image decode_png(Bytes file, const std::string& name) {
  Reading r;
  r.file = file;
  r.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &r, on_error, on_warning);
  r.info = r.png == nullptr ? nullptr : png_create_info_struct(r.png);
  if (r.info == nullptr) throw ImageError(name + ": libpng does not start", 3);
  if (!read_header(r)) throw ImageError(name + ": " + r.problem);
  if (!prepare_guarded(r, name)) {
    throw ImageError(r.problem.rfind(name, 0) == 0 ? r.problem : name + ": " + r.problem, r.code);
  }
  if (!read_pixels(r)) throw ImageError(name + ": " + r.problem);
  for (size_t i = 0; i < r.rgba.size() / 4; ++i) {
    const unsigned alpha = r.rgba[4 * i + 3];
    for (size_t c = 0; c < 3; ++c) {
      r.image.pixels[3 * i + c] =
          static_cast<unsigned char>((r.rgba[4 * i + c] * alpha + 255 * (255 - alpha) + 127) / 255);
    }
  }
  return std::move(r.image);
}

namespace {

struct Writing {
  std::FILE* file = nullptr;
  png_structp png = nullptr;
  png_infop info = nullptr;
  std::string problem;

  ~Writing() { png_destroy_write_struct(&png, &info); }
};

[[noreturn]] void on_write_error(png_structp png, png_const_charp text) {
  Writing& writing = *static_cast<Writing*>(png_get_error_ptr(png));
  writing.problem = errno != 0 ? std::strerror(errno) : text;
  png_longjmp(png, 1);
}

bool write_rows(Writing& w, const Image& image) {
  if (setjmp(png_jmpbuf(w.png)) != 0) return false;
  errno = 0;
  png_init_io(w.png, w.file);
  png_set_user_limits(w.png, 0x7fffffff, 0x7fffffff);
  png_set_IHDR(w.png, w.info, static_cast<png_uint_32>(image.width), static_cast<png_uint_32>(image.height),
               8, image.channels == 1 ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(w.png, w.info);
  const size_t row = static_cast<size_t>(image.width) * static_cast<size_t>(image.channels);
  for (size_t y = 0; y < static_cast<size_t>(image.height); ++y)
    png_write_row(w.png, image.pixels.data() + y * row);
  png_write_end(w.png, nullptr);
  return true;
}

}  // namespace
}  // namespace image

void write_png(const std::string& path, const Image& image) {
  const size_t pixels = static_cast<size_t>(image.width) * static_cast<size_t>(image.height);
  if (pixels == 0 || image.pixels.size() != pixels * static_cast<size_t>(image.channels))
    throw ImageError(path + ": a picture without pixels cannot be written");
  const auto fail = [&](const std::string& why) {
    return ImageError(path + " cannot be written: " + why, machine_cannot_write(errno) ? 3 : 2);
  };
  OutputFile output(path);
  if (output.file() == nullptr) throw fail(std::strerror(errno));
  {
    image::Writing w;
    w.file = output.file();
    w.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &w, image::on_write_error, image::on_warning);
    w.info = w.png == nullptr ? nullptr : png_create_info_struct(w.png);
    if (w.info == nullptr) throw fail("libpng does not start");
    if (!image::write_rows(w, image)) throw fail(w.problem);
  }
  if (!output.commit()) throw fail(std::strerror(errno));
}

}  // namespace days
