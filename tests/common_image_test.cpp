// SPDX-License-Identifier: MIT
//
// Pictures: every kind of PNG and JPEG, files that are none, and some thousands that are damaged.
#include "common/image.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "common/random.h"
#include "tests/common_image_files.h"

#ifndef DAYS_PICTURES
TEST(Image, NeedsLibraries) {
  EXPECT_EQ(days::image_files(), nullptr);
  GTEST_SKIP() << "libpng or libjpeg is not installed";
}
#else
#include "common/image/formats.h"

namespace {

using days::decode_image;
using days::Image;
using days::ImageError;
using namespace days_test;

const std::string kSamples = std::string(DAYS_ROOT) + "/day03_rgb_to_grayscale/samples/";

Image decode(const File& file) {
  return decode_image(file.data(), file.size(), "test");
}

// The message of the ImageError that reading throws; "" where it throws none.
std::string refusal(const File& file) {
  try {
    decode(file);
  } catch (const ImageError& error) {
    EXPECT_EQ(std::string(error.what()).rfind("test: ", 0), 0u) << error.what();
    return error.what();
  }
  return "";
}
std::string refusal_of_path(const std::string& path, int code = 2) {
  try {
    days::read_image(path);
  } catch (const ImageError& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_EQ(std::string(error.what()).rfind(path, 0), 0u) << error.what();
    return error.what();
  }
  return "";
}

// A folder that goes away with the test.
class ImageFilesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "days-image-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern + "/";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  size_t files() const {
    const std::filesystem::directory_iterator all(folder_);
    return static_cast<size_t>(std::distance(begin(all), end(all)));
  }
  std::string write(const std::string& name, const File& bytes) const {
    std::ofstream(folder_ + name, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return folder_ + name;
  }
  std::string folder_;
};

void expect_png(int depth, int color, bool interlaced, bool transparent_colour = false) {
  const Image image = decode(png_file(depth, color, interlaced, transparent_colour));
  ASSERT_EQ(image.width, kWidth);
  ASSERT_EQ(image.height, kHeight);
  ASSERT_EQ(image.channels, 3);
  ASSERT_EQ(image.pixels.size(), size_t{3} * kWidth * kHeight);
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      for (int c = 0; c < 3; ++c) {
        ASSERT_EQ(image.pixels[static_cast<size_t>((y * kWidth + x) * 3 + c)],
                  expected(depth, color, x, y, c, transparent_colour))
            << "depth " << depth << ", colour type " << color << ", interlaced " << interlaced << " at " << x
            << ", " << y << ", " << c;
      }
    }
  }
}

TEST(Image, ReadsEveryKindOfPng) {
  for (const bool interlaced : {false, true}) {
    for (const int depth : {1, 2, 4, 8, 16}) expect_png(depth, PNG_COLOR_TYPE_GRAY, interlaced);
    for (const int depth : {1, 2, 4, 8}) expect_png(depth, PNG_COLOR_TYPE_PALETTE, interlaced);
    for (const int depth : {8, 16}) {
      expect_png(depth, PNG_COLOR_TYPE_RGB, interlaced);
      expect_png(depth, PNG_COLOR_TYPE_RGBA, interlaced);
      expect_png(depth, PNG_COLOR_TYPE_GRAY_ALPHA, interlaced);
      expect_png(depth, PNG_COLOR_TYPE_RGB, interlaced, true);
    }
    expect_png(2, PNG_COLOR_TYPE_GRAY, interlaced, true);
  }
  EXPECT_EQ(decode(png_file(16, PNG_COLOR_TYPE_RGBA, false)).remarks.size(), 2u);
  EXPECT_TRUE(decode(png_file(8, PNG_COLOR_TYPE_RGB, false)).remarks.empty());
}

