// SPDX-License-Identifier: MIT
//
// GPT inference: the programs in three orders of threads, with a model from a folder; and folders that are none.
#include <gtest/gtest.h>

#include <fstream>

#include "gpt/files.h"
#include "gpt/layout.h"
#include "model/files.h"
#include "tests/model/files/scratch.h"
#include "tests/program_tests.h"

namespace {

namespace fs = std::filesystem;
using days::program_tests::last_line;
using days::program_tests::Outcome;
using days::program_tests::run;
using days::program_tests::runs_well_in_any_order;

// A model that has learnt nothing, in a folder as day 79 writes it.
class Speaking : public model::Scratch {
 protected:
  void SetUp() override {
    const std::string text = "It was a truth, and it was universally acknowledged. ";
    std::string all;
    for (int i = 0; i < 400; ++i)
      all += text + static_cast<char>('a' + i % 26) + static_cast<char>('a' + i / 26);
    std::ofstream(folder() / "text.txt") << all;
    gpt::write_tokens(folder() / "text.txt", all.size(), 300, folder() / "tokens");
    const gpt::Layout layout(gpt::config_of("tiny"));
    gpt::Checkpoint state;
    state.config = layout.config;
    state.memory = {gpt::initial_weights(layout, 1), std::vector<float>(layout.elements),
                    std::vector<float>(layout.elements), 1};
    at_ = gpt::save(folder(), layout, state, folder() / "tokens");
  }
  std::string model() const { return "--model " + at_.string(); }
  const fs::path& at() const { return at_; }
  void refuses(const std::string& flags, const std::string& because) {
    days::program_tests::refuses("day80_generate", flags, because);
  }
  // What stands behind the model's name, up to the first line of numbers.
  std::string text_of(const std::string& flags) {
    const Outcome outcome = run("day80_generate", "", model() + " --check 1 " + flags);
    EXPECT_EQ(outcome.code, 0) << outcome.output;
    const size_t begin = outcome.output.find("\n\n"), end = outcome.output.find(" tokens behind ");
    return outcome.output.substr(begin, end - begin);
  }

