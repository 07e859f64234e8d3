// SPDX-License-Identifier: MIT
#include "model/safetensors.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <vector>

#include "tests/fuzz.h"
#include "tests/model/files/scratch.h"

namespace {

using model::FileError;
using model::Safetensors;

std::string file_of(const std::string& header, const std::string& data) {
  const uint64_t length = header.size();
  std::string bytes(reinterpret_cast<const char*>(&length), 8);
  return bytes + header + data;
}

class SafetensorsTest : public model::Scratch {
 protected:
  // What the reader says of such a file; "" where it takes it.
  std::string said(const std::string& bytes) {
    // A name of its own: some file systems wait for the disk where a file is written for the second time.
    const auto path = folder() / (std::to_string(files_++) + ".safetensors");
    std::ofstream(path, std::ios::binary) << bytes;
    const std::string because = read(path);
    std::filesystem::remove(path);
    return because;
  }
  std::string read(const std::filesystem::path& path) {
    try {
      const Safetensors file(path);
      for (const auto& [name, tensor] : file.tensors())
        for (const char byte : tensor.bytes) sum_ += byte;  // all that it promises can be read
      return "";
    } catch (const FileError& error) {
      EXPECT_TRUE(std::string_view(error.what()).starts_with(path.string())) << error.what();
      return error.what();
    }
  }
  void refuses(const std::string& bytes, const std::string& because) {
    EXPECT_NE(said(bytes).find(because), std::string::npos)
        << "says \"" << said(bytes) << "\", not " << because;
  }
  int sum_ = 0, files_ = 0;
};

TEST_F(SafetensorsTest, what_is_written_comes_back) {
  const float weights[6] = {1, 2, 3, 4, 5, 6};
  const uint16_t halves[3] = {7, 8, 9};
  const auto bytes = [](const auto& array) {
    return std::string_view(reinterpret_cast<const char*>(array), sizeof array);
  };
  const auto path = folder() / "model.safetensors";
  model::write_safetensors(path,
                           {{"a \"half\"", {"BF16", {3}, bytes(halves)}},
                            {"none", {"F32", {4, 0}, {}}},
                            {"weights", {"F32", {2, 3}, bytes(weights)}}},
                           {{"step", "400"}});
  const Safetensors file(path);
  EXPECT_EQ(file.tensors().size(), 3u);
  EXPECT_EQ(file.metadata().at("step"), "400");
  EXPECT_EQ(file.at("weights", "F32", {2, 3}).bytes, bytes(weights));
  EXPECT_EQ(file.at("a \"half\"").bytes, bytes(halves));
  EXPECT_EQ(file.at("none").elements(), 0);
  EXPECT_THROW(file.at("bias"), FileError);
  EXPECT_THROW(file.at("weights", "F32", {3, 2}), FileError);
  EXPECT_THROW(file.at("weights", "F16", {2, 3}), FileError);
  EXPECT_FALSE(std::filesystem::exists(folder() / "model.safetensors.tmp"));
}

TEST_F(SafetensorsTest, wrong_tensors_are_not_written) {
  const auto path = folder() / "model.safetensors";
  EXPECT_THROW(model::write_safetensors(path, {{"a", {"F32", {2}, "1234"}}}), std::invalid_argument);
  EXPECT_THROW(model::write_safetensors(path, {{"a", {"F12", {1}, "1234"}}}), std::invalid_argument);
  EXPECT_THROW(model::write_safetensors(path, {{"a", {"F32", {-1, -1}, "1234"}}}), std::invalid_argument);
  EXPECT_THROW(model::write_safetensors(path, {{"__metadata__", {"U8", {4}, "1234"}}}),
               std::invalid_argument);
  EXPECT_THROW(model::write_safetensors(path, {{"\xff", {"U8", {4}, "1234"}}}), std::invalid_argument);
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(SafetensorsTest, a_full_disk_leaves_what_was_there) {
  if (access("/dev/full", W_OK) != 0) GTEST_SKIP() << "without /dev/full";
  const auto path = folder() / "model.safetensors";
  std::ofstream(path) << "before";
  std::filesystem::create_symlink("/dev/full", folder() / "model.safetensors.tmp");
  try {
    model::write_safetensors(path, {{"a", {"U8", {4}, "1234"}}});
    FAIL() << "wrote to a full disk";
  } catch (const FileError& error) {
    EXPECT_NE(std::string(error.what()).find("No space left"), std::string::npos) << error.what();
  }
  EXPECT_EQ(model::MappedFile(path).bytes(), "before");
}

TEST_F(SafetensorsTest, hostile_files_are_refused_by_name) {
  const auto one = [](const std::string& entry) { return "{\"a\":" + entry + "}"; };
  const std::string good = one(R"({"dtype":"F32","shape":[2],"data_offsets":[0,8]})"), data(8, 'x');
  EXPECT_EQ(said(file_of(good, data)), "");
  EXPECT_EQ(said(file_of(good + "   ", data)), "");
  EXPECT_EQ(said(file_of("{}", "")), "");
  refuses("", "has 0 bytes");
  refuses("1234567", "has 7 bytes");
  refuses(std::string(8, '\xff'), "header would have 18446744073709551615 bytes");
  refuses(file_of(good, data).substr(0, 20), "cut short");
  refuses(file_of(std::string(16'000'001, ' '), ""), "16000001");
  refuses(file_of("", ""), "does not begin with {");
  refuses(file_of(" {}", ""), "does not begin with {");
  refuses(file_of("[]", ""), "does not begin with {");
  refuses(file_of("{\"a\"", ""), "is no JSON");
  refuses(file_of("{}x", ""), "is no JSON");
  refuses(file_of("{\"\xff\":{}}", ""), "is no JSON");
  std::string deep = "{\"a\":";
  for (int i = 0; i < 100000; ++i) deep += '[';
  refuses(file_of(deep, ""), "nested deeper");
  refuses(file_of("{\"a\":1}", ""), "is no object");
  refuses(file_of(good, data + "y"), "bytes 8 to 9 belong to no tensor");
  refuses(file_of(good, "1234567"), "0 to 8 of 7");
  const auto entry = [&](const std::string& dtype, const std::string& shape, const std::string& offsets) {
    return file_of(one("{\"dtype\":" + dtype + ",\"shape\":" + shape + ",\"data_offsets\":" + offsets + "}"),
                   data);
  };
  refuses(entry("\"F33\"", "[2]", "[0,8]"), "unknown dtype F33");
  refuses(entry("7", "[2]", "[0,8]"), "dtype is no text");
  refuses(entry("\"F32\"", "2", "[0,8]"), "shape is no list");
  refuses(entry("\"F32\"", "[-2]", "[0,8]"), "extent of -2");
  refuses(entry("\"F32\"", "[2.0]", "[0,8]"), "extent of 2.0");
  refuses(entry("\"F32\"", "[18446744073709551618]", "[0,8]"), "extent of 1.8446744073709552e+19");
  refuses(entry("\"F32\"", "[9223372036854775808]", "[0,8]"), "extent of 9223372036854775808");
  refuses(entry("\"F32\"", "[4611686018427387906]", "[0,8]"), "is too large");  // * 4 is 8 in 64 bits
  refuses(entry("\"U8\"", "[4294967296,4294967296,8]", "[0,8]"), "is too large");
  refuses(entry("\"F32\"", "[3]", "[0,8]"), "takes 12 bytes, and it has 8");
  refuses(entry("\"F32\"", "[2]", "[0]"), "no two whole numbers");
  refuses(entry("\"F32\"", "[2]", "[0,-8]"), "no two whole numbers");
  refuses(entry("\"F32\"", "[2]", "[8,0]"), "would be 8 to 0 of 8");
  refuses(entry("\"F32\"", "[2]", "[1000000,1000008]"), "of 8");
  refuses(entry("\"F32\"", "[2]", "[9223372036854775799,9223372036854775807]"), "of 8");
  refuses(file_of(one(R"({"dtype":"F32","shape":[2]})"), data), "has no data_offsets");
  refuses(file_of(one(R"({"dtype":"F32","shape":[2],"data_offsets":[0,8],"x":1})"), data), "more than dtype");
  const std::string half = R"({"dtype":"U8","shape":[4],"data_offsets":[0,4]})";
  refuses(file_of("{\"a\":" + half + ",\"b\":" + half + "}", "1234"), "two tensors share byte 0");
  refuses(file_of("{\"a\":" + half + ",\"a\":" + half + "}", "1234"), "the name \"a\" twice");
  refuses(file_of(R"({"a":{"dtype":"U8","shape":[4],"shape":[3],"data_offsets":[0,4]}})", "1234"), "twice");
  refuses(file_of(one(R"({"dtype":"U8","shape":[4],"data_offsets":[4,8]})"), data),
          "0 to 4 belong to no tensor");
  refuses(file_of(R"({"__metadata__":{"step":4}})", ""), "metadata \"step\" is no text");
  EXPECT_THROW(Safetensors(folder() / "missing"), FileError);
  EXPECT_THROW(Safetensors{folder()}, FileError);
}

// Changed files are taken or refused, and what is taken can be read.
TEST_F(SafetensorsTest, fuzz_changed_files) {
  const std::string good = file_of(
      R"({"__metadata__":{"step":"4"},"a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},)"
      R"("b":{"dtype":"BF16","shape":[4],"data_offsets":[24,32]},"c":{"dtype":"U8","shape":[0],"data_offsets":[32,32]}})",
      std::string(32, 'x'));
  ASSERT_EQ(said(good), "");
  std::vector<std::string_view> pieces(std::begin(fuzz::kJsonPieces), std::end(fuzz::kJsonPieces));
  pieces.insert(pieces.end(), {"[0,24]", "\"shape\"", "4294967296", "\"a\"", "[]"});
  int taken = 0;
  fuzz::tries(3000, 20, [&](uint64_t number) {
    fuzz::Chance chance(number);
    std::string bytes = fuzz::broken(good, chance, pieces);
    if (bytes.size() > 8 &&
        chance.one_in(2)) {  // a header of the right length is read further than one that is not
      const uint64_t length =
          std::min<uint64_t>(bytes.size() - 8, good.size() - 40 + bytes.size() - good.size());
      std::memcpy(bytes.data(), &length, 8);
    }
    taken += said(bytes).empty();
  });
  if (fuzz::is_whole()) {
    EXPECT_GT(taken, 30);
    EXPECT_LT(taken, 2000);
  }
}

}  // namespace