TEST(Image, ReadsEveryKindOfJpeg) {
  const Image rgb = decode(jpeg_file(JCS_RGB, false)), progressive = decode(jpeg_file(JCS_RGB, true));
  const Image gray = decode(jpeg_file(JCS_GRAYSCALE, false)), cmyk = decode(jpeg_file(JCS_CMYK, false));
  EXPECT_EQ(rgb.pixels, progressive.pixels);
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      for (int c = 0; c < 3; ++c) {
        const size_t at = static_cast<size_t>((y * kWidth + x) * 3 + c);
        ASSERT_NEAR(rgb.pixels[at], pixel(x, y, c), 10) << x << ", " << y << ", " << c;
        ASSERT_NEAR(gray.pixels[at], pixel(x, y, 0), 6) << x << ", " << y;
        ASSERT_NEAR(cmyk.pixels[at], pixel(x, y, c) * 200 / 255, 10) << x << ", " << y << ", " << c;
      }
    }
  }
  EXPECT_EQ(cmyk.remarks.size(), 1u);
  EXPECT_TRUE(rgb.remarks.empty());
}

TEST(Image, SaysThatItIgnoresAnOrientation) {
  ASSERT_EQ(decode(jpeg_file(JCS_RGB, false, 6)).remarks.size(), 1u);
  EXPECT_NE(decode(jpeg_file(JCS_RGB, false, 6)).remarks[0].find("orientation 6"), std::string::npos);
  EXPECT_TRUE(decode(jpeg_file(JCS_RGB, false, 1)).remarks.empty());
}

TEST(Image, ReadsTheSamples) {
  const Image png = days::read_image(kSamples + "balloons.png"),
              jpg = days::read_image(kSamples + "balloons.jpg");
  ASSERT_EQ(png.pixels.size(), jpg.pixels.size());
  double error = 0;
  for (size_t i = 0; i < png.pixels.size(); ++i) error += std::abs(png.pixels[i] - jpg.pixels[i]);
  EXPECT_LT(error / static_cast<double>(png.pixels.size()), 3);  // the JPEG was made of the PNG
}

TEST_F(ImageFilesTest, WritesWhatItReads) {
  for (const int channels : {1, 3}) {
    Image image{5, 3, channels, {}, {}};
    for (int i = 0; i < 15 * channels; ++i) image.pixels.push_back(static_cast<unsigned char>(17 * i));
    days::write_png(folder_ + "a.png", image);
    const Image back = days::read_image(folder_ + "a.png");
    for (size_t i = 0; i < 45; ++i)
      ASSERT_EQ(back.pixels[i], image.pixels[channels == 3 ? i : i / 3]) << channels << " channels, " << i;
  }
  EXPECT_EQ(files(), 1u) << "a temporary file is left";
}

TEST_F(ImageFilesTest, WritesAllOrNothing) {
  const Image image{1, 1, 1, {7}, {}};
  EXPECT_THROW(days::write_png(folder_ + "no/such/folder.png", image), ImageError);
  std::filesystem::create_directories(folder_ + "taken.png/full");
  EXPECT_THROW(days::write_png(folder_ + "taken.png", image), ImageError);
  EXPECT_THROW(days::write_png(folder_ + "empty.png", Image{}), ImageError);
  EXPECT_EQ(files(), 1u) << "a temporary file is left";
  EXPECT_TRUE(std::filesystem::is_directory(folder_ + "taken.png/full"));
}