 private:
  fs::path at_;
};

TEST_F(Speaking, EachRungSaysTheSame) {
  runs_well_in_any_order("day80_generate", model() + " --tokens 6");
  runs_well_in_any_order("day80_generate", model() + " --tokens 3 --percent 0 --precision bf16");
  const std::string graph = text_of("--tokens 20");
  EXPECT_EQ(text_of("--tokens 20 --rung cached"), graph);
  EXPECT_EQ(text_of("--tokens 20 --rung again"), graph);
  EXPECT_NE(text_of("--tokens 20 --seed 1"), graph);
  EXPECT_NE(text_of("--tokens 20 --percent 0"), graph);
  EXPECT_EQ(text_of("--tokens 20 --percent 0"), text_of("--tokens 20 --top-k 1 --seed 5"));
}
TEST_F(Speaking, PromptsOfNothingAndOfTheWholeContext) {
  std::ofstream(folder() / "empty");
  text_of("--tokens 4 --prompt " + (folder() / "empty").string());
  // A byte that nothing merges is a token: 64 of them fill the context, and one more may be written.
  std::ofstream(folder() / "full") << std::string(64, '\x01');
  const Outcome full = run("day80_generate", "", model() + " --prompt " + (folder() / "full").string());
  EXPECT_EQ(full.code, 0) << full.output;
  EXPECT_NE(full.output.find("1 tokens behind 64 of the prompt"), std::string::npos) << full.output;
  std::ofstream(folder() / "long") << std::string(65, '\x01');
  refuses(model() + " --prompt " + (folder() / "long").string(), "the model's context is 64");
}
TEST_F(Speaking, WhatIsNoModelIsRefused) {
  refuses("--model " + (folder() / "nothing").string(), "config.json");
  for (const char* file : {"config.json", "model.safetensors", "vocab.json", "merges.txt"}) {
    const fs::path away = folder() / "away";
    fs::rename(at() / file, away);
    refuses(model(), file);
    fs::rename(away, at() / file);
  }
  refuses(model() + " --percent 10001", "--percent");
}
TEST_F(Speaking, ANewTextIsWrittenWhereNoModelIs) {
  // A course's folder with a text and nothing else.
  fs::create_directories(folder() / "course" / "corpus");
  fs::copy(fs::path(DAYS_FOLDER).parent_path() / "corpus" / "austen.txt", folder() / "course" / "corpus");
  const std::string here = "cd '" + (folder() / "course").string() + "' && ";
#ifdef DAYS_CHECKED_BUILD
  GTEST_SKIP() << "plain builds look";
#endif
  const Outcome first = run("day80_generate", here, "--tokens 3 --check 1");
  EXPECT_EQ(first.code, 0) << first.output;
  EXPECT_NE(first.output.find("no model is here yet"), std::string::npos) << first.output;
  const Outcome then = run("day80_generate", here, "--tokens 3 --check 1");
  EXPECT_EQ(then.code, 0) << then.output;
  EXPECT_EQ(then.output.find("no model is here yet"), std::string::npos) << then.output;
}

// Three lines; the context of 64 tokens is full on the way. Of answers nothing is known but that they are there.
TEST_F(Speaking, AConversationKeepsWhatWasSaid) {
  runs_well_in_any_order("day80_chat", model() + " --tokens 5");
  std::ofstream(folder() / "lines") << "It was\n\nand a truth\n" << std::string(70, '\x01') << "\nit was\n";
  const std::string from = " < " + (folder() / "lines").string();
  const Outcome outcome = run("day80_chat", "", model() + " --talk --tokens 30" + from);
  EXPECT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_TRUE(last_line(outcome.output).starts_with("ok: ")) << outcome.output;
  EXPECT_NE(outcome.output.find("longer than the model's context"), std::string::npos) << outcome.output;
  EXPECT_NE(outcome.output.find("the conversation begins again"), std::string::npos) << outcome.output;
  const Outcome silent = run("day80_chat", "", model() + " --talk < /dev/null");
  EXPECT_EQ(silent.code, 0) << silent.output;
}
TEST_F(Speaking, CtrlCEndsAnAnswerAndThenTheProgram) {
  // One line, and a pipe that stays open. The first Ctrl-C may find the answer at its end, and then ends the program.
  const fs::path out = folder() / "out";
  std::ofstream(folder() / "script") << "cd '" << folder().string() << "'\nmkfifo in\nexec 3<>in\n'"
                                     << DAYS_PROGRAMS << "/day80_chat' --talk --tokens 60 " << model()
                                     << R"( < in > out 2>&1 &
pid=$!
echo It was >&3
within() { for i in $(seq 400); do grep -q "$1" out && return; sleep 0.05; done; }
within '>'
kill -INT $pid
sleep 0.5
kill -INT $pid
within '^ok: ' || kill $pid
wait $pid
echo code $?
)";
  const Outcome outcome = days::program_tests::shell("bash -m '" + (folder() / "script").string() + "'");
  const std::string said = std::string(model::MappedFile(out).bytes());
  EXPECT_NE(outcome.output.find("code 0"), std::string::npos) << outcome.output << said;
  EXPECT_NE(said.find("ok: "), std::string::npos) << said;
}

// It says skip where the build found no cpp-httplib.
TEST_F(Speaking, AServerSaysWhatTheEngineSays) {
  runs_well_in_any_order("day80_serve", model());
}

// Each rung compares itself with the others.
TEST(day80, EachRungOfAStep) {
  runs_well_in_any_order("day80_speed", "--batch 1 --context 20");
  const Outcome whole = run("day80_speed", "", "--precision fp32 --batch 2");
  EXPECT_EQ(whole.code, 0) << whole.output;
  EXPECT_NE(whole.output.find("needs weights of 16 bits"), std::string::npos) << whole.output;
}

TEST(day80, ManyTextsWithFewSlots) {
  runs_well_in_any_order("day80_many", "");
#ifdef __SIMT__
  for (const auto& [mistake, because] :
       {std::pair{"batches", "steps"}, {"slot_kept", "tokens of all texts"}}) {
    const Outcome outcome = run(std::string("day80_mistakes_") + mistake, "");
    EXPECT_EQ(outcome.code, 1) << outcome.output;
    EXPECT_NE(outcome.output.find(because), std::string::npos) << outcome.output;
  }
#endif
}

#ifdef __SIMT__
// What a kernel whose blocks stay can do wrong.
TEST(day80, AWordThatIsLostAndAPieceThatIsReadTooLate) {
  const Outcome lost = run("day80_mistakes_lost_word", "");
  EXPECT_EQ(lost.code, 1) << lost.output;
  EXPECT_NE(lost.output.find("[simt-hang]"), std::string::npos) << lost.output;
#ifdef DAYS_CHECKED_BUILD  // in another build the copy happens to be late enough
  const Outcome unread = run("day80_mistakes_released_unread", "");
  EXPECT_EQ(unread.code, 1) << unread.output;
  EXPECT_NE(unread.output.find("[simt-race-shared]"), std::string::npos) << unread.output;
#endif
}
#endif

}  // namespace
