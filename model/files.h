// SPDX-License-Identifier: MIT
//
// Files of a model: read whole or mapped, written so that under a name there is a whole file or none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace model {

// What is wrong with a file, and where in it. Nothing of it has been taken.
class FileError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A tensor's extents as a message says them: "(2, 3)".
std::string shape_text(const std::vector<int64_t>& shape);

// A file's bytes, mapped: pages come in as they are read. The file must not be cut short meanwhile; files that are written by
// write_whole() never are. The bytes live as long as the MappedFile.
class MappedFile {
 public:
  // Throws FileError where the file cannot be opened or mapped, or is a folder or anything else that is no file.
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::string_view bytes() const { return {static_cast<const char*>(data_), size_}; }
  const std::string& name() const { return name_; }

 private:
  std::string name_;
  void* data_ = nullptr;
  size_t size_ = 0;
};

// Writes parts, one behind the other, as NAME.tmp, waits until they are on the disk, and renames: whoever dies or runs out of
// disk on the way leaves what was under the name before. Throws FileError where it cannot be written, renamed or synced; only where the
// folder cannot be synced is the new file there already. A NAME.tmp remains where the process dies or the renaming fails; the next
// write to NAME replaces it. The folder has to exist.
void write_whole(const std::filesystem::path& path, std::span<const std::string_view> parts);
void write_whole(const std::filesystem::path& path, std::string_view bytes);

// Waits until a folder's entries are on the disk; does nothing where the file system cannot do that. Throws FileError where the folder
// cannot be opened or synced.
void sync_folder(const std::filesystem::path& folder);

}  // namespace model