TEST_F(ImageFilesTest, WritesIntoWhatIsThere) {
  const Image image{1, 1, 1, {7}, {}};
  std::filesystem::create_symlink("real.png", folder_ + "link.png");
  days::write_png(folder_ + "link.png", image);
  EXPECT_TRUE(std::filesystem::is_symlink(folder_ + "link.png"));
  EXPECT_EQ(days::read_image(folder_ + "real.png").pixels[0], 7);
  // A pipe with room for it all, and a reader that is here already.
  ASSERT_EQ(::mkfifo((folder_ + "pipe.png").c_str(), 0600), 0);
  const int reader = ::open((folder_ + "pipe.png").c_str(), O_RDONLY | O_NONBLOCK);
  days::write_png(folder_ + "pipe.png", image);
  unsigned char bytes[4096];
  const ssize_t got = ::read(reader, bytes, sizeof bytes);
  ::close(reader);
  ASSERT_GT(got, 8);
  EXPECT_EQ(decode_image(bytes, static_cast<size_t>(got), "pipe").pixels[0], 7);
  EXPECT_TRUE(std::filesystem::is_fifo(folder_ + "pipe.png"));
  EXPECT_EQ(files(), 3u) << "a temporary file is left";
}

TEST_F(ImageFilesTest, RefusesWhatIsNoPicture) {
  EXPECT_NE(refusal_of_path(folder_ + "missing.png").find("No such file"), std::string::npos);
  EXPECT_NE(refusal_of_path(folder_).find("directory"), std::string::npos);
  EXPECT_NE(refusal_of_path(write("empty", {})).find("is empty"), std::string::npos);
  EXPECT_NE(refusal_of_path(write("a.png", {'G', 'I', 'F', '8', '9', 'a'})).find("a GIF"), std::string::npos);
  EXPECT_NE(refusal_of_path(write("b.png", {'h', 'e', 'l', 'l', 'o'})).find("no picture"), std::string::npos);
  EXPECT_NE(refusal_of_path("/dev/zero").find("no ordinary file"), std::string::npos);
  ASSERT_EQ(::mkfifo((folder_ + "pipe").c_str(), 0600), 0);
  EXPECT_NE(refusal_of_path(folder_ + "pipe").find("no ordinary file"), std::string::npos);
  if (::geteuid() != 0) {
    const std::string path = write("secret.png", png_file(8, PNG_COLOR_TYPE_RGB, false));
    ASSERT_EQ(::chmod(path.c_str(), 0), 0);
    EXPECT_NE(refusal_of_path(path).find("Permission denied"), std::string::npos);
  }
}

// A header of 4 bytes can promise any size.
TEST(Image, RefusesPromisesThatTheFileCannotKeep) {
  File png = png_file(8, PNG_COLOR_TYPE_RGB, false);
  for (const size_t at : {16u, 20u}) png[at] = 0x7f;  // IHDR: width and height, 2^31 each
  mend_checksums(png);
  EXPECT_NE(refusal(png).find("promises"), std::string::npos) << refusal(png);
  File jpeg = jpeg_file(JCS_RGB, false);
  for (size_t i = 0; i + 9 < jpeg.size(); ++i) {
    if (jpeg[i] != 0xff || jpeg[i + 1] != 0xc0) continue;
    jpeg[i + 5] = jpeg[i + 7] = 0xff;  // SOF0: height and width, 65,3xx each
    break;
  }
  EXPECT_NE(refusal(jpeg).find("promises"), std::string::npos) << refusal(jpeg);
  Image image;
  EXPECT_THROW(days::image::reserve(image, 1 << 20, 1 << 20, 1e30, {png.data(), png.size()}, "test"),
               ImageError);
  EXPECT_THROW(days::image::reserve(image, 0, 1, 1e30, {png.data(), png.size()}, "test"), ImageError);
  EXPECT_TRUE(image.pixels.empty());
}

// Before anything is decoded: a picture cut short would else be called damaged.
TEST(Image, RefusesMorePixelsThanTheReaderTakes) {
  for (File file : {png_file(8, PNG_COLOR_TYPE_RGB, false), jpeg_file(JCS_RGB, false)}) {
    const auto with = [&](uint64_t most) { return decode_image(file.data(), file.size(), "test", most); };
    EXPECT_EQ(with(kWidth * kHeight).width, kWidth);
    file.resize(file.size() - 20);
    try {
      with(kWidth * kHeight - 1);
      ADD_FAILURE() << "it was decoded";
    } catch (const ImageError& error) {
      EXPECT_EQ(error.code(), 3);
      EXPECT_NE(std::string(error.what()).find("850 pixels in all"), std::string::npos) << error.what();
    }
  }
}

