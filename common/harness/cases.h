// SPDX-License-Identifier: MIT
//
// Part of run_day.cpp: one variant on every test shape and every kind of inputs, each case told as a line of
// JSON.
// ./days check reads them. A case is written as soon as it is known, so that a crash loses only its own.
//
// First line:  {"ladder", "exercise": {goal, starts, solution, gates {...}} or null}
// A case:      {"ladder", "type", "shape" {extent: n}, "inputs", "result" ("ok", "fail", "refused"),
// "compared",
//              "wrong", "unwritten", "worst", "first" [{"at", "index", "got", "expected"}], "notes",
//              "blocks", "threads" (of the last launch; CPU backend)}
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/device.h"
#include "common/harness/options.h"
#include "common/instance.h"
#include "common/json.h"
#include "common/timing.h"

#ifdef __SIMT__
#include "simt/runtime.h"
#endif

namespace days {
namespace detail {

class Cases {
 public:
  explicit Cases(const std::string& path) : file_(std::fopen(path.c_str(), "w")) {
    if (file_ == nullptr) throw Exit(kUsage, "--cases " + path + ": " + std::strerror(errno));
  }
  Cases(const Cases&) = delete;
  Cases& operator=(const Cases&) = delete;
  ~Cases() { std::fclose(file_); }

  void header(const LadderInfo& ladder) {
    Json json;
    json.open('{');
    json.member("ladder", ladder.name);
    json.key("exercise");
    json.open('{');
    if (ladder.exercise_info) {
      const Exercise& exercise = *ladder.exercise_info;
      json.member("goal", exercise.goal);
      json.member("starts", exercise.starts);
      json.member("solution", exercise.solution);
      json.key("gates");
      json.open('{');
      json.member("reads_per_input", exercise.gates.reads_per_input);
      json.member("wasted_sectors", exercise.gates.wasted_sectors);
      json.member("conflicts", exercise.gates.conflicts);
      json.member("bytes_per_request", exercise.gates.bytes_per_request);
      json.member("speed", exercise.gates.speed);
      json.close();
    }
    json.close();
    json.close();
    line(json);
  }

  void add(const LadderInfo& ladder, size_t type, const Shape& shape, size_t maker, const char* result,
           const Report& report, uint64_t blocks, uint64_t threads) {
    Json json;
    json.open('{');
    json.member("ladder", ladder.name);
    json.member("type", ladder.types[type].name);
    json.key("shape");
    json.open('{');
    for (size_t i = 0; i < shape.size(); ++i) json.member(ladder.extents[i], shape.numbers()[i]);
    json.close();
    json.member("inputs", ladder.makers[maker].name);
    json.member("result", result);
    json.member("compared", report.compared);
    json.member("wrong", report.wrong);
    json.member("unwritten", report.unwritten);
    json.member("worst", report.worst);
    json.key("first");
    json.open('[');
    for (const Mismatch& m : report.first) {
      json.open('{');
      json.member("at", report.place(m.index));
      json.member("index", m.index);
      json.member("got", Report::number(m.got));
      json.member("expected", Report::number(m.want));
      json.close();
    }
    json.close();
    json.key("notes");
    json.open('[');
    for (const std::string& note : report.notes) json.value(note);
    json.close();
    json.member("blocks", blocks);
    json.member("threads", threads);
    json.close();
    line(json);
  }

 private:
  // Line breaks within strings are escaped, so all others may go.
  void line(const Json& json) {
    std::string text = json.text();
    std::replace(text.begin(), text.end(), '\n', ' ');
    std::fprintf(file_, "%s\n", text.c_str());
    std::fflush(file_);
  }

  std::FILE* file_;
};

// Exit code: 0 all right, 1 some wrong or a fault, after which no further case runs.
inline int run_cases(const Options& options, const std::vector<const LadderInfo*>& ladders) {
  constexpr double kSmallBytes = 256 << 10;
  if (options.variants.size() != 1) throw Exit(kUsage, "--cases goes with one --variant");
  const std::string& name = options.variants[0];
  Cases cases(options.cases);
  bool found = false, good = true;
  for (const LadderInfo* ladder : ladders) {
    for (const Row& row : ladder->rows) {
      if (row.name != name) continue;
      found = true;
      cases.header(*ladder);
      Stream stream;
      for (size_t type = 0; type < ladder->types.size(); ++type) {
        const std::string absent = ladder->absent(row, type, current_device());
        if (!absent.empty()) continue;
        for (const Shape& shape : ladder->test_shapes) {
          for (size_t maker = 0; maker < ladder->makers.size(); ++maker) {
            if (options.small && Instance::device_bytes(*ladder, type, shape, maker) > kSmallBytes) continue;
            Instance instance(*ladder, type, shape, maker);
            const bool takes = instance.supports(row);
            uint64_t blocks = 0, threads = 0;
            const auto look = [&] {
#ifdef __SIMT__
              const simt::LaunchStats last = simt::stats().last;
              blocks = last.blocks;
              threads = last.threads;
#endif
            };
            const Report report = takes ? instance.run(row, stream, look) : instance.refuse(row, stream);
            good = good && report.ok();
            cases.add(*ladder, type, shape, maker,
                      !report.ok() ? "fail"
                      : takes      ? "ok"
                                   : "refused",
                      report, blocks, threads);
            if (cudaDeviceSynchronize() != cudaSuccess) return kWrong;
          }
        }
      }
    }
  }
  if (!found) throw Exit(kUsage, "no variant \"" + name + "\"", "--list");
  return good ? 0 : kWrong;
}

}  // namespace detail
}  // namespace days
