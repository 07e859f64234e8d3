// SPDX-License-Identifier: MIT
//
// What run and bench found out, and its JSON: one schema for both, and for the results that are committed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/instance.h"
#include "common/ladder.h"
#include "common/timing.h"

namespace days {

enum class Result { kOk, kFail, kSkip, kMissing };

struct RowResult {
  const Row* row = nullptr;
  Result result = Result::kSkip;
  std::string reason;  // of a skip
  Report report;
  Timing timing;                    // seconds 0: not timed
  size_t workspace = 0;             // bytes of scratch memory
  std::string limit_name;           // of a row that names its own rate; "" where it is the table's
  double limit = 0, sustained = 0;  // as below; 0: cannot be measured here
  double setup_seconds = 0;         // before its launches, in no time above; 0: not set up, or not timed
  // On the CPU backend, of one call of its launcher.
  uint64_t workspace_written = 0;  // bytes of it
  uint64_t launches = 0, threads = 0, barriers = 0, collectives = 0, atomics = 0;
};

struct CpuResult {
  std::string name;
  Shape shape;
  double seconds = 0, bytes = 0, flops = 0;
};

struct TableResult {
  const LadderInfo* ladder = nullptr;
  size_t type = 0;
  Shape shape;
  Traffic traffic;
  double flops = 0;
  std::string limit_name;  // "" where there is no limit
  double limit = 0;        // bytes or operations a second
  double sustained = 0;    // the same when busy for long; 0: not measured
  bool checked = false;    // by the ladder's .check alone
  bool sampled = false;    // checked by the ladder's check_large, not in full against the reference
  bool sweep = false;      // one of a size sweep
  std::vector<RowResult> rows;
  std::vector<CpuResult> cpu;
  Instance::Copies copies;

  double limit_of(const RowResult& row) const { return row.limit_name.empty() ? limit : row.limit; }
  double sustained_of(const RowResult& row) const {
    return row.limit_name.empty() ? sustained : row.sustained;
  }
  // What is shown of a time: operations where they set the pace, else bytes.
  double work() const { return flops > 0 ? flops : traffic.bytes(); }
  const char* unit() const { return flops > 0 ? "TFLOP/s" : "GB/s"; }
  double rate(double seconds) const { return seconds > 0 ? work() / seconds / (flops > 0 ? 1e12 : 1e9) : 0; }
};

// The whole file, schema 1: docs/results.md describes it. `command` is what measured: "run" or "bench".
std::string results_json(const std::vector<TableResult>& tables, const std::string& command);
// Writes it to a file as OutputFile does; false where that fails, and errno says why.
bool write_text(const std::string& path, const std::string& text);

}  // namespace days
