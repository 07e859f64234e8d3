// SPDX-License-Identifier: MIT
//
// Benchmarks of a ladder with Google Benchmark, and the main() of a benchmark program.
//
//   BENCH_LADDER(day05, matmul);    // every variant, baseline and CPU version, on every .bench shape
//
// Times are manual times from CUDA events, the L2 cache flushed before each run; repetitions of all
// contestants are interleaved at random. A contestant whose result is wrong is not timed. %limit is of this
// device's own ceiling, measured in the same run.
#pragma once

#include <benchmark/benchmark.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "common/device.h"
#include "common/instance.h"
#include "common/ladder.h"
#include "common/limits.h"
#include "common/results.h"
#include "common/timing.h"

#define BENCH_LADDER(day, ladder)                                  \
  [[maybe_unused]] static const bool days_bench_##day##_##ladder = \
      ::days::benchmarking_detail::register_ladder(#day "/" #ladder, day::ladder)

namespace days::benchmarking_detail {

inline constexpr int kRepetitions = 7;

// One problem with its buffers, and which rows have been checked on it.
struct Contest {
  std::unique_ptr<Instance> instance;
  std::map<std::string, Report> reports;  // of the rows
};

// Of one row, over all its repetitions.
struct Record {
  const Row* row = nullptr;  // null: a CPU version
  std::string reason;        // why it was not timed
  std::vector<double> seconds;
};
struct Records {
  Shape shape;
  std::map<std::string, Record> rows;
};
// By ladder, type and shape, for --json.
inline std::map<std::tuple<const LadderInfo*, size_t, std::string>, Records>& records() {
  static std::map<std::tuple<const LadderInfo*, size_t, std::string>, Records> all;
  return all;
}
inline Record& record(const LadderInfo& ladder, size_t type, const Shape& shape, const std::string& name) {
  Records& found = records()[{&ladder, type, shape.text()}];
  found.shape = shape;
  return found.rows[name];
}

// Kept while the program runs, since repetitions of all are interleaved; given up when the device's memory is
// full.
inline Contest& contest(const LadderInfo& ladder, size_t type, const Shape& shape) {
  static auto& all = *new std::map<std::tuple<const LadderInfo*, size_t, std::string>, Contest>;
  Contest& found = all[{&ladder, type, shape.text()}];
  if (found.instance) return found;
  try {
    found.instance = std::make_unique<Instance>(ladder, type, shape);
  } catch (const CudaError& error) {
    if (error.code() != cudaErrorMemoryAllocation) throw;
    for (auto& [key, other] : all) other.instance.reset();
    found.instance = std::make_unique<Instance>(ladder, type, shape);
  }
  return found;
}

// Operations or bytes a second that this device can do, 0 where unknown. Measured once.
inline double limit_of(const Instance& instance) {
  static std::map<Rate, double> rates;
  static std::map<Mix, double> mixes;
  const Rate rate = instance.ladder().rate;
  if (rate != Rate::kNone) {
    if (rates.count(rate) == 0) rates[rate] = rate_limit(rate).value_or(Ceiling{}).burst;
    return rates[rate];
  }
  const Mix mix = mix_of(instance.traffic());
  if (mixes.count(mix) == 0) mixes[mix] = bandwidth_limit(mix).value_or(Ceiling{}).burst;
  return mixes[mix];
}

inline void bench_row(benchmark::State& state, const LadderInfo& ladder, const Row& row, size_t type,
                      const Shape& shape) {
  try {
    Record& kept = record(ladder, type, shape, row.name);
    kept.row = &row;
    const auto skip = [&](const std::string& reason) {
      kept.reason = reason;
      state.SkipWithError(reason.c_str());
    };
    const std::string absent = ladder.absent(row, type, current_device());
    if (!absent.empty()) return skip(absent);
    Contest& now = contest(ladder, type, shape);
    Instance& instance = *now.instance;
    if (!instance.supports(row)) return skip("needs " + row.needs_text);
    Stream stream;
    if (now.reports.count(row.name) == 0) now.reports[row.name] = instance.run(row, stream);
    if (!now.reports[row.name].ok()) return skip("wrong: " + now.reports[row.name].lines().front());

    const double limit = limit_of(instance);
    instance.prepare(row);
    L2Flush flush;
    EventTimer timer;
    flush(stream);
    instance.launch(row, stream);
    double seconds = 0;
    for (auto _ : state) {
      flush(stream);
      timer.start(stream);
      instance.launch(row, stream);
      timer.stop(stream);
      const double once = timer.seconds();
      state.SetIterationTime(once);
      kept.seconds.push_back(once);
      seconds += once;
    }
    const double runs = static_cast<double>(state.iterations()), bytes = instance.traffic().bytes(),
                 flops = instance.flops();
    if (runs == 0 || seconds <= 0) return;
    if (bytes > 0) state.counters["bytes/s"] = bytes * runs / seconds;
    if (flops > 0) state.counters["FLOP/s"] = flops * runs / seconds;
    const double work = ladder.rate != Rate::kNone ? flops : bytes;
    if (limit > 0) state.counters["%limit"] = 100 * work * runs / seconds / limit;
  } catch (const std::exception& error) {
    state.SkipWithError(error.what());
  }
}

inline void bench_cpu(benchmark::State& state, const LadderInfo& ladder, size_t type, const Shape& shape,
                      bool parallel) {
  try {
    Instance& instance = *contest(ladder, type, shape).instance;
    for (auto _ : state) {
      const double once = parallel ? instance.parallel_seconds() : instance.reference_seconds();
      state.SetIterationTime(once);
      record(ladder, type, shape, parallel ? "CPU threads" : "CPU loops").seconds.push_back(once);
      if (instance.traffic().bytes() > 0) state.counters["bytes/s"] = instance.traffic().bytes() / once;
      if (instance.flops() > 0) state.counters["FLOP/s"] = instance.flops() / once;
    }
  } catch (const std::exception& error) {
    state.SkipWithError(error.what());
  }
}

// Called from main, when the libraries' own registrations have been made.
inline void register_now(const std::string& name, const LadderInfo& ladder) {
  for (const Shape& shape : ladder.bench_shapes) {
    for (size_t type = 0; type < ladder.types.size(); ++type) {
      const std::string tail = "/" + ladder.types[type].name + "/" + shape.text("x");
      for (const Row& row : ladder.rows) {
        if (ladder.launcher(row, type) == nullptr) {  // said once, instead of at every repetition
          record(ladder, type, shape, row.name) = {&row, ladder.absent(row, type, Device{}), {}};
          std::fprintf(stderr, "%s/%s%s: %s\n", name.c_str(), row.name.c_str(), tail.c_str(),
                       ladder.absent(row, type, Device{}).c_str());
          continue;
        }
        benchmark::RegisterBenchmark(
            (name + "/" + row.name + tail).c_str(),
            [&ladder, &row, type, shape](benchmark::State& s) { bench_row(s, ladder, row, type, shape); })
            ->UseManualTime()
            ->MinTime(0.05)
            ->Repetitions(kRepetitions)
            ->ReportAggregatesOnly(true)
            ->Unit(benchmark::kMicrosecond);
      }
      // The CPU's versions run on a shape that takes them seconds, not hours; its name says which.
      const auto add_cpu = [&](const char* which, bool parallel) {
        static std::set<std::string> added;
        const Shape quick = Instance::cpu_shape(ladder, type, shape);
        if (!added.insert(name + which + ladder.types[type].name + quick.text()).second) return;
        benchmark::RegisterBenchmark(
            (name + "/" + which + "/" + ladder.types[type].name + "/" + quick.text("x")).c_str(),
            [&ladder, type, quick, parallel](benchmark::State& s) {
              bench_cpu(s, ladder, type, quick, parallel);
            })
            ->UseManualTime()
            ->Iterations(1)
            ->Unit(benchmark::kMicrosecond);
      };
      add_cpu("CPU_loops", false);
      if (ladder.types[type].parallel) add_cpu("CPU_threads", true);
    }
  }
}

inline std::vector<std::pair<std::string, const LadderInfo*>>& ladders() {
  static std::vector<std::pair<std::string, const LadderInfo*>> all;
  return all;
}
inline bool register_ladder(const std::string& name, const LadderInfo& ladder) {
  ladders().push_back({name, &ladder});
  return true;
}

// What was recorded, in the form of results.h.
inline std::vector<TableResult> tables() {
  std::vector<TableResult> all;
  for (const auto& [key, found] : records()) {
    TableResult table;
    table.ladder = std::get<0>(key);
    table.type = std::get<1>(key);
    table.shape = found.shape;
    Contest& now = contest(*table.ladder, table.type, table.shape);
    table.traffic = now.instance->traffic();
    table.flops = now.instance->flops();
    table.limit_name = table.ladder->rate != Rate::kNone
                           ? std::string(rate_name(table.ladder->rate)) + " rate"
                           : mix_name(mix_of(table.traffic));
    table.limit = limit_of(*now.instance);
    for (const auto& [name, kept] : found.rows) {
      const Timing timing = summarize(kept.seconds);
      if (kept.row == nullptr) {
        table.cpu.push_back({name, table.shape, timing.seconds, table.traffic.bytes(), table.flops});
        continue;
      }
      RowResult row;
      row.row = kept.row;
      row.report = now.reports[name];
      row.reason = kept.reason;
      row.timing = timing;
      row.result = !row.report.ok()      ? Result::kFail
                   : kept.reason.empty() ? Result::kOk
                   : kept.row->baseline  ? Result::kMissing
                                         : Result::kSkip;
      table.rows.push_back(row);
    }
    all.push_back(std::move(table));
  }
  return all;
}

}  // namespace days::benchmarking_detail

// The benchmark program's main: Google Benchmark's flags, and --json FILE for the results in results.h's
// schema (Google Benchmark's own is --benchmark_out). Weak, as in testing.h.
__attribute__((weak)) int main(int argc, char** argv) {
  std::vector<char*> arguments;
  std::string json;
  bool listing = false;  // needs no device
  for (int i = 0; i < argc; ++i) {
    if (std::strncmp(argv[i], "--json=", 7) == 0) {
      json = argv[i] + 7;
    } else if (std::strcmp(argv[i], "--json") == 0 && i + 1 < argc) {
      json = argv[++i];
    } else {
      listing = listing || std::strncmp(argv[i], "--benchmark_list_tests", 22) == 0;
      arguments.push_back(argv[i]);
    }
  }
  char interleave[] = "--benchmark_enable_random_interleaving=true";
  char counters[] = "--benchmark_counters_tabular=true";
  arguments.insert(arguments.begin() + 1, {interleave, counters});  // first, so that the user's own flags win
  int count = static_cast<int>(arguments.size());
  for (const auto& [name, ladder] : days::benchmarking_detail::ladders()) {
    days::benchmarking_detail::register_now(name, *ladder);
  }
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 2;
  if (listing) {
    benchmark::RunSpecifiedBenchmarks();
    return 0;
  }
  try {
    const days::Device& device = days::current_device();
    if (device.simt) {
      std::fprintf(stderr,
                   "error: a benchmark needs a GPU; ./days run shows each kernel's result on this CPU\n");
      return 3;
    }
    benchmark::AddCustomContext("device", device.name + " " + device.sm());
    benchmark::AddCustomContext("cuda", days::cuda_version(device.runtime));
    benchmark::AddCustomContext("driver", days::cuda_version(device.driver));
    benchmark::AddCustomContext("max_clock_mhz", std::to_string(device.clock_khz / 1000));
    benchmark::RunSpecifiedBenchmarks();
    if (!json.empty()) {
      const std::string text = days::results_json(days::benchmarking_detail::tables());
      std::FILE* file = std::fopen(json.c_str(), "w");
      const bool written = file != nullptr && std::fputs(text.c_str(), file) >= 0;
      if (file == nullptr || std::fclose(file) != 0 || !written) {
        std::fprintf(stderr, "error: --json %s could not be written\n", json.c_str());
        return 2;
      }
    }
  } catch (const days::CudaError& error) {
    const std::string machine = days::machine_error(error.code());
    std::fprintf(stderr, "error: %s\n%s", machine.empty() ? error.what() : machine.c_str(),
                 machine.empty() ? "" : "  ./days doctor\n");
    return machine.empty() ? 1 : 3;
  }
  benchmark::Shutdown();
  return 0;
}
