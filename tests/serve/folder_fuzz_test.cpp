// SPDX-License-Identifier: MIT
//
// A model's folder that somebody broke: it is refused by a model::FileError, or it is a model. Seeded.
#include <gtest/gtest.h>

#include <fstream>
#include <vector>

#include "gpt/files.h"
#include "model/tokens.h"
#include "serve/model.h"
#include "tests/fuzz.h"
#include "tests/model/files/scratch.h"

namespace {

class FolderFuzz : public model::Scratch {
 protected:
  FolderFuzz() {
    const gpt::Layout layout({1, 1, 64, 258, 264, 8});
    gpt::Checkpoint state;
    state.config = layout.config;
    const std::vector<float> zeros(layout.elements);
    state.memory = {gpt::initial_weights(layout, 80), zeros, zeros, 7};
    state.points = {{0, 5.5, 5.25}, {7, 4.5, 4.75}};
    model::Tokenizer::train("ab ab", 258).save(folder() / "tokens");
    good_ = gpt::save(folder(), layout, state, folder() / "tokens");
  }
  std::string text_of(const char* file) { return std::string(model::MappedFile(good_ / file).bytes()); }

  std::filesystem::path good_;
};

TEST_F(FolderFuzz, AnyFolder) {
  static constexpr const char* kFiles[] = {"config.json", "config.json", "loss.csv", "optimizer.safetensors",
                                           "model.safetensors"};
  static constexpr std::string_view kPieces[] = {",",
                                                 "\n",
                                                 "nan",
                                                 "inf",
                                                 "1e308",
                                                 "-1e308",
                                                 "1e999",
                                                 "-1",
                                                 "9223372036854775807",
                                                 "\"n_layer\":",
                                                 "1024",
                                                 "65536",
                                                 "16777216",
                                                 "1048576",
                                                 "16777217",
                                                 "1.5",
                                                 "null",
                                                 "[",
                                                 "{",
                                                 "}",
                                                 "\"",
                                                 "\xff"};
  std::vector<std::string> texts;
  for (const char* file : kFiles) texts.push_back(text_of(file));
  int taken = 0;
  fuzz::tries(1500, 20, [&](uint64_t number) {
    fuzz::Chance chance(number);
    const size_t which = chance.below(std::size(kFiles));
    const std::string& text = texts[which];
    const size_t head = std::min<size_t>(text.size(), 3000);
    std::string changed;
    if (which < 2 && chance.one_in(2)) {  // another number, of any size
      static constexpr std::string_view kKeys[] = {"n_layer", "n_head", "n_embd", "n_positions",
                                                   "vocab_size"};
      static constexpr std::string_view kNumbers[] = {
          "0",    "1",     "2",       "63",      "64",       "128", "257", "259", "1024",
          "1025", "65536", "1048576", "1048577", "16777216", "-1",  "1.5", "1e3"};
      changed = text;
      for (size_t n = 1 + chance.below(3); n > 0; --n) {
        const size_t at = changed.find("\"" + std::string(chance.of(kKeys)) + "\": ");
        const size_t begin = changed.find(' ', at) + 1;
        changed.replace(begin, changed.find(',', begin) - begin, chance.of(kNumbers));
      }
    } else {
      changed = fuzz::broken(text.substr(0, head), chance, kPieces) + text.substr(head);
    }
    // A name of its own, as some file systems wait for the disk where a file is written for the second time.
    const auto mine = folder() / std::to_string(number);
    std::filesystem::create_directory(mine);
    for (const auto& entry : std::filesystem::directory_iterator(good_))
      if (entry.path().filename() != kFiles[which])
        std::filesystem::create_hard_link(entry.path(), mine / entry.path().filename());
    std::ofstream(mine / kFiles[which], std::ios::binary) << changed;
    bool served = false, resumed = false;
    try {
      const serve::Model model = serve::load(mine);
      serve::require_config(model.config);
      serve::require_weights(model.config, model.weights);
      served = true;
      const gpt::Checkpoint state = gpt::load(mine);
      resumed = true;
      EXPECT_LT(gpt::curve_svg(state.points, "a").size(), 100'000u);
    } catch (const model::FileError& error) {
      EXPECT_TRUE(std::string_view(error.what()).starts_with(mine.string())) << error.what();
    }
    EXPECT_TRUE(served || (which != 2 && which != 3)) << "what is only resumed from is not needed to serve";
    taken += resumed;
    std::filesystem::remove_all(mine);
  });
  if (fuzz::is_whole()) {
    EXPECT_GT(taken, 100);
    EXPECT_LT(taken, 1300);
  }
}

}  // namespace
