// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>

namespace model {

// A test with a folder of its own, which is empty at first and gone afterwards.
class Scratch : public testing::Test {
 protected:
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "days-model-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder for tests: " + name);
    folder_ = name;
  }
  ~Scratch() override { std::filesystem::remove_all(folder_); }
  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
};

}  // namespace model