TEST(Image, RefusesAChecksumThatIsWrong) {
  File png = png_file(8, PNG_COLOR_TYPE_RGB, false);
  png[png.size() - 14] ^= 1;  // of the last chunk of pixels; behind it stand the 12 bytes of the end
  EXPECT_NE(refusal(png).find("CRC"), std::string::npos) << refusal(png);
}

TEST(Image, RefusesEveryFileThatIsCutShort) {
  for (const File& file : {png_file(8, PNG_COLOR_TYPE_RGB, false), png_file(8, PNG_COLOR_TYPE_PALETTE, true),
                           jpeg_file(JCS_RGB, false), jpeg_file(JCS_RGB, true)}) {
    // A JPEG's last two bytes are its end marker, and all that counts stands before it.
    for (size_t length = 0; length + 2 < file.size(); length += file.size() < 600 ? 1 : 7)
      EXPECT_NE(refusal(File(file.begin(), file.begin() + static_cast<ptrdiff_t>(length))), "")
          << length << " of " << file.size();
  }
}

// Whatever bytes it gets, it throws an ImageError or returns a picture whose pixels are all there. Half of
// the damaged PNGs get good checksums again, or nothing behind those would ever be tried.
TEST(Image, SurvivesDamagedFiles) {
  std::vector<File> files = {png_file(8, PNG_COLOR_TYPE_RGB, false),
                             png_file(16, PNG_COLOR_TYPE_RGBA, true),
                             png_file(4, PNG_COLOR_TYPE_PALETTE, true),
                             png_file(2, PNG_COLOR_TYPE_GRAY, false, true),
                             jpeg_file(JCS_RGB, false, 3),
                             jpeg_file(JCS_RGB, true),
                             jpeg_file(JCS_GRAYSCALE, true),
                             jpeg_file(JCS_CMYK, false, 8)};
  constexpr uint64_t kRounds = 1000;
  size_t good = 0, refused = 0;
  for (uint64_t seed = 0; seed < files.size(); ++seed) {
    for (uint64_t round = 0; round < kRounds; ++round) {
      File file = files[seed];
      auto random = [&, count = uint64_t{0}](size_t below) mutable {
        return static_cast<size_t>(days::random_bits(1000 * seed + round, count++) % below);
      };
      for (size_t changes = 1 + random(6); changes > 0; --changes) {
        // Headers stand in front: every other change goes there.
        const size_t at = random(random(2) == 0 ? std::min<size_t>(file.size(), 200) : file.size());
        switch (random(4)) {
          case 0:
            file[at] = static_cast<unsigned char>(random(256));
            break;
          case 1:
            file[at] = static_cast<unsigned char>(file[at] ^ 1u << random(8));
            break;
          case 2:
            file[at] = random(2) == 0 ? 0xff : 0;
            break;
          default:
            file.erase(file.begin() + static_cast<ptrdiff_t>(at),
                       file.begin() + static_cast<ptrdiff_t>(std::min(file.size(), at + 1 + random(9))));
        }
        if (file.size() < 16) break;
      }
      if (round % 2 == 0 && file.size() > 8 && file[0] == 0x89) mend_checksums(file);
      try {
        const Image image = decode(file);
        ++good;
        ASSERT_EQ(image.pixels.size(),
                  static_cast<size_t>(image.width) * static_cast<size_t>(image.height) * 3);
      } catch (const ImageError& error) {
        ++refused;
        ASSERT_EQ(std::string(error.what()).rfind("test: ", 0), 0u) << error.what();
      }
    }
  }
  EXPECT_GT(good, 50u) << "the damage is never survivable: too coarse a test";
  EXPECT_GT(refused, 1000u);
}

}  // namespace
#endif
