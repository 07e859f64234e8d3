// SPDX-License-Identifier: MIT
#include "day33_animated_patterns/animation.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "common/animation.h"
#include "common/device.h"
#include "common/parallel.h"
#include "common/timing.h"
#include "day33_animated_patterns/scene.h"

namespace day33 {
namespace {

// PNG frames in a folder of their own.
class Frames : public days::FrameWriter {
 public:
  Frames(const Request& request, const days::Palette& palette)
      : request_(request),
        palette_(palette),
        image_{request.width,
               request.height,
               3,
               std::vector<unsigned char>(3 * static_cast<size_t>(request.width) *
                                          static_cast<size_t>(request.height)),
               {}} {
    if (days::image_files() == nullptr)
      throw days::ImageError("PNG frames need libpng and libjpeg, and this program was built without them", 3,
                             "sudo apt-get install libpng-dev libjpeg-dev, then ./days run once more");
    if (::mkdir(request.out.c_str(), 0777) != 0 && errno != EEXIST)
      throw days::ImageError(request.out + " cannot be made: " + std::strerror(errno));
    struct stat there {};
    if (::stat(request.out.c_str(), &there) != 0 || !S_ISDIR(there.st_mode))
      throw days::ImageError(request.out + " is a file; --out takes a name that ends in .gif, or a folder");
    if (::access(request.out.c_str(), W_OK | X_OK) != 0)
      throw days::ImageError(request.out + " cannot be written: " + std::strerror(errno));
    // Frames of a longer animation would be played after these.
    const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(request.out.c_str()), ::closedir);
    while (const dirent* entry = folder ? ::readdir(folder.get()) : nullptr) {
      int number = 0, end = 0;
      if (std::sscanf(entry->d_name, "frame_%9d.png%n", &number, &end) == 1 && end > 0 &&
          entry->d_name[end] == 0 && number >= request.frames)
        throw days::ImageError(request.out +
                               " holds frames of a longer animation: remove it, or name another folder");
    }
  }
  void add(const uint8_t* pixels) override {
    for (size_t i = 0; i < image_.pixels.size() / 3; ++i)
      std::memcpy(&image_.pixels[3 * i], palette_.colors[pixels[i]], 3);
    days::image_files()->write(frame_path(request_.out, written_++), image_);
  }
  void finish() override {}

 private:
  Request request_;
  days::Palette palette_;
  days::Image image_;
  int written_ = 0;
};

std::unique_ptr<days::FrameWriter> writer(const Request& request) {
  const days::Palette palette = palette_of(request.pattern);
  if (!request.gif()) return std::make_unique<Frames>(request, palette);
  if (days::animation_files() == nullptr)
    throw days::ImageError(
        "a GIF needs giflib, and this program was built without it; --out FOLDER writes PNG frames", 3,
        "sudo apt-get install libgif-dev, then ./days run once more");
  return days::animation_files()->open_gif(request.out, request.width, request.height, palette,
                                           request.hundredths());
}

// Frames that this CPU's cores make in a second, of its own loops; a second of them, or all.
double cpu_frames_per_second(const Request& request) {
  Scene<Cpu> scene(request);
  scene.make(0);
  double seconds = 0;
  int frames = 0;
  for (int i = 1; i < request.frames && seconds < 1; ++i, ++frames)
    seconds += days::cpu_seconds([&] { scene.make(i); });
  if (frames == 0) {
    seconds = days::cpu_seconds([&] { scene.make(0); });
    frames = 1;
  }
  return frames / seconds;
}

double written_bytes(const Request& request) {
  double bytes = 0;
  struct stat file {};
  for (int i = 0; i < (request.gif() ? 1 : request.frames); ++i) {
    const std::string path = request.gif() ? request.out : frame_path(request.out, i);
    if (::stat(path.c_str(), &file) == 0) bytes += static_cast<double>(file.st_size);
  }
  return bytes;
}

}  // namespace

std::string frame_path(const std::string& folder, int number) {
  char name[32];
  std::snprintf(name, sizeof name, "/frame_%04d.png", number);
  return (folder.back() == '/' ? folder.substr(0, folder.size() - 1) : folder) + name;
}

void Progress::done(int steps) const {
  if (!shown_) return;
  constexpr int kWidth = 40;
  const int full = static_cast<int>(int64_t{kWidth} * steps / steps_);
  std::string bar(static_cast<size_t>(full), '#');
  bar.resize(kWidth, '.');
  std::fprintf(to_, "\r%s  [%s]  %d/%d", what_.c_str(), bar.c_str(), steps, steps_);
  std::fflush(to_);
}
void Progress::end() const {
  if (shown_) std::fprintf(to_, "\r%*s\r", 78, "");
}

void animate(const Request& request) {
  require_room(request, free_bytes(request.out));
  require_memory(request,
                 static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE)));
  const std::unique_ptr<days::FrameWriter> files = writer(request);
  Scene<Gpu> scene(request);
  days::EventTimer timer;
  double computed = 0;
  const Progress progress(stderr, isatty(STDERR_FILENO) != 0, request.pattern, request.frames);
  for (int i = 0; i < request.frames; ++i) {
    timer.start(nullptr);
    scene.make(i);
    timer.stop(nullptr);
    if (i > 0) computed += timer.seconds();  // the first one also loads the kernels
    files->add(scene.pixels().download().data());
    progress.done(i + 1);
  }
  files->finish();
  progress.end();

  std::printf("%s, %d x %d, %d frame%s%s: %s, %s\n", request.pattern.c_str(), request.width, request.height,
              request.frames, request.frames == 1 ? "" : "s",
              request.gif() ? (" of " + std::to_string(request.hundredths()) + "/100 s").c_str() : "",
              request.out.c_str(), bytes_in_words(written_bytes(request)).c_str());
  const double cpu = cpu_frames_per_second(request);
  const days::Device& device = days::current_device();
  if (device.simt) {
    std::printf("No GPU: kernels ran thread by thread, and were not timed. ");
  } else if (request.frames > 1) {
    std::printf("%s: %.0f frames/s. ", device.name.c_str(), (request.frames - 1) / computed);
  }
  std::printf("This CPU's %zu threads: %.0f frames/s\n", days::cpu_threads(), cpu);
}

}  // namespace day33
