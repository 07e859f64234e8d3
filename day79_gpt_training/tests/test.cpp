// SPDX-License-Identifier: MIT
//
// GPT training: the programs in three orders of threads; a training that is stopped, or killed at any byte that it writes or at any
// time, and goes on to the same bits; files that are broken; and what the model may not see.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>

#include "common/random.h"
#include "common/types.h"
#include "gpt/files.h"
#include "gpt/loader.h"
#include "gpt/trainer.h"
#include "model/product.h"
#include "tests/model/files/scratch.h"
#include "tests/program_tests.h"

namespace {

namespace fs = std::filesystem;
using days::program_tests::kChecked;
using days::program_tests::last_line;
using days::program_tests::Outcome;
using days::program_tests::run;
using days::program_tests::runs_well;
using Ids = std::vector<int32_t>;

void refuses(const std::string& program, const std::string& flags, int code, const std::string& because) {
  EXPECT_EQ(days::program_tests::refuses(program, flags, because), code) << flags;
}

// Sums have a fixed order, so that of threads changes no digit. A checked build sees races in whatever order it runs.
TEST(day79, OneStepIsRightInAnyOrder) {
  for (const char* precision : {"--precision fp32", "--precision bf16"}) {
    if (kChecked) {
      runs_well("day79_one_step", std::string(precision) + " --batch 1 --seq 16");
      continue;
    }
    const std::string shuffled = runs_well("day79_one_step", precision);
#ifdef __SIMT__
    EXPECT_EQ(runs_well("day79_one_step", precision, "reversed"), shuffled);
#endif
  }
}
TEST(day79, LengthsThatNothingDividesAreRight) {
  if (kChecked) GTEST_SKIP() << "plain builds look";
  for (const char* flags :
       {"--batch 1 --seq 2", "--batch 3 --seq 17", "--batch 1 --seq 64 --precision bf16"}) {
    const Outcome outcome = run("day79_one_step", "", flags);
    EXPECT_EQ(outcome.code, 0) << flags << "\n" << outcome.output;
  }
}
TEST(day79, PartsAddUp) {
  if (kChecked) GTEST_SKIP() << "plain builds look; its kernels are one_step's";
  runs_well("day79_parts", "");
#ifdef __SIMT__
  for (const char* mistake : {"mean_of_means", "cleared_each_time"}) {
    const Outcome outcome = run(std::string("day79_mistakes_") + mistake, "");
    EXPECT_EQ(outcome.code, 1) << outcome.output;
    EXPECT_NE(outcome.output.find("difference of the gradients"), std::string::npos) << outcome.output;
  }
#endif
}

// Five ways to compute a step, whose losses the program compares. Fused is fewer kernels, computing again is more.
TEST(day79, TheLadderOfAStepAgrees) {
  if (kChecked) GTEST_SKIP() << "plain builds look";
  const Outcome outcome = run("day79_speed", "", "--size tiny --batch 1 --seq 20 --recompute norm --runs 2");
  EXPECT_EQ(outcome.code, 0) << outcome.output;
  const auto launches = [&](const char* rung) {
    const size_t at = outcome.output.find(rung, outcome.output.find("launches"));
    return at == std::string::npos ? 0 : std::atoi(outcome.output.c_str() + at + std::strlen(rung));
  };
  if (launches("\nhalf") == 0) GTEST_SKIP() << "bf16 needs sm_80";
  EXPECT_GT(launches("\nhalf"), launches("\nfused"));
  EXPECT_GT(launches("\nfused"), 50);
  EXPECT_GT(launches("\nrecompute"), launches(launches("\nhopper") == 0 ? "\nfused" : "\nhopper"));
  refuses("day79_speed", "--recompute all", 2, "--recompute");
}

class Training : public model::Scratch {
 protected:
  static constexpr const char* kFlags =
      "--batch 1 --seq 16 --bytes 60000 --steps 4 --save-every 1 --write 3 ";
  std::string out(const std::string& name) { return "--out " + (folder() / name).string(); }
  void trained(const std::string& flags) {
    const Outcome outcome = run("day79_train", "", flags);
    EXPECT_EQ(outcome.code, 0) << outcome.output;
  }
  static std::string bytes(const fs::path& file) { return std::string(model::MappedFile(file).bytes()); }
  // Every file of the last step, and the curve.
  void same(const std::string& a, const std::string& b) {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder() / a / "step_000004"))
      names.insert(entry.path().filename());
    EXPECT_EQ(names, (std::set<std::string>{"config.json", "loss.csv", "merges.txt", "model.safetensors",
                                            "optimizer.safetensors", "vocab.json"}));
    for (const std::string& name : names)
      EXPECT_EQ(bytes(folder() / a / "step_000004" / name), bytes(folder() / b / "step_000004" / name))
          << name;
    EXPECT_EQ(bytes(folder() / a / "loss.svg"), bytes(folder() / b / "loss.svg"));
  }
  // Puts a training that nobody stopped into "a"; it runs once for all tests. Returns the seconds that it took.
  double whole() {
    struct Whole : model::Scratch {
      Whole() {
        const auto begin = std::chrono::steady_clock::now();
        const Outcome outcome = run("day79_train", "", kFlags + ("--out " + folder().string()));
        if (outcome.code != 0) throw std::runtime_error(outcome.output);
        seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      }
      void TestBody() override {}
      using model::Scratch::folder;
      double seconds = 0;
    };
    static const Whole done;
    fs::copy(done.folder(), folder() / "a", fs::copy_options::recursive);
    return done.seconds;
  }
  // Runs the training until it ends or is killed; whether it ended well. prepare runs in the child; watch gets its number.
  template <class Prepare, class Watch>
  bool runs(const std::string& name, const Prepare& prepare, const Watch& watch) {
    const std::string command = "exec '" + std::string(DAYS_PROGRAMS) + "/day79_train' " + kFlags + out(name);
    const pid_t child = fork();
    if (child == 0) {
      prepare();
      if (std::freopen("/dev/null", "w", stdout) == nullptr ||
          std::freopen("/dev/null", "w", stderr) == nullptr)
        _exit(99);
      execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
      _exit(98);
    }
    watch(child);
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) <= 1) << status;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
};

