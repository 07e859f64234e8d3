// SPDX-License-Identifier: MIT
//
// What of day 33 is not on a ladder: requests, files, the progress bar, and that a scene is the same on both machines.
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "common/testing.h"
#include "day33_animated_patterns/animation.h"
#include "day33_animated_patterns/scene.h"

namespace day33 {
namespace {

using Words = std::vector<std::string>;

// A folder that goes with the test.
class Day33 : public ::testing::Test {
 protected:
  Day33() {
    char name[] = "/tmp/day33_XXXXXX";
    folder_ = ::mkdtemp(name);
  }
  ~Day33() override {
    const std::string remove = "rm -rf '" + folder_ + "'";
    static_cast<void>(std::system(remove.c_str()) == 0);
  }
  Request asked(Words words) const {
    words.insert(words.end(), {"--out", folder_ + "/out.gif"});
    return parse_request(words);
  }
  static std::string bytes(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  // What the error says; "" where there is none.
  template <class F>
  static std::string error(const F& work, int code) {
    try {
      work();
      return "";
    } catch (const days::ImageError& error) {
      EXPECT_EQ(error.code(), code) << error.what();
      return error.what();
    }
  }
  std::string folder_;
};

TEST_F(Day33, RefusesWhatIsNoRequest) {
  const auto says = [](const Words& words) { return error([&] { parse_request(words); }, 2); };
  EXPECT_EQ(says({"--pattern", "fire"}),
            "--pattern is one of plasma, waves, mandelbrot, gray_scott, not \"fire\"");
  for (const char* size : {"", "x", "0x5", "5x0", "5", "5x", "x5", "-1x5", "65536x1", "1x65536", "1e3x5",
                           "5x5x5", "5x 5", "99999999999x1"})
    EXPECT_EQ(says({"--pattern", "plasma", "--size", size}),
              std::string("--size is WIDTHxHEIGHT in pixels, each from 1 to 65535, not \"") + size + "\"");
  for (const char* frames : {"", "0", "-3", "1000001", "ten", "1.5", "99999999999"})
    EXPECT_EQ(says({"--pattern", "plasma", "--frames", frames}),
              std::string("--frames is a number from 1 to 1000000, not \"") + frames + "\"");
  EXPECT_EQ(says({"--pattern", "plasma", "--fps", "51"}), "--fps is a number from 1 to 50, not \"51\"");
  EXPECT_EQ(says({"--pattern", "plasma", "--out"}), "--out needs a value");
  EXPECT_NE(says({"--pattern", "plasma", "--out", ""}), "");
  EXPECT_NE(says({"--pattern", "plasma", "--out", "a.png"}).find("name a folder"), std::string::npos);
  EXPECT_NE(says({"--pattern", "plasma", "--variant", "a"}).find("knows no --variant"), std::string::npos);
  const Request most =
      parse_request({"--pattern", "waves", "--size", "65535x1", "--frames", "1000000", "--fps", "50"});
  EXPECT_EQ(most.width, 65535);
  EXPECT_EQ(most.height, 1);
  EXPECT_EQ(most.frames, 1000000);
  EXPECT_EQ(most.hundredths(), 2);
  EXPECT_EQ(parse_request({"--pattern", "waves", "--fps", "30"}).hundredths(), 3);
  EXPECT_EQ(parse_request({"--pattern", "waves", "--fps", "1"}).hundredths(), 100);
}

TEST_F(Day33, RefusesWhatFillsTheDisk) {
  const Request request = asked({"--pattern", "plasma", "--size", "1000x1000", "--frames", "100"});
  const double worst = worst_bytes(request);
  EXPECT_GT(worst, 1.5 * 1000 * 1000 * 100);
  EXPECT_EQ(error([&] { require_room(request, 2 * worst); }, 3), "");
  EXPECT_EQ(error([&] { require_room(request, 2 * worst - 1024); }, 3),
            "100 frames of 1000 x 1000 may take 153 MiB, more than half of the 305 MiB that are free there: "
            "take fewer or "
            "smaller frames, or another disk");
  EXPECT_NE(error(
                [&] {
                  animate(asked({"--pattern", "plasma", "--size", "65535x65535", "--frames", "1000000"}));
                },
                3)
                .find("PiB, more than half of"),
            std::string::npos);
  EXPECT_FALSE(std::ifstream(folder_ + "/out.gif"));
  EXPECT_NE(error([&] { require_memory(request, 127e6); }, 3), "");
  EXPECT_EQ(error([&] { require_memory(request, 129e6); }, 3), "");
}

TEST_F(Day33, RefusesPathsThatCannotBeWritten) {
  Request request = asked({"--pattern", "plasma", "--size", "8x4", "--frames", "2"});
  request.out = folder_ + "/none/out.gif";
  EXPECT_EQ(error([&] { animate(request); }, 2),
            request.out + " cannot be written: " + folder_ + "/none: No such file or directory");
  std::ofstream(folder_ + "/file") << "kept";
  request.out = folder_ + "/file/out.gif";
  EXPECT_EQ(error([&] { animate(request); }, 2),
            request.out + " cannot be written: " + folder_ + "/file: is no folder");
  if (days::image_files() == nullptr) return;
  request.out = folder_ + "/file";
  EXPECT_NE(error([&] { animate(request); }, 2).find("is a file"), std::string::npos);
  EXPECT_EQ(bytes(folder_ + "/file"), "kept");
  if (days::animation_files() == nullptr) return;
  ::mkdir((folder_ + "/a.gif").c_str(), 0777);
  request.out = folder_ + "/a.gif";
  EXPECT_NE(error([&] { animate(request); }, 2).find("cannot be written"), std::string::npos);
}

// What a bound promises must hold for the worst: noise.
TEST_F(Day33, GifOfNoiseIsWithinItsBound) {
  if (days::animation_files() == nullptr) GTEST_SKIP() << "without giflib";
  for (const char* size : {"1x1", "7x3", "301x97"}) {
    Request request = asked({"--pattern", "waves", "--size", size, "--frames", "3"});
    request.out = folder_ + "/" + size + ".gif";
    const size_t count = static_cast<size_t>(request.width) * static_cast<size_t>(request.height);
    std::vector<uint8_t> noise(count);
    uint32_t state = 1;
    const auto gif =
        days::animation_files()->open_gif(request.out, request.width, request.height, palette_of("waves"), 4);
    for (int frame = 0; frame < 3; ++frame) {
      for (uint8_t& pixel : noise) pixel = static_cast<uint8_t>((state = state * 1664525 + 1013904223) >> 24);
      gif->add(noise.data());
    }
    EXPECT_TRUE(bytes(request.out).empty()) << "a GIF that is not whole must not be seen";
    gif->finish();
    const std::string file = bytes(request.out);
    EXPECT_EQ(file.substr(0, 6), "GIF89a");
    EXPECT_EQ(file.back(), ';');
    EXPECT_NE(file.find("NETSCAPE2.0"), std::string::npos);
    EXPECT_EQ(static_cast<unsigned char>(file[6]) + 256 * static_cast<unsigned char>(file[7]), request.width);
    EXPECT_EQ(static_cast<unsigned char>(file[8]) + 256 * static_cast<unsigned char>(file[9]),
              request.height);
    EXPECT_LE(static_cast<double>(file.size()), worst_bytes(request));
  }
}

TEST_F(Day33, AGifThatIsGivenUpLeavesWhatWasThere) {
  if (days::animation_files() == nullptr) GTEST_SKIP() << "without giflib";
  std::ofstream(folder_ + "/out.gif") << "before";
  {
    const auto gif = days::animation_files()->open_gif(folder_ + "/out.gif", 2, 1, palette_of("waves"), 4);
    const uint8_t pixels[] = {0, 255};
    gif->add(pixels);
  }
  EXPECT_EQ(bytes(folder_ + "/out.gif"), "before");
  EXPECT_NE(
      error([&] { days::animation_files()->open_gif(folder_ + "/x.gif", 65536, 1, palette_of("waves"), 4); },
            2),
      "");
  EXPECT_EQ(error(
                [&] {
                  const auto gif =
                      days::animation_files()->open_gif("/dev/full", 2, 1, palette_of("waves"), 4);
                  gif->finish();
                },
                3),
            "/dev/full cannot be written: No space left on device");
}

TEST_F(Day33, WritesFramesAsPng) {
  if (days::image_files() == nullptr) GTEST_SKIP() << "without libpng and libjpeg";
  Request request = asked({"--pattern", "gray_scott", "--size", "17x9", "--frames", "3"});
  request.out = folder_ + "/frames/";
  animate(request);
  Scene<Cpu> scene(request);
  for (int i = 0; i < 3; ++i) {
    scene.make(i);
    const days::Image image = days::image_files()->read(frame_path(request.out, i), days::kAnyPixels);
    ASSERT_EQ(image.width, 17);
    ASSERT_EQ(image.height, 9);
    for (size_t p = 0; p < 17 * 9; ++p) {
      for (size_t c = 0; c < 3; ++c) {
        // Entries of the palette may differ by one, where a sum was rounded the other way.
        ASSERT_NEAR(image.pixels[3 * p + c], palette_of("gray_scott").colors[scene.pixels()[p]][c], 4)
            << i << " " << p;
      }
    }
  }
  EXPECT_LE(static_cast<double>(bytes(frame_path(request.out, 0)).size()), worst_bytes(request) / 3);
  request.frames = 2;  // the third would be played after them
  EXPECT_NE(error([&] { animate(request); }, 2).find("frames of a longer animation"), std::string::npos);
}

// The kernels' frames and the CPU's: entries of the palette, which one rounding may move by one.
TEST_F(Day33, ScenesAreTheSameOnBothMachines) {
  for (const std::string& pattern : pattern_names()) {
    const Request request = asked({"--pattern", pattern, "--size", "70x45", "--frames", "4"});
    Scene<Gpu> gpu(request);
    Scene<Cpu> cpu(request);
    std::vector<uint8_t> last;
    for (int i = 0; i < request.frames; ++i) {
      gpu.make(i);
      cpu.make(i);
      const std::vector<uint8_t> pixels = gpu.pixels().download();
      for (size_t p = 0; p < pixels.size(); ++p)
        ASSERT_NEAR(pixels[p], cpu.pixels()[p], 1) << pattern << i << " " << p;
      EXPECT_NE(pixels, last) << pattern << ": nothing moves";
      last = pixels;
    }
  }
}

TEST_F(Day33, ZoomEndsWhereFloatsStillTellPixelsApart) {
  Request request = asked({"--pattern", "mandelbrot", "--frames", "100"});
  EXPECT_FLOAT_EQ(zoom(request, 0).step * 320, 3.0f);
  EXPECT_FLOAT_EQ(zoom(request, 99).step * 320, 0.0016f);
  for (int i = 1; i < 100; ++i) EXPECT_LT(zoom(request, i).step, zoom(request, i - 1).step);
  request.width = 4096;
  const Mandelbrot<float> last = zoom(request, 99);
  EXPECT_NE(std::fmaf(4000, last.step, last.left), std::fmaf(4001, last.step, last.left));
  request.frames = 1;
  EXPECT_FLOAT_EQ(zoom(request, 0).step * 4096, 3.0f);
}

TEST_F(Day33, ProgressIsOneLineAndGoes) {
  std::FILE* const file = std::tmpfile();
  const Progress progress(file, true, "plasma", 4);
  progress.done(1);
  progress.done(4);
  progress.end();
  std::rewind(file);
  char text[512] = {};
  static_cast<void>(std::fread(text, 1, sizeof text - 1, file));
  std::fclose(file);
  const std::string all = text;
  EXPECT_NE(all.find("\rplasma  [##########..............................]  1/4"), std::string::npos) << all;
  EXPECT_NE(all.find("[########################################]  4/4"), std::string::npos) << all;
  EXPECT_EQ(all.find('\n'), std::string::npos);
  EXPECT_EQ(all.substr(all.size() - 80), "\r" + std::string(78, ' ') + "\r");
  std::FILE* const quiet = std::tmpfile();
  Progress(quiet, false, "plasma", 4).done(1);
  EXPECT_EQ(std::ftell(quiet), 0);
  std::fclose(quiet);
}

TEST_F(Day33, WordsOfBytes) {
  EXPECT_EQ(bytes_in_words(0), "0 B");
  EXPECT_EQ(bytes_in_words(1023), "1023 B");
  EXPECT_EQ(bytes_in_words(1536), "1.5 KiB");
  EXPECT_EQ(bytes_in_words(30.0 * (1 << 20)), "30 MiB");
}

TEST(Day33Refuses, ExtentsStepsAndSpeedsThatAreNone) {
  float x[4] = {};
  const days::Workspace room{x, sizeof x};
  for (const int side : {0, -1, 65536}) {
    EXPECT_THROW(plasma({x, side, 1, 0}, nullptr), std::invalid_argument);
    EXPECT_THROW(plasma({x, 1, side, 0}, nullptr), std::invalid_argument);
    EXPECT_THROW(waves({x, x + 1, side, 1, 0.1f}, nullptr), std::invalid_argument);
    EXPECT_THROW(mandelbrot_rows({x, side, 1, 0, 0, 1, 5}, nullptr), std::invalid_argument);
    EXPECT_THROW(mandelbrot_squares({x, 1, side, 0, 0, 1, 5}, nullptr), std::invalid_argument);
  }
  for (const float speed2 : {0.0f, -0.1f, 0.51f, NAN})
    EXPECT_THROW(waves({x, x + 1, 1, 1, speed2}, nullptr), std::invalid_argument);
  for (const auto& variant : days::variants<GrayScott<float>>("gray_scott")) {
    EXPECT_THROW(variant.launch({x, x, x + 1, x + 2, 0, 1, 1, 0, 0, room}), std::invalid_argument)
        << variant.name;
    EXPECT_THROW(variant.launch({x, x, x + 1, x + 2, 1, 1, 0, 0, 0, room}), std::invalid_argument)
        << variant.name;
    EXPECT_THROW(variant.launch({x, x, x + 1, x + 2, 1, 3, 1, 0, 0, room}), std::invalid_argument)
        << variant.name;
  }
  EXPECT_THROW(mandelbrot_rows({x, 1, 1, 0, 0, 1, 0}, nullptr), std::invalid_argument);
  EXPECT_THROW(mandelbrot_squares({x, 1, 1, 0, 0, 1, 0}, nullptr), std::invalid_argument);
  uint8_t pixel = 0;
  EXPECT_THROW(paint({x, &pixel, 0, 0, 1}, nullptr), std::invalid_argument);
  EXPECT_THROW(paint({x, &pixel, 1, 1, 1}, nullptr), std::invalid_argument);
  EXPECT_THROW(paint({x, &pixel, 1, NAN, 1}, nullptr), std::invalid_argument);
}

}  // namespace
}  // namespace day33
