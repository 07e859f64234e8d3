// SPDX-License-Identifier: MIT
//
// JPEG through libjpeg (libjpeg-turbo). As with libpng, errors come back by longjmp: functions that call
// setjmp hold nothing with a destructor. libjpeg paints what a damaged file lacks in gray and warns; here the
// first such warning is an error, for a picture that is half gray is not what anybody asked for.

#include <cstdio>  // jpeglib.h uses FILE without asking for it

#include <jpeglib.h>

#include <csetjmp>
#include <cstring>

#include "common/image/formats.h"

namespace days::image {
namespace {

// A picture for the screen has about ten scans; thousands of them over a large picture take hours.
constexpr int kMostScans = 500;
// Per byte of the file. The densest that a real encoder makes is one bit a block of 64 pixels.
constexpr double kMostPixelsPerByte = 4096;

struct Reading {
  jpeg_decompress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg_progress_mgr progress{};
  std::jmp_buf back;
  bool created = false, adobe_inverted = false;
  Bytes file{};
  Image image;
  std::vector<unsigned char> cmyk;  // one row
  std::string problem;
  int code = 2;

  ~Reading() {
    if (created) jpeg_destroy_decompress(&jpeg);
  }
};

Reading& of(j_common_ptr jpeg) {
  return *static_cast<Reading*>(jpeg->client_data);
}
[[noreturn]] void fail(j_common_ptr jpeg) {
  char text[JMSG_LENGTH_MAX];
  jpeg->err->format_message(jpeg, text);
  of(jpeg).problem = std::string("is damaged: ") + text;
  std::longjmp(of(jpeg).back, 1);
}
void on_message(j_common_ptr jpeg, int level) {
  if (level < 0) fail(jpeg);  // a warning: the data are corrupt
}
void on_progress(j_common_ptr jpeg) {
  if (reinterpret_cast<j_decompress_ptr>(jpeg)->input_scan_number <= kMostScans) return;
  of(jpeg).problem = "is damaged: it has more than 500 scans";
  std::longjmp(of(jpeg).back, 1);
}

// EXIF's orientation, 1 to 8; 0 where the marker holds none. The layout is TIFF's: byte order, the place of a
// table, the table's entries of 12 bytes.
int exif_orientation(const unsigned char* data, size_t size) {
  if (size < 14 || std::memcmp(data, "Exif\0\0", 6) != 0) return 0;
  const unsigned char* tiff = data + 6;
  const size_t length = size - 6;
  const bool big = tiff[0] == 'M';
  const auto number = [&](size_t at, size_t bytes) -> size_t {
    if (at > length || bytes > length - at) return 0;
    size_t value = 0;
    for (size_t i = 0; i < bytes; ++i) value = value << 8 | tiff[at + (big ? i : bytes - 1 - i)];
    return value;
  };
  const size_t table = number(4, 4), entries = number(table, 2);
  for (size_t i = 0; i < entries && table + 2 + 12 * i < length; ++i) {
    const size_t entry = table + 2 + 12 * i;
    if (number(entry, 2) == 0x0112) return static_cast<int>(number(entry + 8, 2));
  }
  return 0;
}

bool read_header(Reading& r) {
  if (setjmp(r.back) != 0) return false;
  jpeg_create_decompress(&r.jpeg);
  r.created = true;
  r.jpeg.client_data = &r;  // creating it has cleared this
  r.jpeg.progress = &r.progress;
  jpeg_mem_src(&r.jpeg, r.file.data, static_cast<unsigned long>(r.file.size));
  jpeg_save_markers(&r.jpeg, JPEG_APP0 + 1, 0xffff);
  jpeg_read_header(&r.jpeg, TRUE);
  return true;
}

bool start(Reading& r) {
  if (setjmp(r.back) != 0) return false;
  const bool four = r.jpeg.jpeg_color_space == JCS_CMYK || r.jpeg.jpeg_color_space == JCS_YCCK;
  r.jpeg.out_color_space = four ? JCS_CMYK : JCS_RGB;
  r.adobe_inverted = r.jpeg.saw_Adobe_marker != 0;
  jpeg_start_decompress(&r.jpeg);
  return r.jpeg.output_components == (four ? 4 : 3);
}

bool read_rows(Reading& r) {
  if (setjmp(r.back) != 0) return false;
  const size_t width = r.jpeg.output_width;
  while (r.jpeg.output_scanline < r.jpeg.output_height) {
    unsigned char* row = r.image.pixels.data() + 3 * width * r.jpeg.output_scanline;
    if (r.cmyk.empty()) {
      jpeg_read_scanlines(&r.jpeg, &row, 1);
      continue;
    }
    unsigned char* inks = r.cmyk.data();
    jpeg_read_scanlines(&r.jpeg, &inks, 1);
    for (size_t x = 0; x < width; ++x) {
      const unsigned char* ink = inks + 4 * x;
      for (size_t c = 0; c < 3; ++c) {
        // Adobe stores the light that is left, others the ink.
        const int light = r.adobe_inverted ? ink[c] : 255 - ink[c],
                  black = r.adobe_inverted ? ink[3] : 255 - ink[3];
        row[3 * x + c] = static_cast<unsigned char>((light * black + 127) / 255);
      }
    }
  }
  jpeg_finish_decompress(&r.jpeg);
  return true;
}

// The header's promises against the file and the machine. Exceptions stay between our own frames.
void make_room(Reading& r, const std::string& name) {
  reserve(r.image, r.jpeg.image_width, r.jpeg.image_height,
          kMostPixelsPerByte * static_cast<double>(r.file.size), r.file, name);
  if (r.jpeg.data_precision != 8) throw ImageError(name + ": is a JPEG of 12 bits; only 8 are read");
  const bool four = r.jpeg.jpeg_color_space == JCS_CMYK || r.jpeg.jpeg_color_space == JCS_YCCK;
  if (four) {
    r.cmyk.resize(size_t{4} * r.jpeg.image_width);
    r.image.remarks.push_back("CMYK is turned into RGB without a colour profile");
  }
  for (jpeg_saved_marker_ptr marker = r.jpeg.marker_list; marker != nullptr; marker = marker->next) {
    const int orientation = exif_orientation(marker->data, marker->data_length);
    if (orientation >= 2 && orientation <= 8) {
      r.image.remarks.push_back("its EXIF orientation " + std::to_string(orientation) +
                                " is ignored: pixels stay as they are stored");
    }
  }
}

}  // namespace

Image decode_jpeg(Bytes file, const std::string& name) {
  Reading r;
  r.file = file;
  r.jpeg.err = jpeg_std_error(&r.errors);
  r.errors.error_exit = fail;
  r.errors.emit_message = on_message;
  r.progress.progress_monitor = on_progress;
  r.jpeg.client_data = &r;
  if (!read_header(r)) throw ImageError(name + ": " + r.problem);
  make_room(r, name);
  if (!start(r) || !read_rows(r))
    throw ImageError(name + ": " + (r.problem.empty() ? "is a JPEG of a kind that is not read" : r.problem));
  return std::move(r.image);
}

}  // namespace days::image