TEST_F(Training, GoesOnToTheSameBits) {
  if (kChecked) {
    trained("--batch 1 --seq 16 --bytes 60000 --steps 1 --write 1 " + out("a"));
    return;
  }
  whole();
  trained(kFlags + out("b") + " --until 2");
  EXPECT_TRUE(fs::exists(folder() / "b" / "step_000002"));
  EXPECT_FALSE(fs::exists(folder() / "b" / "step_000004"));
  trained(kFlags + out("b"));
  same("a", "b");
  // And once it is trained, it writes without a step, and draws the curve if it was killed before it could.
  fs::remove(folder() / "b" / "loss.svg");
  trained(kFlags + out("b"));
  same("a", "b");
  refuses("day79_train", "--batch 2 --seq 16 --bytes 60000 --steps 4 --write 3 " + out("b"), 2,
          "give the same flags, another --out, or --anew");
  // In parts it sees the same samples: the loss of its steps is the same but for rounding.
  trained("--batch 2 --seq 16 --bytes 60000 --steps 2 --write 1 " + out("one"));
  trained("--batch 1 --parts 2 --seq 16 --bytes 60000 --steps 2 --write 1 " + out("parts"));
  const auto one = gpt::read_csv(folder() / "one" / "loss.csv"),
             parts = gpt::read_csv(folder() / "parts" / "loss.csv");
  ASSERT_EQ(one.size(), 2u);
  ASSERT_EQ(parts.size(), 2u);
  for (size_t i = 0; i < 2; ++i) EXPECT_NEAR(one[i].train, parts[i].train, 1e-4);
}

