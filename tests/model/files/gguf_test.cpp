// SPDX-License-Identifier: MIT
#include "model/gguf.h"

#include <gtest/gtest.h>

#include <fstream>
#include <random>

#include "tests/model/files/gguf_writer.h"
#include "tests/model/files/scratch.h"

namespace {

using model::FileError;
using model::Gguf;
using model::GgufWriter;

// 1, 2 and -0.5 in fp16.
constexpr uint16_t kOne = 0x3c00, kTwo = 0x4000, kMinusHalf = 0xb800;

class GgufTest : public model::Scratch {
 protected:
  std::filesystem::path written(const std::string& bytes) {
    // A name of its own: some file systems wait for the disk where a file is written for the second time.
    const auto path = folder() / (std::to_string(files_++) + ".gguf");
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  // What the reader says of such a file; "" where it takes it.
  std::string said(const std::string& bytes) {
    const auto path = written(bytes);
    std::string because;
    try {
      const Gguf file(path);
      for (const auto& [name, tensor] : file.tensors())
        for (const float value : model::floats_of(tensor))
          sum_ += value > 0;  // all that it promises can be read
    } catch (const FileError& error) {
      EXPECT_TRUE(std::string_view(error.what()).starts_with(path.string())) << error.what();
      because = error.what();
    }
    std::filesystem::remove(path);
    return because;
  }
  void refuses(const std::string& bytes, const std::string& because) {
    const std::string what = said(bytes);
    EXPECT_NE(what.find(because), std::string::npos) << "says \"" << what << "\", not " << because;
  }
  void refuses(const GgufWriter& file, const std::string& because) { refuses(file.bytes(), because); }
  int sum_ = 0, files_ = 0;
};

std::string block(std::initializer_list<uint16_t> halves, size_t bytes, int step) {
  std::string text;
  for (const uint16_t half : halves) text += GgufWriter::raw(half);
  for (size_t i = 0; i < bytes; ++i) text += static_cast<char>(static_cast<int>(i) * step - 7);
  return text;
}

TEST_F(GgufTest, values_of_every_kind_come_back) {
  GgufWriter w;
  w.value("u8", 0, GgufWriter::raw(uint8_t{200}));
  w.value("i8", 1, GgufWriter::raw(int8_t{-5}));
  w.value("u16", 2, GgufWriter::raw(uint16_t{60000}));
  w.value("i16", 3, GgufWriter::raw(int16_t{300}));
  w.whole("u32", 4'000'000'000u);
  w.value("i32", 5, GgufWriter::raw(int32_t{-1}));
  w.real("f32", 0.5f);
  w.truth("yes", true);
  w.text("name", "a \"name\"");
  w.texts("texts", {"a", "", "bc"});
  w.numbers("numbers", {1, -3});
  w.value("u64", 10, GgufWriter::raw(~uint64_t{0}));
  w.value("i64", 11, GgufWriter::raw(int64_t{7}));
  w.value("f64", 12, GgufWriter::raw(1e-5));
  w.value("reals", 9, GgufWriter::raw(uint32_t{6}) + GgufWriter::raw(uint64_t{1}) + GgufWriter::raw(1.0f));
  const Gguf file(written(w.bytes()));
  EXPECT_EQ(file.whole("u8"), 200u);
  EXPECT_EQ(file.whole("u16"), 60000u);
  EXPECT_EQ(file.whole("i16"), 300u);
  EXPECT_EQ(file.whole("u32"), 4'000'000'000u);
  EXPECT_EQ(file.whole("u64"), ~uint64_t{0});
  EXPECT_EQ(file.whole("i64"), 7u);
  EXPECT_EQ(file.real("f32"), 0.5);
  EXPECT_EQ(file.real("f64"), 1e-5);
  EXPECT_EQ(file.real("u8"), 200.0);
  EXPECT_TRUE(file.truth("yes"));
  EXPECT_EQ(file.text("name"), "a \"name\"");
  EXPECT_EQ(file.texts("texts"), (std::vector<std::string_view>{"a", "", "bc"}));
  EXPECT_EQ(file.whole_numbers("numbers"), (std::vector<int64_t>{1, -3}));
  EXPECT_TRUE(file.has("reals"));
  EXPECT_FALSE(file.has("none"));
  EXPECT_THROW(file.whole("i8"), FileError);
  EXPECT_THROW(file.whole("name"), FileError);
  EXPECT_THROW(file.whole("none"), FileError);
  EXPECT_THROW(file.text("yes"), FileError);
  EXPECT_THROW(file.whole_numbers("reals"), FileError);
  EXPECT_TRUE(file.tensors().empty());
}

TEST_F(GgufTest, each_type_is_the_numbers_it_stands_for) {
  GgufWriter w;
  w.tensor("f32", {2, 3}, 0, std::string(24, '\0'));
  w.tensor("f16", {2}, 1, GgufWriter::raw(kOne) + GgufWriter::raw(kMinusHalf));
  w.tensor("bf16", {2}, 30, GgufWriter::raw(uint16_t{0x3f80}) + GgufWriter::raw(uint16_t{0xc000}));
  w.tensor("q8_0", {32}, 8, block({kTwo}, 32, 3));
  w.tensor("q4_0", {64}, 2, block({kTwo}, 16, 17) + block({kMinusHalf}, 16, 29));
  w.tensor("q4_1", {32, 2}, 3, block({kTwo, kMinusHalf}, 16, 17) + block({kMinusHalf, kOne}, 16, 5));
  const Gguf file(written(w.bytes()));
  EXPECT_EQ(file.at("f32", {3, 2}).elements(), 6);
  EXPECT_THROW(file.at("f32", {2, 3}), FileError);
  EXPECT_THROW(file.at("none"), FileError);
  EXPECT_EQ(model::floats_of(file.at("f16")), (std::vector<float>{1, -0.5f}));
  EXPECT_EQ(model::floats_of(file.at("bf16")), (std::vector<float>{1, -2}));
  const auto code = [](int i, int step) { return static_cast<unsigned char>(i * step - 7); };
  const std::vector<float> q8 = model::floats_of(file.at("q8_0"));
  for (int i = 0; i < 32; ++i)
    EXPECT_EQ(q8[static_cast<size_t>(i)], 2.0f * static_cast<float>(static_cast<signed char>(code(i, 3))))
        << i;
  const auto nibble = [&](int i, int step) {
    return static_cast<float>(i < 16 ? code(i, step) & 15 : code(i - 16, step) >> 4);
  };
  const std::vector<float> q4_0 = model::floats_of(file.at("q4_0")),
                           q4_1 = model::floats_of(file.at("q4_1", {2, 32}));
  for (int i = 0; i < 32; ++i) {
    const auto at = static_cast<size_t>(i);
    EXPECT_EQ(q4_0[at], 2.0f * (nibble(i, 17) - 8)) << i;
    EXPECT_EQ(q4_0[32 + at], -0.5f * (nibble(i, 29) - 8)) << i;
    EXPECT_EQ(q4_1[at], 2.0f * nibble(i, 17) - 0.5f) << i;
    EXPECT_EQ(q4_1[32 + at], -0.5f * nibble(i, 5) + 1.0f) << i;
  }
}

TEST_F(GgufTest, hostile_files_are_refused_by_name) {
  const std::string eight(8, 'x'), big = GgufWriter::raw(~uint64_t{0});
  const auto with_tensor = [&](const std::vector<uint64_t>& shape, uint32_t type, uint64_t offset) {
    GgufWriter w;
    w.tensor("before", {2}, 0, eight);
    w.tensor_at("a", shape, type, offset);
    return w.bytes() + std::string(64, 'x');
  };
  EXPECT_EQ(said(with_tensor({16}, 0, 32)), "");
  refuses("", "is no GGUF file");
  refuses("GGUF", "is no GGUF file");
  refuses("GGML" + std::string(40, '\0'), "is no GGUF file");
  GgufWriter none;
  EXPECT_EQ(said(none.bytes()), "");
  refuses(none.bytes(2), "version 2");
  refuses(none.bytes(0x03000000), "version 50331648");  // big endian
  // Counts and lengths beyond the file, and those whose products are too large for 64 bits.
  refuses("GGUF" + GgufWriter::raw(uint32_t{3}) + big + GgufWriter::raw(uint64_t{0}),
          "18446744073709551615 tensors");
  refuses("GGUF" + GgufWriter::raw(uint32_t{3}) + GgufWriter::raw(uint64_t{0}) + big,
          "18446744073709551615 values");
  const auto with_value = [&](uint32_t kind, const std::string& bytes) {
    GgufWriter w;
    w.value("v", kind, bytes);
    return w.bytes();
  };
  refuses(with_value(8, big), "value \"v\" would take 18446744073709551615 bytes");
  refuses(with_value(8, GgufWriter::raw(uint64_t{1000})), "would take 1000 bytes");
  refuses(with_value(13, ""), "unknown kind 13");
  refuses(with_value(7, "\x02"), "neither true nor false");
  refuses(with_value(9, GgufWriter::raw(uint32_t{4}) + big), "cannot have 18446744073709551615 elements");
  refuses(with_value(9, GgufWriter::raw(uint32_t{4}) + GgufWriter::raw(uint64_t{1} << 62)),
          "cannot have 4611686018427387904");
  refuses(with_value(9, GgufWriter::raw(uint32_t{8}) + GgufWriter::raw(uint64_t{100})),
          "cannot have 100 elements");
  refuses(with_value(9, GgufWriter::raw(uint32_t{9}) + GgufWriter::raw(uint64_t{0})), "array of arrays");
  refuses(with_value(9, GgufWriter::raw(uint32_t{77}) + GgufWriter::raw(uint64_t{0})), "unknown kind 77");
  refuses(with_value(9, GgufWriter::raw(uint32_t{10}) + GgufWriter::raw(uint64_t{1}) + big), "above 2^63");
  GgufWriter twice;
  twice.whole("v", 1);
  twice.whole("v", 1);
  refuses(twice, "value \"v\" is there twice");
  GgufWriter nameless;
  nameless.whole("", 1);
  refuses(nameless, "has 0 bytes");
  for (const uint32_t alignment : {0u, 4u, 48u, 1u << 21}) {
    GgufWriter w;
    w.whole("general.alignment", alignment);
    refuses(w, "no power of two");
  }
  // Tensors.
  GgufWriter same;
  same.tensor("a", {2}, 0, eight);
  same.tensor("a", {2}, 0, eight);
  refuses(same, "tensor \"a\" is there twice");
  refuses(with_tensor({}, 0, 32), "0 extents");
  refuses(with_tensor({1, 1, 1, 1, 16}, 0, 32), "5 extents");
  refuses(with_tensor({0}, 0, 32), "extent of 0");
  refuses(with_tensor({~uint64_t{0}}, 0, 32), "extent of 18446744073709551615");
  refuses(with_tensor({uint64_t{1} << 32, uint64_t{1} << 32}, 0, 32), "too large");
  refuses(with_tensor({uint64_t{1} << 62}, 0, 32), "too large");  // times 4 bytes it is 0
  refuses(with_tensor({16}, 12, 32), "type 12");
  refuses(with_tensor({33}, 3, 32), "rows of 33 elements");
  refuses(with_tensor({16}, 0, 33), "no multiple of 32");
  refuses(with_tensor({16}, 0, 0), "shares byte 0");
  refuses(with_tensor({16}, 0, uint64_t{1} << 40), "from byte 1099511627776 of");
  refuses(with_tensor({16}, 0, ~uint64_t{31}), "from byte 18446744073709551584 of");
  refuses(with_tensor({17}, 0, 32), "the file is cut short");
  refuses(with_tensor({16}, 0, 64), "the file is cut short");
  refuses(with_tensor({8}, 0, 64), "bytes 8 to 64 belong to no tensor");
  refuses(with_tensor({2}, 0, 32), "belong to no tensor");
  // A header of 100 MB, and one that is long because of its file alone.
  GgufWriter heavy;
  heavy.text("long", std::string(100'000'000, ' '));
  refuses(heavy, "64000000 that may stand before tensors");
}

// A file that somebody has changed is refused, or read to its end.
TEST_F(GgufTest, broken_files_do_no_harm) {
  GgufWriter w;
  w.text("general.architecture", "llama");
  w.texts("tokens", {"a", "b", "<|end|>"});
  w.numbers("types", {1, 1, 3});
  w.tensor("a", {32, 2}, 3, block({kTwo, kOne}, 16, 9) + block({kTwo, kOne}, 16, 9));
  w.tensor("b", {4}, 0, std::string(16, 'x'));
  const std::string good = w.bytes();
  ASSERT_EQ(said(good), "");
  std::mt19937_64 chance(81);
  int refused = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string bytes = good;
    const size_t changes = 1 + chance() % 3;
    for (size_t c = 0; c < changes; ++c) {
      const size_t at = chance() % bytes.size();
      switch (chance() % 4) {
        case 0:
          bytes[at] = static_cast<char>(chance());
          break;
        case 1:
          bytes[at] = static_cast<char>(bytes[at] ^ (1 << chance() % 8));
          break;
        case 2:
          bytes.resize(at + 1);
          break;
        default:
          bytes.insert(at, 1 + chance() % 9, static_cast<char>(chance()));
      }
    }
    refused += !said(bytes).empty();
  }
  EXPECT_GT(refused, 1500);
}

}  // namespace
