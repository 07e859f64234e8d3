// SPDX-License-Identifier: MIT
//
// What may be sent of a text that comes in pieces: the same text however it is cut.
#include "serve/text.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "common/random.h"

namespace {

using Strings = std::vector<std::string>;

// Everything that is sent of these bytes, in pieces of at most so many.
std::string sent(const std::string& bytes, size_t piece, const Strings& stops = {}) {
  serve::TextStream stream(stops);
  std::string all;
  for (size_t at = 0; at < bytes.size(); at += piece)
    all += stream.add(std::string_view(bytes).substr(at, piece));
  return all + stream.finish();
}
void same_however_cut(const std::string& bytes, const std::string& expected, const Strings& stops = {}) {
  for (size_t piece = 1; piece <= bytes.size() + 1; ++piece)
    EXPECT_EQ(sent(bytes, piece, stops), expected) << bytes << " in pieces of " << piece;
}

const std::string kBad = "\xef\xbf\xbd";

TEST(serve_text, CharactersComeWhole) {
  same_however_cut("Zürich \xf0\x9f\x98\x80 \xe2\x82\xac", "Zürich \xf0\x9f\x98\x80 \xe2\x82\xac");
  serve::TextStream stream;
  EXPECT_EQ(stream.add("a\xf0\x9f"), "a");
  EXPECT_EQ(stream.add("\x98"), "");
  EXPECT_EQ(stream.add("\x80z"), "\xf0\x9f\x98\x80z");
}
TEST(serve_text, WhatIsNoCharacterIsReplaced) {  // as Python's bytes.decode("utf-8", "replace") does
  same_however_cut(
      "a\xff"
      "b",
      "a" + kBad + "b");
  same_however_cut("\x80\x80", kBad + kBad);
  same_however_cut("\xf0\x9f\x98", kBad);
  same_however_cut("\xf0\x9f\x98z", kBad + "z");
  same_however_cut("\xe2\x82\xe2\x82\xac", kBad + "\xe2\x82\xac");
  same_however_cut("\xc0\xaf", kBad + kBad);             // longer than it need be
  same_however_cut("\xed\xa0\x80", kBad + kBad + kBad);  // half of a pair
  same_however_cut("\xf4\x90\x80\x80", kBad + kBad + kBad + kBad);
  same_however_cut("\xf5z", kBad + "z");
}
TEST(serve_text, TheFirstAndTheLastCharactersOfEachLength) {
  for (const std::string good : {"\x7f", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf",
                                 "\xee\x80\x80", "\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"})
    same_however_cut(good, good);
  for (const std::string bad : {"\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf",
                                "\xf4\x90\x80\x80", "\xf5\x80\x80\x80"}) {
    std::string expected;
    for (size_t i = 0; i < bad.size(); ++i) expected += kBad;
    same_however_cut(bad, expected);
  }
}
TEST(serve_text, StopsStopAndAreNotSent) {
  same_however_cut("one two three", "one ", {"two"});
  same_however_cut("one two three", "one t", {"wo", "three"});
  same_however_cut("aab", "", {"aab"});
  same_however_cut("aaab", "a", {"aab"});
  same_however_cut("one tw", "one tw", {"two"});  // held back, and sent at the end
  same_however_cut("abab", "abab", {"ababc", ""});
  same_however_cut("x\xe2\x82\xacy", "x", {"\xe2\x82\xac"});
  same_however_cut("x\xffy", "x", {kBad});
  same_however_cut("xabc", "x", {"b", "ab"});  // both are complete at once
  same_however_cut("xabc", "x", {"ab", "b"});
  serve::TextStream stream({"stop"});
  EXPECT_EQ(stream.add("a st"), "a ");
  EXPECT_EQ(stream.add("ar st"), "star ");
  EXPECT_EQ(stream.add("op and"), "");
  EXPECT_TRUE(stream.stopped());
  EXPECT_EQ(stream.add("more"), "");
  EXPECT_EQ(stream.finish(), "");
}
TEST(serve_text, NothingIsSentTwiceOrLost) {
  const Strings stops = {"abba", "bb", "caa"};
  for (uint64_t seed = 0; seed < 300; ++seed) {
    std::string bytes;
    for (uint64_t i = 0; i < 24; ++i) bytes += static_cast<char>('a' + days::uniform_integer(seed, i, 0, 3));
    // What stands before the stop that is complete first.
    std::string expected = bytes;
    for (size_t n = 1; n <= bytes.size() && expected == bytes; ++n)
      for (const std::string& stop : stops)
        if (bytes.substr(0, n).ends_with(stop))
          expected = bytes.substr(0, std::min(expected.size(), n - stop.size()));
    for (const size_t piece : {1, 2, 5, 24}) EXPECT_EQ(sent(bytes, piece, stops), expected) << bytes;
  }
}

}  // namespace