// A limit to the size of files kills whoever writes one byte more: at bytes of small files and large ones, of the header and the data.
TEST_F(Training, KilledAtAnyByteItGoesOn) {
  if (kChecked) GTEST_SKIP() << "plain builds look";
  whole();
  for (const rlim_t limit : {0, 700, 100'000, 1'882'000, 3'000'000}) {
    const std::string name = "b" + std::to_string(limit);
    const bool ended = runs(
        name,
        [&] {
          const rlimit most{limit, limit};
          setrlimit(RLIMIT_FSIZE, &most);
        },
        [](pid_t) {});
    EXPECT_FALSE(ended) << limit;
    EXPECT_FALSE(fs::exists(folder() / name / "step_000001")) << "a folder without all of its files";
    trained(kFlags + out(name));
    same("a", name);
    fs::remove_all(folder() / name);
  }
}
TEST_F(Training, KilledAtAnyTimeItGoesOn) {
  if (kChecked) GTEST_SKIP() << "plain builds look";
  const double seconds = whole();
  int killed = 0;
  for (uint64_t i = 0; i < 6; ++i) {
    const auto wait =
        static_cast<useconds_t>(1e3 * seconds * static_cast<double>(days::uniform_integer(79, i, 20, 1000)));
    killed += !runs(
        "b", [] {},
        [&](pid_t child) {
          usleep(wait);
          kill(child, SIGKILL);
        });
  }
  EXPECT_GT(killed, 0);
  trained(kFlags + out("b"));
  same("a", "b");
}

// From the first checkpoint on, PyTorch's own GPT has the same losses; and transformers read the files.
TEST_F(Training, PyTorchGoesTheSameWay) {
  if (kChecked) GTEST_SKIP() << "plain builds look";
  whole();
  const std::string a = (folder() / "a").string();
  const char* python = std::getenv("DAYS_PYTHON");
  const Outcome outcome =
      days::program_tests::shell(std::string(python != nullptr ? python : "python3") + " -B '" + DAYS_FOLDER +
                                 "/tests/torch_gpt.py' compare " + a + "/step_000001 " + a +
                                 "/step_000004 transformers " + a + "/step_000004");
  if (outcome.code == 77) GTEST_SKIP() << outcome.output;
  EXPECT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_EQ(last_line(outcome.output), "ok") << outcome.output;
}

TEST_F(Training, BrokenFilesAreRefusedByName) {
  if (kChecked) GTEST_SKIP() << "plain builds look";
  const std::string flags = "--batch 1 --seq 16 --bytes 60000 --steps 1 --write 1 " + out("a");
  trained(flags);
  const fs::path step = folder() / "a" / "step_000001";
  const gpt::Layout layout(gpt::config_of("tiny"));
  EXPECT_EQ(gpt::load(step).memory.step, 1);
  EXPECT_EQ(gpt::load_config(step), layout.config);
  const auto broken = [&](const char* file, const std::string& text, const std::string& because) {
    const std::string before = bytes(step / file);
    std::ofstream(step / file, std::ios::binary) << text;
    refuses("day79_train", flags, 1, because);
    std::ofstream(step / file, std::ios::binary) << before;
  };
  const std::string config = bytes(step / "config.json"), model = bytes(step / "model.safetensors");
  const auto with = [](std::string text, const std::string& from, const std::string& to) {
    return text.replace(text.find(from), from.size(), to);
  };
  broken("config.json", "{", "is no JSON");
  broken("config.json", with(config, "gelu_new", "gelu"), "activation_function is \"gelu\"");
  broken("config.json", with(config, "\"n_layer\": 2", "\"n_layer\": 3"), "has no tensor");
  broken("config.json", with(config, "\"n_layer\": 2", "\"n_layer\": -2"), "n_layer is no size: -2");
  broken("config.json", with(config, "\"n_head\": 2", "\"n_head\": 3"), "width is 64 times the heads");
  broken("config.json", with(config, "\"vocab_size\": 512", "\"vocab_size\": 500"),
         "should be F32 (500, 128)");
  broken("model.safetensors", model.substr(0, 100'000), "would be");
  broken("optimizer.safetensors", "", "is no safetensors file");
  broken("loss.csv", "step,train,validation\n1,2\n", "loss.csv:2: is no row of three");
  std::ofstream(folder() / "a" / "tokens" / "train.bin", std::ios::binary) << "\xff\xff";
  refuses("day79_train", flags, 1, "token 0 is 65535");
}

TEST_F(Training, TokensAreTheTextAgain) {
  const Outcome outcome = run("day79_tokens", "", "--bytes 60000 --vocab 300 " + out("tokens"));
  EXPECT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_EQ(gpt::read_tokens(folder() / "tokens" / "train.bin", 300).size() / 9,
            gpt::read_tokens(folder() / "tokens" / "val.bin", 300).size());
  refuses("day79_tokens", "--bytes 10 --vocab 300 " + out("tokens"), 2,
          "take a longer text or a smaller vocabulary");
  refuses("day79_tokens", "--vocab 100 " + out("tokens"), 2, "--vocab is a number from 257 to 65536");
  refuses("day79_tokens", "--text /nowhere " + out("tokens"), 2, "--text is a file");
  refuses("day79_tokens", "--bytes 60000 --vocab 300 --out /dev/null/x", 1, "Not a directory");
}

// A token must not change what the model says of tokens before it, nor of other sequences.
TEST(day79, WhatComesLaterChangesNothing) {
  const gpt::Layout layout(gpt::config_of("tiny"));
  const std::vector<float> zeros(layout.elements);
  gpt::Trainer<float> trainer(layout, {1, 16});
  trainer.put({gpt::initial_weights(layout, 1), zeros, zeros, 0});
  Ids ids = {3, 1, 4, 1, 5, 9, 2, 6};
  const std::vector<float> before = trainer.next(std::span(ids).first(4));
  const auto logits_of = [&](const Ids& all) {  // of the fourth token, with others behind it
    Ids inputs(16), targets(16, gpt::kIgnored);
    std::copy(all.begin(), all.end(), inputs.begin());
    targets[3] = 7;
    return trainer.losses(inputs, targets);
  };
  const double loss = logits_of(ids);
  ids[4] = 500;
  EXPECT_EQ(logits_of(ids), loss);
  ids[3] = 500;
  EXPECT_NE(logits_of(ids), loss);
  double sum = 0;
  for (const float x : before) sum += std::exp(static_cast<double>(x));
  EXPECT_NEAR(std::log(sum) - static_cast<double>(before[7]), loss, 1e-4);
}

TEST(day79, ATrainerRefusesWhatItCannotTake) {
  const gpt::Layout layout(gpt::config_of("tiny"));
  EXPECT_THROW(gpt::Trainer<float>(layout, {0, 16}), std::invalid_argument);
  EXPECT_THROW(gpt::Trainer<float>(layout, {1, 65}), std::invalid_argument);
  gpt::Trainer<float> trainer(layout, {1, 4});
  const std::vector<float> zeros(layout.elements);
  EXPECT_THROW(trainer.put({{}, zeros, zeros, 0}), std::invalid_argument);
  trainer.put({gpt::initial_weights(layout, 1), zeros, zeros, 0});
  EXPECT_THROW(trainer.accumulate(Ids(4), Ids(4)), std::invalid_argument);  // no begin()
  EXPECT_THROW(trainer.begin(0), std::invalid_argument);
  trainer.begin(4);
  EXPECT_THROW(trainer.accumulate(Ids(5), Ids(5)), std::invalid_argument);
  EXPECT_THROW(trainer.accumulate(Ids(4, 512), Ids(4)), std::invalid_argument);
  EXPECT_THROW(trainer.accumulate(Ids(4), Ids(4, -1)), std::invalid_argument);
  EXPECT_THROW(trainer.next(Ids(5)), std::invalid_argument);
  EXPECT_THROW(trainer.next(Ids()), std::invalid_argument);
  EXPECT_THROW(gpt::config_of("huge"), std::invalid_argument);
  EXPECT_THROW(gpt::Layout({1, 1, 128, 512, 512, 64}), std::invalid_argument);
  EXPECT_THROW(gpt::Layout({1, 1, 64, 512, 500, 64}), std::invalid_argument);
}

// The loss and the gradients of a step of a model with three layers.
struct Done {
  double loss;
  std::vector<float> gradients;
  size_t bytes;
};
template <class T>
Done step_with(const gpt::Choices& choices, const gpt::StepSize& size = {2, 9}) {
  const gpt::Layout layout({3, 1, 64, 100, 104, 16});
  gpt::Trainer<T> trainer(layout, size, {}, choices);
  const auto n = static_cast<size_t>(trainer.tokens());
  const std::vector<float> zeros(layout.elements);
  std::vector<float> weights = gpt::initial_weights(layout, 1);
  for (const gpt::Parameter& p : layout.parameters)  // biases that are not 0
    if (!p.decays)
      for (size_t i = p.offset; i < p.offset + p.elements; ++i)
        weights[i] += 0.1f * static_cast<float>(days::normal(2, i));
  trainer.put({weights, zeros, zeros, 0});
  trainer.begin(trainer.tokens());
  Ids inputs(n), targets(n);
  for (size_t i = 0; i < n; ++i)
    inputs[i] = static_cast<int32_t>(i * 7 % 100), targets[i] = static_cast<int32_t>(i * 11 % 100);
  trainer.accumulate(inputs, targets);
  return {trainer.loss_sum(), trainer.gradients(), trainer.bytes()};
}
double apart(const std::vector<float>& a, const std::vector<float>& b) {
  double square = 0, off = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    square += static_cast<double>(a[i]) * static_cast<double>(a[i]);
    off += std::pow(static_cast<double>(a[i]) - static_cast<double>(b[i]), 2);
  }
  return std::sqrt(off / square);
}

TEST(day79, FusedOrNotAStepIsTheSame) {
  const Done fused = step_with<float>({}), apiece = step_with<float>({.fused = false});
  EXPECT_EQ(fused.loss, apiece.loss);  // in fp32 nothing is rounded on the way
  EXPECT_LT(apart(fused.gradients, apiece.gradients), 1e-6);
  const Done half = step_with<days::bf16>({.fused = false});
  EXPECT_NEAR(half.loss, fused.loss, 2e-3 * fused.loss);
  EXPECT_LT(apart(fused.gradients, half.gradients), 1.5e-2);
  if (kChecked) return;  // this much is for plain builds
  // Many rows: the norms' blocks leave more sums than are added at a time.
  const gpt::StepSize many{48, 13};
  EXPECT_LT(apart(step_with<float>({}, many).gradients, step_with<float>({.fused = false}, many).gradients),
            1e-6);
}
template <class T>
void recomputes() {
  const Done kept = step_with<T>({});
  size_t bytes = kept.bytes;
  EXPECT_EQ(gpt::Trainer<T>::bytes_of(gpt::Layout({3, 1, 64, 100, 104, 16}), {2, 9}), bytes);
  for (const char* what : {"gelu", "norm", "layer"}) {
    for (const bool fused : {true, false}) {
      const gpt::Choices choices{.fused = fused, .recompute = gpt::recompute_of(what)};
      const Done again = step_with<T>(choices);
      const Done expected = fused ? kept : step_with<T>({.fused = false});
      EXPECT_EQ(again.loss, expected.loss) << what;
      EXPECT_EQ(again.gradients, expected.gradients) << what;
      if (!fused) continue;
      EXPECT_LT(again.bytes, bytes) << what;
      bytes = again.bytes;
    }
  }
}
TEST(day79, WhatIsComputedAgainIsTheSame) {
  if (kChecked) GTEST_SKIP() << "plain builds look";
  recomputes<float>();
  recomputes<days::bf16>();
  EXPECT_THROW(gpt::recompute_of("all"), std::invalid_argument);
}
TEST(day79, EveryPathOfTheProductsIsRight) {
  if (kChecked) GTEST_SKIP() << "the products' own tests look";
  using model::Path;
  const Done simple = step_with<float>({.path = Path::kSimple}),
             ffma = step_with<float>({.path = Path::kFfma});
  EXPECT_NEAR(ffma.loss, simple.loss, 1e-5 * simple.loss);
  EXPECT_LT(apart(simple.gradients, ffma.gradients), 1e-6);
  EXPECT_EQ(step_with<float>({.path = Path::kAutomatic}).gradients, ffma.gradients);
  EXPECT_THROW(step_with<float>({.path = Path::kMma}), std::invalid_argument);
  const int sm = model::target_here().sm;
  if (sm < 80) GTEST_SKIP() << "bf16 needs sm_80";
  for (const Path path : {Path::kMma, Path::kWgmma}) {
    if (path == Path::kWgmma && sm != 90) continue;
    const Done tensor_cores = step_with<days::bf16>({.path = path});
    EXPECT_NEAR(tensor_cores.loss, simple.loss, 2e-3 * simple.loss) << name_of(path);
    EXPECT_LT(apart(simple.gradients, tensor_cores.gradients), 1.5e-2) << name_of(path);
    if (path == Path::kWgmma || sm != 90) {
      EXPECT_EQ(step_with<days::bf16>({.path = Path::kAutomatic}).gradients, tensor_cores.gradients);
    }
  }
}

// Parts are queued without waiting for each other, and what they lost is read once.
TEST(day79, LossesAddUpSinceBegin) {
  if (kChecked) GTEST_SKIP() << "plain builds look";
  const gpt::Layout layout({1, 1, 64, 100, 104, 16});
  const std::vector<float> zeros(layout.elements);
  gpt::Trainer<float> trainer(layout, {1, 8});
  trainer.put({gpt::initial_weights(layout, 1), zeros, zeros, 0});
  std::vector<int> open;  // kinds that have begun, and not ended
  int runs = 0;
  trainer.on_kind = [&](gpt::Kind kind, bool ends) {
    ASSERT_EQ(open.empty(), !ends);
    if (ends) {
      EXPECT_EQ(open.back(), static_cast<int>(kind));
      open.clear(), ++runs;
    } else {
      open.push_back(static_cast<int>(kind));
    }
  };
  std::vector<Ids> inputs, targets;
  double sum = 0;
  for (int32_t part = 0; part < 4; ++part) {
    inputs.emplace_back(8, part), targets.emplace_back(8, 90 + part);
    sum += trainer.losses(inputs.back(), targets.back());
  }
  for (int round = 0; round < 2; ++round) {
    trainer.begin(32);
    EXPECT_EQ(trainer.loss_sum(), 0);
    for (size_t part = 0; part < 4; ++part) trainer.accumulate(inputs[part], targets[part]);
    trainer.losses(inputs[0], targets[0]);  // counts for itself
    EXPECT_NEAR(trainer.loss_sum(), sum, 1e-12 * sum);
  }
  EXPECT_TRUE(open.empty());
  EXPECT_GT(runs, 100);

  // More rows than the block that adds them has threads: the sum is that of its sequences one by one.
  constexpr int kMany = 40;
  gpt::Trainer<float> whole(layout, {kMany, 8});
  whole.put({gpt::initial_weights(layout, 1), zeros, zeros, 0});
  Ids all_inputs, all_targets;
  sum = 0;
  for (int32_t sequence = 0; sequence < kMany; ++sequence) {
    const Ids in(8, sequence), out(8, 99 - sequence);
    sum += trainer.losses(in, out);
    all_inputs.insert(all_inputs.end(), in.begin(), in.end());
    all_targets.insert(all_targets.end(), out.begin(), out.end());
  }
  EXPECT_NEAR(whole.losses(all_inputs, all_targets), sum, 1e-6 * sum);
}

// Rows behind the vocabulary are no tokens: they get no probability and no gradient, and stay 0.
TEST(day79, PaddingStaysZero) {
  if (kChecked) GTEST_SKIP() << "plain builds look";
  const gpt::Layout layout({1, 1, 64, 100, 128, 16});
  const std::vector<float> zeros(layout.elements);
  gpt::Trainer<float> trainer(layout, {1, 8});
  trainer.put({gpt::initial_weights(layout, 1), zeros, zeros, 0});
  std::vector<int> layers;
  trainer.on_layer_done = [&](int layer) { layers.push_back(layer); };
  trainer.begin(8);
  trainer.accumulate(Ids(8, 99), Ids(8, 3));
  EXPECT_NEAR(trainer.loss_sum() / 8, std::log(100.0), 0.3);
  EXPECT_EQ(layers, (std::vector<int>{0, -1}));
  EXPECT_GT(trainer.update(1e-2), 0);
  const std::vector<float> weights = trainer.get().weights;
  EXPECT_TRUE(
      std::all_of(weights.begin() + 100 * 64, weights.begin() + 128 * 64, [](float w) { return w == 0; }));
  EXPECT_EQ(trainer.next(Ids{1}).size(), 100u);
}

TEST(day79, EachEpochHasEachWindowOnce) {
  std::vector<uint16_t> tokens(1 + 7 * 37);
  for (size_t i = 0; i < tokens.size(); ++i) tokens[i] = static_cast<uint16_t>(i);
  const gpt::Loader loader(tokens, 7, 79);
  ASSERT_EQ(loader.windows(), 37u);
  Ids inputs, targets, first;
  for (const uint64_t epoch : {uint64_t{0}, uint64_t{1}}) {
    loader.read(37 * epoch, 37, &inputs, &targets);
    std::set<int32_t> begins;
    for (size_t i = 0; i < inputs.size(); ++i) {
      EXPECT_EQ(targets[i], inputs[i] + 1);
      if (i % 7 == 0) begins.insert(inputs[i]);
    }
    EXPECT_EQ(begins.size(), 37u);
    EXPECT_EQ(*begins.rbegin(), 7 * 36);
    EXPECT_NE(inputs, first);
    first = inputs;
  }
  // Sample by sample it is what it was in one go.
  Ids one, targets_of_one, all;
  for (uint64_t sample = 37; sample < 74; ++sample) {
    loader.read(sample, 1, &one, &targets_of_one);
    all.insert(all.end(), one.begin(), one.end());
  }
  EXPECT_EQ(all, first);
  EXPECT_THROW(gpt::Loader(std::span(tokens).first(7), 7, 1), std::invalid_argument);
}

TEST(day79, TheRateRisesAndFalls) {
  EXPECT_DOUBLE_EQ(gpt::learning_rate(0, 100, 10, 1), 0.1);
  EXPECT_DOUBLE_EQ(gpt::learning_rate(9, 100, 10, 1), 1);
  EXPECT_DOUBLE_EQ(gpt::learning_rate(10, 100, 10, 1), 1);
  EXPECT_NEAR(gpt::learning_rate(55, 100, 10, 1), 0.55, 1e-12);
  EXPECT_NEAR(gpt::learning_rate(100, 100, 10, 1), 0.1, 1e-12);
  EXPECT_NEAR(gpt::learning_rate(1000, 100, 10, 1), 0.1, 1e-12);
}

}  // namespace
