// SPDX-License-Identifier: MIT
//
// What a program writes: files whole or not at all, and standard output that somebody got. Host code only.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

namespace days {

// A file of the user's choice. What is written goes to a temporary name beside it, and takes its place with
// commit(): a failure leaves what was there before. A symbolic link stays one, what it points to is replaced;
// a device, a pipe or a file that is standard output already is written into.
class OutputFile {
 public:
  // file() is null where that fails, and errno says why.
  explicit OutputFile(const std::string& path) {
    struct stat there {};
    if (::stat(path.c_str(), &there) == 0 && (!S_ISREG(there.st_mode) || is_standard_output(there))) {
      file_ = std::fopen(path.c_str(), S_ISREG(there.st_mode) ? "ab" : "wb");
      return;
    }
    place_ = behind_links(path);
    partial_ = place_ + ".part" + std::to_string(::getpid());
    file_ = std::fopen(partial_.c_str(), "wbx");
    if (file_ != nullptr && ::stat(place_.c_str(), &there) == 0)  // what was private stays so
      static_cast<void>(::fchmod(::fileno(file_), there.st_mode & 07777));
  }
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile() {
    if (file_ == nullptr) return;
    std::fclose(file_);
    if (!partial_.empty()) static_cast<void>(std::remove(partial_.c_str()));
  }

  std::FILE* file() const { return file_; }

  // False, and errno, where not all of it could be written.
  bool commit() {
    const bool written = std::ferror(file_) == 0;
    const bool closed = std::fclose(file_) == 0;
    file_ = nullptr;
    if (written && closed && (partial_.empty() || std::rename(partial_.c_str(), place_.c_str()) == 0))
      return true;
    const int why = errno;
    if (!partial_.empty()) static_cast<void>(std::remove(partial_.c_str()));
    errno = why;
    return false;
  }

 private:
  static bool is_standard_output(const struct stat& file) {
    struct stat out {};
    return ::fstat(STDOUT_FILENO, &out) == 0 && out.st_dev == file.st_dev && out.st_ino == file.st_ino;
  }
  static std::string behind_links(std::string path) {
    for (int links = 0; links < 40; ++links) {
      char text[4096];
      const ssize_t length = ::readlink(path.c_str(), text, sizeof text);
      if (length < 0 || length == static_cast<ssize_t>(sizeof text)) break;
      const std::string target(text, static_cast<size_t>(length));
      path = target[0] == '/' ? target : path.substr(0, path.rfind('/') + 1) + target;
    }
    return path;
  }

  std::FILE* file_ = nullptr;
  std::string place_, partial_;
};

// Is the failure that errno speaks of the machine's (a full disk), and not that of the name?
inline bool machine_cannot_write(int code) {
  return code == ENOSPC || code == EDQUOT || code == EIO || code == EFBIG;
}

// "" where standard output took all that was written so far, else why it did not: a full disk, a closed
// stream. A result that nobody can read is none.
inline std::string lost_output() {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return "";
  return std::string("standard output: ") +
         (errno != 0 ? std::strerror(errno) : "it did not take all that was written");
}

}  // namespace days
