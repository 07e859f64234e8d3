// SPDX-License-Identifier: MIT
//
// From a path to pixels, with an error for everything that is not a picture.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>

#include "common/image/formats.h"

namespace days {
namespace {

constexpr uint64_t kMostFileBytes = uint64_t{1} << 32;

bool begins_with(const image::Bytes& file, const char* signature, size_t length) {
  return file.size >= length && std::memcmp(file.data, signature, length) == 0;
}

// What a file that is neither PNG nor JPEG seems to be.
const char* other_format(const image::Bytes& file) {
  if (begins_with(file, "GIF8", 4)) return "a GIF";
  if (begins_with(file, "BM", 2)) return "a BMP";
  if (begins_with(file, "RIFF", 4)) return "a WebP or another RIFF file";
  if (begins_with(file, "II*", 3) || begins_with(file, "MM", 2)) return "a TIFF";
  if (file.size >= 8 && std::memcmp(file.data + 4, "ftyp", 4) == 0) return "a HEIC or AVIF picture or a film";
  return "no picture";
}

class File {
 public:
  explicit File(const std::string& path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int fd() const { return fd_; }

 private:
  int fd_;
};

std::vector<unsigned char> bytes_of(const std::string& path) {
  const File file(path);
  if (file.fd() < 0) throw ImageError(path + ": " + std::strerror(errno));
  struct stat status {};
  if (::fstat(file.fd(), &status) != 0) throw ImageError(path + ": " + std::strerror(errno));
  if (S_ISDIR(status.st_mode)) throw ImageError(path + ": is a directory, not a picture");
  if (!S_ISREG(status.st_mode)) throw ImageError(path + ": is no ordinary file");
  const uint64_t size = static_cast<uint64_t>(status.st_size);
  if (size == 0) throw ImageError(path + ": is empty");
  if (size > kMostFileBytes) throw ImageError(path + ": is larger than 4 GiB", 3);
  std::vector<unsigned char> bytes(static_cast<size_t>(size));
  size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t got = ::read(file.fd(), bytes.data() + have, bytes.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw ImageError(path + ": " + std::strerror(errno));
    if (got == 0) break;  // somebody cut the file short meanwhile: the decoder says what is missing
    have += static_cast<size_t>(got);
  }
  bytes.resize(have);
  return bytes;
}

const ImageFiles kFiles{read_image, write_png};
[[maybe_unused]] const bool hooked_in = (image_files() = &kFiles) != nullptr;

}  // namespace

Image decode_image(const unsigned char* data, size_t size, const std::string& name, uint64_t most_pixels) {
  const image::Bytes file{data, size, most_pixels};
  if (begins_with(file, "\x89PNG\r\n\x1a\n", 8)) return image::decode_png(file, name);
  if (begins_with(file, "\xff\xd8\xff", 3)) return image::decode_jpeg(file, name);
  if (begins_with(file, "\x89PNG", 4)) throw ImageError(name + ": is a PNG that a text filter has damaged");
  throw ImageError(name + ": is " + other_format(file) + "; only PNG and JPEG are read");
}

Image read_image(const std::string& path, uint64_t most_pixels) {
  const std::vector<unsigned char> bytes = bytes_of(path);
  return decode_image(bytes.data(), bytes.size(), path, most_pixels);
}

namespace image {

void reserve(Image& image, uint64_t width, uint64_t height, double most_pixels, Bytes file,
             const std::string& name) {
  const std::string extents = std::to_string(width) + " x " + std::to_string(height) + " pixels";
  if (width == 0 || height == 0) throw ImageError(name + ": has " + extents);
  const double pixels = static_cast<double>(width) * static_cast<double>(height);
  if (pixels > most_pixels) {
    throw ImageError(name + ": is damaged: its header promises " + extents + ", which " +
                     std::to_string(file.size) + " bytes cannot hold");
  }
  if (pixels > static_cast<double>(file.most_pixels)) {
    throw ImageError(name + ": " + extents + " are more than the CPU backend takes, " +
                         std::to_string(file.most_pixels) +
                         " pixels in all: scale the picture down, or use a GPU",
                     3);
  }
  // The picture, and about as much again for the decoder and for a copy in the kernels' own layout.
  const double memory =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  if (width > INT_MAX / 4 || height > INT_MAX / 4 || 3 * pixels > memory / 4) {
    throw ImageError(name + ": " + extents + " are too many for this machine's memory", 3);
  }
  image.width = static_cast<int>(width);
  image.height = static_cast<int>(height);
  image.channels = 3;
  try {
    image.pixels.resize(static_cast<size_t>(3 * width * height));
  } catch (const std::bad_alloc&) {
    throw ImageError(name + ": " + extents + " are too many for this machine's memory", 3);
  }
}

}  // namespace image
}  // namespace days
