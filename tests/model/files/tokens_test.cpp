// SPDX-License-Identifier: MIT
#include "model/tokens.h"

#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <stdexcept>

#include "tests/fuzz.h"
#include "tests/model/files/scratch.h"

namespace {

using model::FileError;
using model::first_word;
using model::Tokenizer;
using Ids = std::vector<int32_t>;
using Words = std::vector<std::string>;

Words words(std::string_view text) {
  Words found;
  while (!text.empty()) {
    found.emplace_back(text.substr(0, first_word(text)));
    text.remove_prefix(found.back().size());
  }
  return found;
}

// The corpus's first bytes: enough for a vocabulary of 512.
const Tokenizer& tokenizer() {
  static const Tokenizer made = [] {
    const model::MappedFile corpus(DAYS_ROOT "/corpus/austen.txt");
    return Tokenizer::train(corpus.bytes().substr(0, 200'000), 512);
  }();
  return made;
}

void comes_back(const std::string& text) {
  const Ids ids = tokenizer().encode(text);
  EXPECT_EQ(tokenizer().decode(ids), text);
}

TEST(Tokens, a_text_is_cut_as_gpt2_cuts_it) {
  EXPECT_EQ(words("Hello, it's 1817!"), (Words{"Hello", ",", " it", "'s", " 1817", "!"}));
  EXPECT_EQ(words("we'll they've I'd 'tis '"),
            (Words{"we", "'ll", " they", "'ve", " I", "'d", " '", "tis", " '"}));
  EXPECT_EQ(words("a  b   "), (Words{"a", " ", " b", "   "}));
  EXPECT_EQ(words("a\nb\r\n\r\n c"), (Words{"a", "\n", "b", "\r\n\r\n", " c"}));
  EXPECT_EQ(words("a\n\nb"), (Words{"a", "\n", "\n", "b"}));
  EXPECT_EQ(words("\xc2\xa3"
                  "12,000 \xc3\xa9t\xc3\xa9"),
            (Words{"\xc2\xa3", "12", ",", "000", " \xc3\xa9t\xc3\xa9"}));
  EXPECT_EQ(words("a\xe2\x80\xa8 b"), (Words{"a", "\xe2\x80\xa8", " b"}));  // a line separator is a space
  EXPECT_EQ(words("\xff\xc0\x80 \xed\xa0\x80"), (Words{"\xff\xc0\x80", " \xed\xa0\x80"}));  // no UTF-8
  EXPECT_EQ(words("x\xf0\x9f\x98\x80"), (Words{"x", "\xf0\x9f\x98\x80"}));
}

// What can be counted by hand: "ab" 5 times, "abab" twice. Of pairs that are as frequent the one with the lower ids comes first.
TEST(Tokens, the_most_frequent_pair_is_merged_first) {
  const Tokenizer made = Tokenizer::train("ab ab ab ab ab abab abab", 260);
  EXPECT_EQ(made.size(), 260);
  EXPECT_EQ(made.bytes(256), "ab");     // 9 times
  EXPECT_EQ(made.bytes(257), " ab");    // 6 times
  EXPECT_EQ(made.bytes(258), " abab");  // twice
  EXPECT_EQ(made.encode("abab abab"), (Ids{256, 256, 258}));
  EXPECT_EQ(made.end_of_text(), 259);
}
TEST(Tokens, of_equal_pairs_the_lower_ids_are_merged) {
  const Tokenizer made = Tokenizer::train("cd ab", 258);
  EXPECT_EQ(made.bytes(256), "ab");
  EXPECT_THROW(Tokenizer::train("cd ab", 300), std::invalid_argument);
  EXPECT_THROW(Tokenizer::train("cd ab", 256), std::invalid_argument);
  EXPECT_EQ(Tokenizer::train("", 257).encode("a").size(), 1u);
}

TEST(Tokens, any_bytes_come_back) {
  comes_back("");
  comes_back("The family of Dashwood\r\nhad\tlong been settled");
  comes_back("\xf0\x9f\x98\x80\xf0\x9f\x91\xa8\xe2\x80\x8d\xf0\x9f\x91\xa9 \xe4\xb8\xad\xe6\x96\x87");
  comes_back(std::string(1'000'000, ' '));
  comes_back(std::string(100'000, 'a'));
  comes_back(std::string("\0\0a\0", 4));
  std::mt19937 random(79);
  for (int i = 0; i < 500; ++i) {
    std::string text;
    const bool letters = i % 2 == 1;
    for (size_t n = random() % 200; n > 0; --n)
      text += letters ? " \n'aeinrst.\xc3\xa9\xe2\x80"[random() % 15] : static_cast<char>(random());
    comes_back(text);
  }
}

TEST(Tokens, special_tokens_never_come_from_text) {
  const Ids ids = tokenizer().encode("<|endoftext|>");
  EXPECT_GT(ids.size(), 1u);
  EXPECT_EQ(std::count(ids.begin(), ids.end(), tokenizer().end_of_text()), 0);
  EXPECT_EQ(tokenizer().decode(Ids{tokenizer().end_of_text()}), "");
  EXPECT_THROW(tokenizer().decode(Ids{512}), std::out_of_range);
  EXPECT_THROW(tokenizer().decode(Ids{-1}), std::out_of_range);
}

class TokenFiles : public model::Scratch {
 protected:
  void write(const std::string& vocab, const std::string& merges) {
    std::ofstream(folder() / "vocab.json", std::ios::binary) << vocab;
    std::ofstream(folder() / "merges.txt", std::ios::binary) << merges;
  }
  std::string text_of(const char* file) { return std::string(model::MappedFile(folder() / file).bytes()); }
  void refuses(const std::string& vocab, const std::string& merges, const std::string& because) {
    write(vocab, merges);
    try {
      Tokenizer::load(folder());
      ADD_FAILURE() << "takes what should be refused: " << because;
    } catch (const FileError& error) {
      EXPECT_NE(std::string(error.what()).find(because), std::string::npos) << error.what();
    }
  }
};

TEST_F(TokenFiles, what_is_saved_is_loaded) {
  tokenizer().save(folder());
  const Tokenizer loaded = Tokenizer::load(folder());
  EXPECT_EQ(loaded.size(), 512);
  EXPECT_EQ(loaded.end_of_text(), 511);
  const std::string text =
      "It is a truth universally acknowledged, \xc2\xa3"
      "10,000 a year.\n";
  EXPECT_EQ(loaded.encode(text), tokenizer().encode(text));
  const std::string vocab = text_of("vocab.json"), merges = text_of("merges.txt");
  loaded.save(folder());
  EXPECT_EQ(text_of("vocab.json"), vocab);
  EXPECT_EQ(text_of("merges.txt"), merges);
}

TEST_F(TokenFiles, broken_files_are_refused_by_name) {
  EXPECT_THROW(Tokenizer::load(folder()), FileError);
  Tokenizer::train("ab ab", 258).save(folder());
  const std::string vocab = text_of("vocab.json"), merges = text_of("merges.txt");
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = vocab;
    text.replace(text.find(from), from.size(), to);
    return text;
  };
  refuses("", merges, "is no JSON");
  refuses("[]", merges, "is no object");
  refuses("{}", merges, "no token for byte 0");
  refuses(with("\"ab\":256", "\"ab\":[256]"), merges, "nested deeper");
  refuses(with("\"ab\":256", "\"ab\":-1"), merges, "has the id -1");
  refuses(with("\"ab\":256", "\"ab\":258"), merges, "none of 0 to 257");
  refuses(with("\"ab\":256", "\"ab\":255"), merges, "id of another");
  refuses(with("\"ab\":256", "\"a\":256"), merges, "\"a\" twice");
  refuses(with("\"ab\":256", "\"\xe4\xb8\xad\":256"), merges, "stands for no byte");
  refuses(with("\"ab\":256", "\"\":256"), merges, "stands for no byte");
  refuses(vocab, "a b\na b\n", "merges.txt:2: has a merge for the second time");
  refuses(vocab, "#version: 0.2\na c\n", "merges.txt:2: merges tokens");
  refuses(vocab, "ab\n", "merges.txt:1: is no merge");
  refuses(vocab, "a b c\n", "merges.txt:1: is no merge");
  write(vocab, "#version: 0.2\r\na b\r\n");
  EXPECT_EQ(Tokenizer::load(folder()).encode("ab"), (Ids{256}));
}

// A changed vocabulary or list of merges is refused, or is one by which any text comes back.
TEST_F(TokenFiles, fuzz_changed_files) {
  Tokenizer::train("ab ab abc abc", 260).save(folder());
  const std::string vocab = text_of("vocab.json"), merges = text_of("merges.txt");
  static constexpr std::string_view kMerges[] = {"a b\n",
                                                 "ab c\n",
                                                 "a  b\n",
                                                 "\n",
                                                 "\r\n",
                                                 " ",
                                                 "a",
                                                 "\xc4\xa0"
                                                 "a",
                                                 "\xff",
                                                 "a\0",
                                                 "#version",
                                                 "\xe4\xb8\xad b\n"};
  int taken = 0;
  fuzz::tries(1000, 20, [&](uint64_t number) {
    fuzz::Chance chance(number);
    const bool of_vocab = chance.one_in(2);
    const auto mine = folder() / std::to_string(number);
    std::filesystem::create_directory(mine);
    std::ofstream(mine / "vocab.json", std::ios::binary)
        << (of_vocab ? fuzz::broken(vocab, chance, fuzz::kJsonPieces) : vocab);
    std::ofstream(mine / "merges.txt", std::ios::binary)
        << (of_vocab ? merges : fuzz::broken(merges, chance, kMerges));
    try {
      const Tokenizer loaded = Tokenizer::load(mine);
      ++taken;
      const std::string text = "abc ab\xff" + chance.bytes(20);
      EXPECT_EQ(loaded.decode(loaded.encode(text)), text);
    } catch (const FileError& error) {
      EXPECT_TRUE(std::string_view(error.what()).starts_with(mine.string())) << error.what();
    }
    std::filesystem::remove_all(mine);
  });
  if (fuzz::is_whole()) {
    EXPECT_GT(taken, 50);
    EXPECT_LT(taken, 700);
  }
}

}  // namespace
