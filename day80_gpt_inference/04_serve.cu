// SPDX-License-Identifier: MIT
//
// An HTTP server with OpenAI's endpoints, for many clients at once. Without --port it asks itself, compares, and ends.

#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "common/compare.h"
#include "common/program.h"
#include "day80_gpt_inference/model.h"
#include "serve/api.h"
#include "serve/desk.h"
#include "serve/http.h"
#include "serve/text.h"

namespace {

std::atomic<bool> interrupted{false};
void interrupt(int) {
  interrupted = true;
}

// The text that the server has to write, from an engine alone.
std::string expected_text(const day80::Speaker& speaker, const std::string& prompt, int tokens) {
  serve::Engine<float> engine(speaker.model, {.sequences = 1}, 1);
  engine.submit({speaker.tokenizer.encode(prompt), tokens, {}, speaker.ends});
  serve::TextStream stream;
  std::string text;
  while (!engine.idle())
    for (const serve::Event& event : engine.step())
      if (event.token >= 0 && event.token < speaker.tokenizer.size())
        text += stream.add(speaker.tokenizer.bytes(event.token));
  return text + stream.finish();
}

void serve_it(days::Program& program) {
  if (const std::string why = serve::no_http(); !why.empty()) return program.skip(why);
  signal(SIGPIPE, SIG_IGN);  // who leaves is an error of a write, and no signal
  const day80::Speaker speaker = day80::speaker_of(program, program.choice("--template"));
  const auto sequences = static_cast<int>(program.number("--sequences")),
             waiting = static_cast<int>(program.number("--waiting"));
  // A model of long contexts would take much memory if every text could fill its own at once. A page is 16 tokens.
  const int of_one = (speaker.model.config.context + 15) / 16,
            pages = std::min(sequences * of_one, sequences * 64 + of_one);
  serve::Desk<float> desk(speaker.model, {.sequences = sequences, .pages = pages},
                          static_cast<size_t>(waiting));
  serve::Backend backend;
  backend.submit = [&](serve::Request request) { return desk.submit(std::move(request)); };
  backend.health = [&] {
    const auto counts = desk.counts();
    return "{\"status\": \"" + std::string(counts.error.empty() ? "ok" : "broken") +
           "\", \"running\": " + std::to_string(counts.running) +
           ", \"waiting\": " + std::to_string(counts.waiting) +
           ", \"free_slots\": " + std::to_string(counts.free_slots) +
           ", \"gpu\": " + (days::on_gpu() ? "true" : "false") + "}\n";
  };
  backend.tokenizer = &speaker.tokenizer;
  backend.chat = [&](const std::vector<serve::Message>& messages) {
    return speaker.chat.encode(speaker.tokenizer, messages);
  };
  backend.ends = speaker.ends;
  backend.model = "gpt";
  backend.context = speaker.model.config.context;
  const auto port = static_cast<int>(program.number("--port"));
  const std::string host = program.path("--host").empty() ? "127.0.0.1" : program.path("--host");
  const serve::HttpServer server(backend, host, port, {.streams = sequences + waiting + 8});
  std::printf("http://%s:%d/v1 serves the model \"gpt\"\n", host.c_str(), server.port());
  std::fflush(stdout);
  if (port != 0) {
    signal(SIGINT, interrupt);
    signal(SIGTERM, interrupt);
    while (!interrupted) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return program.done("the server was stopped");
  }
  constexpr int kTokens = 12;
  const std::string expected = expected_text(speaker, "It was", kTokens);
  const auto [status, body] =
      serve::http_post(server.port(), "/v1/completions",
                       R"({"model": "gpt", "prompt": "It was", "temperature": 0, "max_tokens": )" +
                           std::to_string(kTokens) + "}");
  std::printf("HTTP %d: %s\n", status, body.c_str());
  // The whole answer but its first fields, the id and the time.
  const std::string wanted = "\"text\":" + serve::json_string(expected);
  const std::vector<int32_t> got{status, body.find(wanted) != std::string::npos}, right{200, 1};
  program.compare(got.data(), right.data(), got.size(), "status, and whether the text is the engine's");
}

}  // namespace

int main(int argc, char** argv) {
  const days::About about{
      .name = "serve",
      .does = "an HTTP server with OpenAI's endpoints",
      .gpu_size = 0,
      .cpu_size = 0,
      .type = "fp32",
      .flags = {
          day80::model_flag(), day80::template_flag(),
          days::number_flag("--port", "serves there until Ctrl-C; 0: asks itself, and ends", 0, 0, 65535),
          days::path_flag("--host",
                          "listens on this address, instead of 127.0.0.1: anyone who reaches it is served"),
          days::number_flag("--sequences", "texts at once", days::on_gpu() ? 32 : 4, 1, 1024),
          days::number_flag("--waiting", "requests that wait for a place, at most", 64, 0, 1000)}};
  return days::program(argc, argv, about, [](days::Program& program) { serve_it(program); });
}
