// SPDX-License-Identifier: MIT
//
// Trains a GPT on six novels: steps, a look at text that it has not seen, checkpoints, its curve, and a text of its own. Killed at any
// moment it goes on from its last checkpoint when it is started again, and what it becomes is the same bit for bit.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "common/compare.h"
#include "common/device.h"
#include "common/program.h"
#include "common/random.h"
#include "common/types.h"
#include "gpt/files.h"
#include "gpt/layout.h"
#include "gpt/loader.h"
#include "gpt/trainer.h"
#include "model/tokens.h"

namespace {

namespace fs = std::filesystem;

// What a size is trained with, where no flag says otherwise.
struct Plan {
  int steps, batch, seq, vocab;
  double rate;
};
Plan plan_of(const std::string& size) {
  if (size == "tiny") return {days::on_gpu() ? 2000 : 200, days::on_gpu() ? 32 : 2, 64, 512, 2e-3};
  if (size == "small") return {2000, 32, 256, 4096, 1e-3};
  return {2000, 64, 1024, 4096, 6e-4};
}

constexpr uint64_t kSeed = 79;
constexpr int kValidationBatches = 4;

// The next token, by chance: likelier ones more often. Sharpened, so that few of them are nonsense.
int32_t sample(const std::vector<float>& logits, double chance) {
  constexpr double kTemperature = 0.6;
  const double most = static_cast<double>(*std::max_element(logits.begin(), logits.end()));
  std::vector<double> weights;
  double sum = 0;
  for (const float x : logits)
    weights.push_back(sum += std::exp((static_cast<double>(x) - most) / kTemperature));
  const auto found = std::upper_bound(weights.begin(), weights.end(), chance * sum);
  return static_cast<int32_t>(std::min<ptrdiff_t>(found - weights.begin(), std::ssize(weights) - 1));
}

template <class T>
std::string write_text(gpt::Trainer<T>& trainer, const model::Tokenizer& tokenizer, int seq, int tokens) {
  std::vector<int32_t> ids = tokenizer.encode("The ");
  for (int i = 0; i < tokens; ++i) {
    const size_t most = static_cast<size_t>(seq), from = ids.size() > most ? ids.size() - most : 0;
    std::vector<float> logits = trainer.next(std::span(ids).subspan(from));
    logits.resize(
        static_cast<size_t>(tokenizer.end_of_text()));  // the model may have more tokens than the tokenizer
    ids.push_back(sample(logits, static_cast<double>(days::uniform(kSeed, static_cast<uint64_t>(i)))));
  }
  return tokenizer.decode(ids);
}

template <class T>
double validation(gpt::Trainer<T>& trainer, const gpt::Loader& loader, int batch) {
  std::vector<int32_t> inputs, targets;
  double sum = 0;
  for (int i = 0; i < kValidationBatches; ++i) {
    loader.read(static_cast<uint64_t>(i) * static_cast<uint64_t>(batch), batch, &inputs, &targets);
    sum += trainer.losses(inputs, targets);
  }
  return sum / (static_cast<double>(kValidationBatches) * trainer.tokens());
}

template <class T>
void train(days::Program& program) {
  const std::string size = program.choice("--size");
  const Plan plan = plan_of(size);
  const auto given = [&](const char* flag, int preset) {
    const int64_t value = program.number(flag);
    return value == 0 ? preset : static_cast<int>(value);
  };
  const int steps = given("--steps", plan.steps), batch = given("--batch", plan.batch),
            seq = given("--seq", plan.seq);
  const int parts = static_cast<int>(program.number("--parts")),
            every = given("--save-every", std::max(1, steps / 4));
  const int64_t until = std::min<int64_t>(steps, program.number("--until"));
  const fs::path out = gpt::given_or_in_course(program.path("--out"), "build/gpt/" + size);
  const fs::path text = gpt::given_or_in_course(program.file("--text"), "corpus/austen.txt");
  const fs::path data = out / "tokens";

  const gpt::Layout layout(gpt::config_of(size));
  if (program.on("--anew")) {
    for (auto old = gpt::newest(out); old; old = gpt::newest(out)) fs::remove_all(*old);
    fs::remove_all(data);
  }
  if (!fs::exists(data / "train.bin")) {
    std::printf("tokens: %s\n", fs::relative(data).c_str());
    gpt::write_tokens(text, static_cast<size_t>(program.number("--bytes")), plan.vocab, data);
  }
  const model::Tokenizer tokenizer = model::Tokenizer::load(data);
  const std::vector<uint16_t> train_tokens = gpt::read_tokens(data / "train.bin", layout.config.vocab),
                              val_tokens = gpt::read_tokens(data / "val.bin", layout.config.vocab);
  const gpt::Loader train_loader(train_tokens, seq, kSeed), val_loader(val_tokens, seq, kSeed);

  gpt::Checkpoint state;
  const auto draw = [&] {
    model::write_whole(out / "loss.csv", gpt::curve_csv(state.points));
    model::write_whole(out / "loss.svg", gpt::curve_svg(state.points, size + ", loss of a token"));
  };
  state.config = layout.config;
  state.settings = size + ", " + program.choice("--precision") + ", steps " + std::to_string(steps) +
                   ", batch " + std::to_string(batch) + ", parts " + std::to_string(parts) + ", seq " +
                   std::to_string(seq) + ", tokens " + std::to_string(train_tokens.size());
  if (const auto last = gpt::newest(out)) {
    const std::string settings = state.settings;
    state = gpt::load(*last);
    if (state.settings != settings)
      throw std::invalid_argument(last->string() + " was trained with \"" + state.settings +
                                  "\", and this is \"" + settings +
                                  "\": give the same flags, another --out, or --anew");
    std::printf("goes on from %s\n", fs::relative(*last).c_str());
    // Padding depends on the program alone, and files have none.
    if (state.config.padded_vocab != layout.config.padded_vocab)
      throw model::FileError(last->string() + ": another padding");
    draw();  // it may have been killed before it did
  } else {
    state.memory = {gpt::initial_weights(layout, kSeed), std::vector<float>(layout.elements),
                    std::vector<float>(layout.elements), 0};
  }

  gpt::Trainer<T> trainer(layout, {batch, seq}, {},
                          {.recompute = gpt::recompute_of(program.choice("--recompute"))});
  trainer.put(state.memory);
  std::printf("%s: %.2f million weights, %.1f MB of memory, %d tokens a step\n", size.c_str(),
              static_cast<double>(layout.weights()) / 1e6, static_cast<double>(trainer.bytes()) / 1e6,
              parts * batch * seq);

  const auto show = [](const gpt::Point& point) {
    std::printf("step %5lld   loss %.4f", static_cast<long long>(point.step), point.train);
    if (!std::isnan(point.validation)) std::printf("   unseen text %.4f", point.validation);
    std::printf("\n");
    std::fflush(stdout);  // whoever reads it through a pipe sees it now
  };
  std::vector<int32_t> inputs, targets;
  int64_t step = state.memory.step;
  while (step < until) {
    trainer.begin(int64_t{parts} * trainer.tokens());
    for (int part = 0; part < parts; ++part) {
      train_loader.read(state.samples, batch, &inputs, &targets);
      state.samples += static_cast<uint64_t>(batch);
      trainer.accumulate(inputs, targets);
    }
    const float norm = trainer.update(gpt::learning_rate(step, steps, std::max(1, steps / 4), plan.rate));
    if (!std::isfinite(norm))
      throw std::runtime_error("the gradients of step " + std::to_string(step) + " are no numbers");
    ++step;
    gpt::Point point{step, trainer.loss_sum() / (static_cast<double>(parts) * trainer.tokens()), NAN};
    const bool saves = step % every == 0 || step == steps;
    if (saves) point.validation = validation(trainer, val_loader, batch);
    state.points.push_back(point);
    if (saves || step == 1) show(point);
    program.progress(static_cast<size_t>(step), static_cast<size_t>(steps), "step");
    if (!saves) continue;
    state.memory = trainer.get();
    gpt::save(out, layout, state, data);
    draw();
  }

  const auto last = gpt::newest(out);
  if (!last) return program.skip("nothing is saved yet");
  // As sure as a loss is who takes one of so many by chance.
  if (state.points.size() > 1)
    std::printf("the next token was one of %.0f at first, and is one of %.0f now\n",
                std::exp(state.points.front().train), std::exp(state.points.back().train));
  std::printf("saved: %s, curve: %s\n\n%s\n\n", fs::relative(*last).c_str(),
              fs::relative(out / "loss.svg").c_str(),
              write_text(trainer, tokenizer, seq, static_cast<int>(program.number("--write"))).c_str());
  const gpt::Checkpoint again = gpt::load(*last);
  if (again.memory.step != step) return program.skip("stopped between two checkpoints");
  const gpt::Memory now = trainer.get();
  program.compare(again.memory.weights.data(), now.weights.data(), now.weights.size(), "the saved weights");
  // It has to have learnt: more than which letters are frequent takes some steps.
  if (state.points.size() >= 40) {
    const auto fell = static_cast<float>(state.points.back().train / state.points.front().train);
    const float most = 0.9f;
    if (!(fell < most)) program.compare(&fell, &most, 1, "the last loss beside the first");
  }
}

}  // namespace

