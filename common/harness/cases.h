// SPDX-License-Identifier: MIT
//
// Part of run_day.cpp: one variant on every test shape and every kind of inputs, each case told as a line of
// JSON, which ./days check reads. A case is written as soon as it is known: a crash loses only its own.
//
// First line:  {"ladder", "cases" (how many will come), "exercise": {goal, starts, solution, gates {...}}}
// A case:      {"ladder", "type", "shape" {extent: n}, "inputs", "result" ("ok", "fail", "refused"),
//              "compared", "wrong", "unwritten", "in_place", "added", ("least_ratio", "most_ratio",) "worst", "first" [{"at", "index", "got", "expected"}],
//              "outputs" [{"name", "compared", "wrong", "unwritten", ("least_ratio", "most_ratio",) "worst"}], "notes", "blocks", "threads" (of the last launch; CPU backend)}
#pragma once

#include <algorithm>
#include <cerrno>
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
#include "common/progress.h"
#include "common/timing.h"

#ifdef __SIMT__
#include "simt/runtime.h"
#endif

namespace days {
namespace detail {

// One shape with one kind of inputs in one element type.
struct Case {
  const LadderInfo* ladder;
  size_t type;
  const Shape* shape;
  size_t maker;

  const std::string& type_name() const { return ladder->types[type].name; }
  const std::string& inputs_name() const { return ladder->makers[maker].name; }
  // "rows 3, cols 33, fp16, huge"
  std::string name() const {
    std::string text;
    for (size_t i = 0; i < shape->size(); ++i)
      text += ladder->extents[i] + " " + std::to_string(shape->numbers()[i]) + ", ";
    if (type_name() != "fp32") text += type_name() + ", ";
    return text + (inputs_name().empty() ? "random inputs" : inputs_name());
  }
};

class Cases {
 public:
  explicit Cases(const std::string& path) : file_(std::fopen(path.c_str(), "w")) {
    if (file_ == nullptr) throw Exit(kUsage, "--cases " + path + ": " + std::strerror(errno));
  }
  Cases(const Cases&) = delete;
  Cases& operator=(const Cases&) = delete;
  ~Cases() { std::fclose(file_); }

  void header(const LadderInfo& ladder, size_t cases) {
    Json json;
    json.open('{');
    json.member("ladder", ladder.name);
    json.member("cases", cases);
    json.key("exercise");
    json.open('{');
    if (ladder.exercise_info) {
      json.member("goal", ladder.exercise_info->goal);
      json.member("starts", ladder.exercise_info->starts);
      json.member("solution", ladder.exercise_info->solution);
      json.key("gates");
      json.open('{');
      for (const Gate& gate : asked(ladder.exercise_info->gates)) json.member(gate.name, gate.bound);
      json.close();
    }
    json.close();
    json.close();
    line(json);
  }

  void add(const Case& one, const char* result, const Report& report, uint64_t blocks, uint64_t threads) {
    Json json;
    json.open('{');
    json.member("ladder", one.ladder->name);
    json.member("type", one.type_name());
    json.key("shape");
    json.open('{');
    for (size_t i = 0; i < one.shape->size(); ++i)
      json.member(one.ladder->extents[i], one.shape->numbers()[i]);
    json.close();
    json.member("inputs", one.inputs_name());
    json.member("result", result);
    json.member("compared", report.compared);
    json.member("wrong", report.wrong);
    json.member("unwritten", report.unwritten);
    json.member("in_place", report.in_place);
    json.member("added", report.added);
    if (report.least_ratio <= report.most_ratio) {
      json.member("least_ratio", report.least_ratio);
      json.member("most_ratio", report.most_ratio);
    }
    json.member("worst", report.worst);
    json.key("first");
    json.open('[');
    for (const Report::Shown& shown : report.shown()) {
      json.open('{');
      json.member("at", shown.place);
      json.member("index", shown.mismatch.index);
      json.member("got", Report::number(shown.mismatch.got));
      json.member("expected", Report::number(shown.mismatch.want));
      json.close();
    }
    json.close();
    json.key("outputs");
    json.open('[');
    for (const Report& output : report.outputs) {
      json.open('{');
      json.member("name", output.name);
      json.member("compared", output.compared);
      json.member("wrong", output.wrong);
      json.member("unwritten", output.unwritten);
      if (output.least_ratio <= output.most_ratio) {
        json.member("least_ratio", output.least_ratio);
        json.member("most_ratio", output.most_ratio);
      }
      json.member("worst", output.worst);
      json.close();
    }
    json.close();
    json.key("notes");
    json.open('[');
    for (const std::string& note : report.notes) json.value(note);
    if (!report.remark.empty()) json.value(report.remark);
    json.close();
    json.member("blocks", blocks);
    json.member("threads", threads);
    json.close();
    line(json);
  }

