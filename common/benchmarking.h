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
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "common/device.h"
#include "common/instance.h"
#include "common/ladder.h"
#include "common/limits.h"
#include "common/timing.h"

#define BENCH_LADDER(day, ladder)                                  \
  [[maybe_unused]] static const bool days_bench_##day##_##ladder = \
      ::days::benchmarking_detail::register_ladder(#day "/" #ladder, day::ladder)

namespace days::benchmarking_detail {

inline constexpr int kRepetitions = 7;

// One problem with its buffers, and which rows have been checked on it.
struct Contest {
  std::unique_ptr<Instance> instance;
  std::map<std::string, std::string> verdicts;  // of a row: "" right, else what is wrong
};

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
    const std::string absent = ladder.absent(row, type, current_device());
    if (!absent.empty()) return state.SkipWithError(absent.c_str());
    Contest& now = contest(ladder, type, shape);
    Instance& instance = *now.instance;
    if (!instance.supports(row)) return state.SkipWithError(("needs " + row.needs_text).c_str());
    Stream stream;
    if (now.verdicts.count(row.name) == 0) {
      const Report report = instance.run(row, stream);
      now.verdicts[row.name] = report.ok() ? "" : "wrong: " + report.lines().front();
    }
    if (!now.verdicts[row.name].empty()) return state.SkipWithError(now.verdicts[row.name].c_str());

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
      if (instance.traffic().bytes() > 0) state.counters["bytes/s"] = instance.traffic().bytes() / once;
      if (instance.flops() > 0) state.counters["FLOP/s"] = instance.flops() / once;
    }
  } catch (const std::exception& error) {
    state.SkipWithError(error.what());
  }
}

inline bool register_ladder(const std::string& name, const LadderInfo& ladder) {
  for (const Shape& shape : ladder.bench_shapes) {
    for (size_t type = 0; type < ladder.types.size(); ++type) {
      const std::string tail = "/" + ladder.types[type].name + "/" + shape.text("x");
      for (const Row& row : ladder.rows) {
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
        const Shape quick = Instance::cpu_shape(ladder, type, shape);
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
      if (ladder.types[type].parallel) add_cpu("CPU_parallel", true);
    }
  }
  return true;
}

}  // namespace days::benchmarking_detail

// The benchmark program's main. Weak, as in testing.h.
__attribute__((weak)) int main(int argc, char** argv) {
  std::vector<char*> arguments(argv, argv + argc);
  char interleave[] = "--benchmark_enable_random_interleaving=true";
  char counters[] = "--benchmark_counters_tabular=true";
  arguments.insert(arguments.begin() + 1, {interleave, counters});  // first, so that the user's own flags win
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 2;
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
  } catch (const days::CudaError& error) {
    const std::string machine = days::machine_error(error.code());
    std::fprintf(stderr, "error: %s\n%s", machine.empty() ? error.what() : machine.c_str(),
                 machine.empty() ? "" : "  ./days doctor\n");
    return 3;
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
