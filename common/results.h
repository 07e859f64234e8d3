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
  Timing timing;                                                     // seconds 0: not timed
  uint64_t threads = 0, barriers = 0, collectives = 0, atomics = 0;  // on the CPU backend
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
  std::vector<RowResult> rows;
  std::vector<CpuResult> cpu;
  Instance::Copies copies;

  // What is shown of a time: operations where they set the pace, else bytes.
  double work() const { return flops > 0 ? flops : traffic.bytes(); }
  const char* unit() const { return flops > 0 ? "TFLOP/s" : "GB/s"; }
  double rate(double seconds) const { return seconds > 0 ? work() / seconds / (flops > 0 ? 1e12 : 1e9) : 0; }
};

// The whole file: machine, versions, date, and the tables. Schema 1:
//   schema, day, backend ("cuda" or "simt"), device {name, sm, multiprocessors, memory_bytes, l2_bytes,
//   max_clock_mhz, max_memory_clock_mhz}, driver and cuda (versions), commit (of $DAYS_COMMIT), date (UTC),
//   tables [{ladder, type, shape {extent: n}, read_bytes, written_bytes, flops, limit {name, per_second},
//            copies {to_device_seconds, to_host_seconds, memory},
//            rows [{name, kind ("variant", "library" or "cpu"), result ("ok", "fail", "skip" or "missing"),
//            reason, report,
//                   worst_error, seconds (the median), noise (relative), runs, bytes_per_second,
//                   flops_per_second, of_limit, threads, barriers, warp_collectives, atomics (the last four:
//                   CPU backend)}]}]
// What does not apply is absent. A row of kind "cpu" has its own shape [n, ...] and seconds, measured on the
// host.
std::string results_json(const std::vector<TableResult>& tables);

}  // namespace days
