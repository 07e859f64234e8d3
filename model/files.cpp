// SPDX-License-Identifier: MIT
#include "model/files.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace model {
namespace {

[[noreturn]] void fail(const std::string& what, const std::string& name) {
  throw FileError(name + ": " + what + ": " + std::strerror(errno));
}

// A descriptor that is closed on every way out.
struct Descriptor {
  int number;
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
};

}  // namespace

std::string shape_text(const std::vector<int64_t>& shape) {
  std::string text = "(";
  for (const int64_t extent : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(extent);
  return text + ")";
}

MappedFile::MappedFile(const std::filesystem::path& path) : name_(path.string()) {
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.number < 0) fail("cannot be opened", name_);
  struct stat info {};
  if (::fstat(file.number, &info) != 0) fail("cannot be read", name_);
  if (!S_ISREG(info.st_mode)) throw FileError(name_ + ": is no file");
  size_ = static_cast<size_t>(info.st_size);
  if (size_ == 0) return;
  data_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.number, 0);
  if (data_ == MAP_FAILED) fail("cannot be mapped", name_);
}

MappedFile::~MappedFile() {
  if (size_ > 0) ::munmap(data_, size_);
}

void sync_folder(const std::filesystem::path& folder) {
  const std::string name = folder.empty() ? "." : folder.string();
  const Descriptor opened{::open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  // Some file systems cannot sync a folder, and say EINVAL.
  if (opened.number < 0 || (::fsync(opened.number) != 0 && errno != EINVAL)) fail("cannot be synced", name);
}

void write_whole(const std::filesystem::path& path, std::span<const std::string_view> parts) {
  const std::string name = path.string(), temporary = name + ".tmp";
  {
    Descriptor file{::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)};
    if (file.number < 0) fail("cannot be written", temporary);
    const auto give_up = [&](const char* what) {
      const int why = errno;
      ::unlink(temporary.c_str());
      errno = why;
      fail(what, name);
    };
    for (std::string_view part : parts) {
      while (!part.empty()) {
        const ssize_t written = ::write(file.number, part.data(), part.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) give_up("cannot be written");
        part.remove_prefix(static_cast<size_t>(written));
      }
    }
    if (::fsync(file.number) != 0) give_up("cannot be written");
    const int closed = ::close(file.number);
    file.number = -1;
    if (closed != 0) give_up("cannot be written");
  }
  if (::rename(temporary.c_str(), name.c_str()) != 0) fail("cannot be renamed to", temporary);
  sync_folder(path.parent_path());
}

void write_whole(const std::filesystem::path& path, std::string_view bytes) {
  write_whole(path, std::span(&bytes, 1));
}

}  // namespace model