 private:
  // Line breaks within strings are escaped, so all others may go.
  void line(const Json& json) {
    if (!progress_is_ours()) return;
    std::string text = json.text();
    std::replace(text.begin(), text.end(), '\n', ' ');
    if (std::fprintf(file_, "%s\n", text.c_str()) < 0 || std::fflush(file_) != 0)
      throw Exit(kMachine, std::string("--cases: ") + std::strerror(errno));
  }

  std::FILE* file_;
};

// Null where the ladder has no such row.
inline const Row* row_of(const LadderInfo& ladder, const std::string& name) {
  const auto found =
      std::find_if(ladder.rows.begin(), ladder.rows.end(), [&](const Row& row) { return row.name == name; });
  return found == ladder.rows.end() ? nullptr : &*found;
}

// All cases of the variant `row`, known before the first one runs.
inline std::vector<Case> list_cases(const LadderInfo& ladder, const Row& row, bool small) {
  constexpr double kSmallBytes = 256 << 10;
  std::vector<Case> cases;
  for (size_t type = 0; type < ladder.types.size(); ++type) {
    if (!ladder.absent(row, type, current_device()).empty()) continue;
    for (const Shape& shape : ladder.test_shapes) {
      for (size_t maker = 0; maker < ladder.makers.size(); ++maker) {
        if (small && Instance::device_bytes(ladder, type, shape, maker) > kSmallBytes) continue;
        cases.push_back({&ladder, type, &shape, maker});
      }
    }
  }
  return cases;
}

// Exit code: 0 all right, 1 some wrong or a fault, after which no further case runs.
inline int run_cases(const Options& options, const std::vector<const LadderInfo*>& ladders) {
  if (options.variants.size() != 1) throw Exit(kUsage, "--cases goes with one --variant");
  const std::string& name = options.variants[0];
  Cases cases(options.cases);
  bool found = false, good = true;
  for (const LadderInfo* ladder : ladders) {
    for (const Row& row : ladder->rows) {
      if (row.name != name) continue;
      found = true;
      const Row* const begun = row_of(*ladder, options.begun);
      if (begun == nullptr && !options.begun.empty())
        throw Exit(kUsage, "--begun " + options.begun + ": " + ladder->name + " has no such variant",
                   "--list");
      const std::vector<Case> all = list_cases(*ladder, row, options.small);
      cases.header(*ladder, all.size());
      Stream stream;
      for (const Case& one : all) {
        progress_at(one.name());
        Instance instance(*ladder, one.type, *one.shape, one.maker);
        if (begun != nullptr) instance.begins_as(*begun);
        bool takes = instance.supports(row);
        uint64_t blocks = 0, threads = 0;
        const auto look = [&] {
#ifdef __SIMT__
          const simt::LaunchStats last = simt::stats().last;
          blocks = last.blocks;
          threads = last.threads;
#endif
        };
        Report report;
        if (begun != nullptr && !takes) {  // neither right nor wrong to take what only one of the two takes
          const std::optional<Report> ran = instance.run_or_refuse(row, stream, {{}, look});
          takes = ran.has_value();
          report = ran.value_or(Report{});
        } else {
          report = takes ? instance.run(row, stream, {{}, look}) : instance.refuse(row, stream);
        }
        good = good && report.ok();
        cases.add(one, !report.ok() ? "fail" : takes ? "ok" : "refused", report, blocks, threads);
        if (cudaDeviceSynchronize() != cudaSuccess) return kWrong;
      }
    }
  }
  if (!found) throw Exit(kUsage, "no variant \"" + name + "\"", "--list");
  return good ? 0 : kWrong;
}

}  // namespace detail
}  // namespace days
