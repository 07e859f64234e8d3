// SPDX-License-Identifier: MIT
//
// GIF through giflib: one palette for all frames, and the block that browsers take for "again, without end".

#include <gif_lib.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include "common/animation.h"
#include "common/output.h"

namespace days {
namespace {

constexpr int kMostSide = 65535;  // two bytes in the file

int write_bytes(GifFileType* gif, const GifByteType* bytes, int count) {
  const size_t size = static_cast<size_t>(count);
  return static_cast<int>(std::fwrite(bytes, 1, size, static_cast<std::FILE*>(gif->UserData)));
}

class GifWriter : public FrameWriter {
 public:
  GifWriter(const std::string& path, int width, int height, const Palette& palette, int hundredths)
      : path_(path), width_(width), height_(height), hundredths_(hundredths), output_(path) {
    if (width < 1 || width > kMostSide || height < 1 || height > kMostSide)
      throw ImageError(path + ": a GIF has 1 to 65535 pixels a side, not " + std::to_string(width) + " x " +
                       std::to_string(height));
    if (output_.file() == nullptr) fail(errno);
    map_ = GifMakeMapObject(256, nullptr);
    if (map_ == nullptr) throw ImageError(path + ": giflib does not start", 3);
    for (int i = 0; i < 256; ++i)
      map_->Colors[i] = {palette.colors[i][0], palette.colors[i][1], palette.colors[i][2]};
    int problem = 0;
    gif_ = EGifOpen(output_.file(), write_bytes, &problem);
    if (gif_ == nullptr) throw ImageError(path + ": giflib does not start", 3);
    EGifSetGifVersion(gif_, true);
    const unsigned char endless[] = {1, 0, 0};
    must(EGifPutScreenDesc(gif_, width, height, 8, 0, map_));
    must(EGifPutExtensionLeader(gif_, APPLICATION_EXT_FUNC_CODE));
    must(EGifPutExtensionBlock(gif_, 11, "NETSCAPE2.0"));
    must(EGifPutExtensionBlock(gif_, sizeof endless, endless));
    must(EGifPutExtensionTrailer(gif_));
  }
  ~GifWriter() override {
    close();
    GifFreeMapObject(map_);
  }

  void add(const uint8_t* pixels) override {
    const GraphicsControlBlock control = {DISPOSE_DO_NOT, false, hundredths_, NO_TRANSPARENT_COLOR};
    unsigned char block[4];
    EGifGCBToExtension(&control, block);
    must(EGifPutExtension(gif_, GRAPHICS_EXT_FUNC_CODE, sizeof block, block));
    must(EGifPutImageDesc(gif_, 0, 0, width_, height_, false, nullptr));
    std::vector<GifPixelType> row(static_cast<size_t>(width_));  // giflib wants to write to it
    for (int y = 0; y < height_; ++y) {
      std::memcpy(row.data(), pixels + static_cast<size_t>(y) * row.size(), row.size());
      must(EGifPutLine(gif_, row.data(), width_));
    }
  }

  void finish() override {
    if (!close()) fail(errno);
    if (!output_.commit()) fail(errno);
  }

 private:
  void must(int result) {
    if (result != GIF_OK) fail(errno);
  }
  [[noreturn]] void fail(int why) {
    throw ImageError(path_ + " cannot be written: " + (why != 0 ? std::strerror(why) : "giflib refuses"),
                     machine_cannot_write(why) ? 3 : 2);
  }
  bool close() {
    if (gif_ == nullptr) return true;
    int problem = 0;
    errno = 0;
    const bool closed = EGifCloseFile(gif_, &problem) == GIF_OK;
    gif_ = nullptr;
    return closed;
  }

  std::string path_;
  int width_, height_, hundredths_;
  OutputFile output_;
  ColorMapObject* map_ = nullptr;
  GifFileType* gif_ = nullptr;
};

std::unique_ptr<FrameWriter> open_gif(const std::string& path, int width, int height, const Palette& palette,
                                      int hundredths) {
  return std::make_unique<GifWriter>(path, width, height, palette, hundredths);
}

const AnimationFiles kFiles{open_gif};
[[maybe_unused]] const bool hooked_in = (animation_files() = &kFiles) != nullptr;

}  // namespace
}  // namespace days