int main(int argc, char** argv) {
  const days::About about{
      .name = "train",
      .does = "trains a GPT, and goes on where it was stopped",
      .gpu_size = 0,
      .cpu_size = 0,
      .type = "fp32",
      .flags = {
          days::choice_flag("--size", "of the model", {"tiny", "small", "gpt2"}),
          days::choice_flag("--precision", "of what is multiplied", {"fp32", "bf16"}),
          days::choice_flag("--recompute", "what backward computes again to save memory; it changes no bit",
                            {"nothing", "gelu", "norm", "layer"}),
          days::path_flag("--out", "the folder of checkpoints, instead of build/gpt/SIZE"),
          days::file_flag("--text", "what it learns, instead of six novels of Jane Austen"),
          days::number_flag("--bytes", "of the text, at most", 1 << 28, 1000, 1 << 28),
          days::number_flag("--steps", "of the whole training; 0: what the size suggests", 0, 0, 1 << 30),
          days::number_flag("--until", "stops behind this step", 1 << 30, 1, 1 << 30),
          days::number_flag("--batch", "sequences at once; 0: what the size suggests", 0, 0, 4096),
          days::number_flag("--parts", "such batches whose gradients are added up for a step", 1, 1, 4096),
          days::number_flag("--seq", "tokens of a sequence; 0: what the size suggests", 0, 0, 1024),
          days::number_flag("--save-every", "steps; 0: four times", 0, 0, 1 << 30),
          days::number_flag("--write", "tokens that it writes at last", 60, 0, 100000),
          days::toggle_flag("--anew", "removes the folder's checkpoints and tokens first")}};
  return days::program(argc, argv, about, [](days::Program& program) {
    if (program.choice("--precision") == "fp32") return train<float>(program);
    if (!days::sm_80.met(days::query_device())) return program.skip("needs sm_80");
    train<days::bf16>(program);
  });
}
