// SPDX-License-Identifier: MIT
//
// The main() of dayNN_bench: Google Benchmark with manual time from CUDA events, over the ladders that
// the day registers. The L2 cache is flushed before each launch, and repetitions of all contestants are
// interleaved at random, so that a clock that drifts slows all of them alike. A contestant whose result is
// wrong is not timed. Limits are this device's own, measured in the same run.
//
// With --quiet, as ./days bench runs it, the contestants of one shape compete by themselves and their memory
// is given back before the next; Google Benchmark's own output is left out, and --json FILE has the results.
//
// What does not depend on a kernel is not measured with each: sustained limits are kept in the file of
// --limits=FILE, and with --no-cpu and --cpu-only the CPU's versions have their own time, when nothing else runs.

#include <benchmark/benchmark.h>
#include <cuda_runtime.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "common/device.h"
#include "common/error.h"
#include "common/harness/options.h"
#include "common/harness/text.h"
#include "common/instance.h"
#include "common/ladder.h"
#include "common/limits.h"
#include "common/output.h"
#include "common/progress.h"
#include "common/results.h"
#include "common/timing.h"

namespace days {
namespace {

using detail::Exit;
using detail::kMachine;
using detail::kUsage;
using detail::kWrong;

constexpr int kRepetitions = 7;
// Launches of one repetition: one at least, at most so many, and no new one after this time. In all that is 56
// launches, or a quarter of a second.
constexpr size_t kMostRuns = 8;
constexpr double kBatchSeconds = 0.25 / kRepetitions;
// Where one launch takes so long, it is not timed.
constexpr double kTooSlowSeconds = 1;
constexpr double kBusySeconds = 3;  // at work before the sustained limit is read

// ---- What is measured ----

struct Record {
  std::string reason;  // why it was not timed
  std::vector<double> seconds;
  double setup_seconds = 0;
  bool warm = false;  // it was launched once before the first that counts
};

// One problem that all contestants solve by turns.
struct Contest {
  const LadderInfo* ladder;
  size_t type;
  Shape shape;
  bool sweep = false;
  std::unique_ptr<Instance> instance;  // made when the first contestant comes
  std::map<std::string, Report> reports;
  std::map<std::string, Record> records;  // of rows and CPU versions

  std::string name() const {  // "day05/matmul"
    return (ladder->day.empty() ? "" : ladder->day.substr(0, 5) + "/") + ladder->name;
  }
  // "matmul fp32 1024x1024x1024", with " sweep" after it
  std::string key() const {
    return ladder->name + " " + ladder->types[type].name + " " + shape.text("x") + (sweep ? " sweep" : "");
  }
  std::string tail() const { return "/" + ladder->types[type].name + "/" + shape.text("x"); }
};

std::vector<std::unique_ptr<Contest>>& contests() {
  static auto& all = *new std::vector<std::unique_ptr<Contest>>;
  return all;
}

Instance& instance_of(Contest& contest) {
  if (contest.instance) return *contest.instance;
  const auto make = [&] {
    contest.instance = std::make_unique<Instance>(*contest.ladder, contest.type, contest.shape);
  };
  try {
    make();
  } catch (const CudaError& error) {
    if (error.code() != cudaErrorMemoryAllocation) throw;
    for (const auto& other : contests()) other->instance.reset();
    make();
  }
  return *contest.instance;
}

struct Limit {
  std::string name;
  Ceiling ceiling;
};

// Sustained limits that were measured before, and where new ones go: a line each, NAME<tab>PER SECOND. The file
// is of one GPU, driver and boot, which whoever names it sees to.
struct KnownLimits {
  std::string path;
  std::map<std::string, double> sustained;

  void read(const std::string& from) {
    path = from;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
      const size_t tab = line.find('\t');
      if (file.eof() || tab == std::string::npos) continue;  // a line without its end was cut off
      const double value = std::strtod(line.c_str() + tab + 1, nullptr);
      if (value > 0) sustained[line.substr(0, tab)] = value;
    }
  }
  void keep(const std::string& name, double value) {
    sustained[name] = value;
    if (path.empty() || !(value > 0)) return;
    std::ofstream file(path, std::ios::app);
    char text[32];
    std::snprintf(text, sizeof(text), "%.17g", value);
    file << name + "\t" + text + "\n";
  }
};
KnownLimits& known_limits() {
  static auto& known = *new KnownLimits;
  return known;
}

// Measured once a mix or an instruction, before the first contestant; the sustained one by settle().
Limit& limit_of(const Instance& instance, Rate rate) {
  static auto& all = *new std::map<std::pair<Rate, Mix>, Limit>;
  const Mix mix = rate == Rate::kNone ? mix_of(instance.traffic()) : Mix::kCopy;
  const auto [found, fresh] = all.try_emplace({rate, mix});
  Limit& limit = found->second;
  if (fresh) {
    limit.name = rate == Rate::kNone ? mix_name(mix) : std::string(rate_name(rate)) + " rate";
    limit.ceiling = (rate == Rate::kNone ? bandwidth_limit(mix) : rate_limit(rate)).value_or(Ceiling{});
  }
  return limit;
}
// After the contestants, so that those of the first shape do not run on a device that this has heated.
void settle(const Instance& instance, Rate rate) {
  Limit& limit = limit_of(instance, rate);
  if (limit.ceiling.sustained > 0 || limit.ceiling.burst == 0) return;
  const auto known = known_limits().sustained.find(limit.name);
  if (known != known_limits().sustained.end()) {
    limit.ceiling.sustained = known->second;
    return;
  }
  const auto measured = rate == Rate::kNone ? bandwidth_limit(mix_of(instance.traffic()), kBusySeconds)
                                            : rate_limit(rate, kBusySeconds);
  limit.ceiling.sustained = measured.value_or(Ceiling{}).sustained;
  known_limits().keep(limit.name, limit.ceiling.sustained);
}

void progress(const std::string& text) {
  if (!text.empty()) progress_at(text);
  if (isatty(2) == 0) return;
  std::fprintf(stderr, "\r\033[K%s", text.c_str());
  std::fflush(stderr);
}

// ---- Google Benchmark's side ----

void time_row(benchmark::State& state, Contest& contest, const Row& row) {
  try {
    Record& kept = contest.records[row.name];
    const auto skip = [&](const std::string& reason) {
      kept.reason = reason;
      state.SkipWithError(reason.c_str());
    };
    if (!kept.reason.empty()) return skip(kept.reason);
    const std::string absent = contest.ladder->absent(row, contest.type, current_device());
    if (!absent.empty()) return skip(absent);
    Instance& instance = instance_of(contest);
    if (!instance.supports(row)) return skip("needs " + row.needs_text);
    Stream stream;
    if (contest.reports.count(row.name) == 0) {
      progress("checking " + row.name + contest.tail());
      contest.reports[row.name] = instance.run(row, stream);
    }
    if (!contest.reports[row.name].ok()) return skip("wrong: " + contest.reports[row.name].lines().front());

    const double limit = limit_of(instance, instance.rate(row)).ceiling.burst;
    progress("timing " + row.name + contest.tail());
    instance.prepare(row);
    kept.setup_seconds = instance.setup_seconds();
    L2Flush flush;
    EventTimer timer;
    if (!kept.warm) {
      flush(stream);
      timer.start(stream);
      instance.launch(row, stream);
      timer.stop(stream);
      const double once = timer.seconds();
      if (once > kTooSlowSeconds && !current_device().simt)
        return skip("not timed: one launch takes " + detail::time_text(once));
      kept.warm = true;
    }
    double typical = 0;
    for (auto _ : state) {
      std::vector<double> batch;
      double spent = 0;
      while (batch.empty() || (batch.size() < kMostRuns && spent < kBatchSeconds)) {
        flush(stream);
        timer.start(stream);
        instance.launch(row, stream);
        timer.stop(stream);
        batch.push_back(timer.seconds());
        spent += batch.back();
      }
      kept.seconds.insert(kept.seconds.end(), batch.begin(), batch.end());
      typical = median(batch);
      state.SetIterationTime(typical);
    }
    const double bytes = instance.traffic().bytes(), flops = instance.flops();
    if (typical <= 0) return;
    if (bytes > 0) state.counters["bytes/s"] = bytes / typical;
    if (flops > 0) state.counters["FLOP/s"] = flops / typical;
    const double work = contest.ladder->pace != Rate::kNone ? flops : bytes;
    if (limit > 0) state.counters["%limit"] = 100 * work / typical / limit;
  } catch (const std::exception& error) {
    state.SkipWithError(error.what());
  }
}

void time_cpu(benchmark::State& state, Contest& contest, bool parallel) {
  try {
    progress("timing the CPU" + contest.tail());
    Instance& instance = instance_of(contest);
    for (auto _ : state) {
      const double once = parallel ? instance.parallel_seconds() : instance.reference_seconds();
      state.SetIterationTime(once);
      contest.records[parallel ? "CPU threads" : "CPU loops"].seconds.push_back(once);
      if (instance.traffic().bytes() > 0) state.counters["bytes/s"] = instance.traffic().bytes() / once;
      if (instance.flops() > 0) state.counters["FLOP/s"] = instance.flops() / once;
    }
  } catch (const std::exception& error) {
    state.SkipWithError(error.what());
  }
}

// The CPU's versions run on a shape that takes them seconds, not hours.
bool cpu_takes(const Contest& contest) {
  return Instance::cpu_shape(*contest.ladder, contest.type, contest.shape) == contest.shape;
}

struct Flags {
  detail::Options options;
  bool sweep = false, quiet = false, listing = false, tables = false;
  bool no_cpu = false, cpu_only = false;
  std::optional<std::vector<std::string>> only;  // keys of contests, in the order wanted
  double seconds = 0;                            // 0: no end
  std::vector<char*> benchmark;                  // Google Benchmark's, argv[0] first

  bool takes(const Row& row) const {
    const std::vector<std::string>& names = options.variants;
    if (names.empty()) return !row.exercise;
    return std::find(names.begin(), names.end(), row.name) != names.end();
  }
};

void register_contest(Contest& contest, const Flags& flags) {
  for (const Row& row : contest.ladder->rows) {
    if (!flags.takes(row)) continue;
    if (contest.ladder->launcher(row, contest.type) == nullptr) {  // said once, not at every repetition
      contest.records[row.name].reason = contest.ladder->absent(row, contest.type, Device{});
      continue;
    }
    benchmark::RegisterBenchmark((contest.name() + "/" + row.name + contest.tail()).c_str(),
                                 [&contest, &row](benchmark::State& s) { time_row(s, contest, row); })
        ->UseManualTime()
        ->Iterations(1)
        ->Repetitions(kRepetitions)
        ->ReportAggregatesOnly(true)
        ->Unit(benchmark::kMicrosecond);
  }
  if (!cpu_takes(contest) || contest.sweep || flags.no_cpu) return;
  for (const bool parallel : {false, true}) {
    if (parallel && !contest.ladder->types[contest.type].parallel) continue;
    const char* which = parallel ? "/CPU_threads" : "/CPU_loops";
    benchmark::RegisterBenchmark(
        (contest.name() + which + contest.tail()).c_str(),
        [&contest, parallel](benchmark::State& s) { time_cpu(s, contest, parallel); })
        ->UseManualTime()
        ->Iterations(1)
        ->Unit(benchmark::kMicrosecond);
  }
}

class Silent : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>&) override {}
};

// ---- Results ----

RowResult result_of(const Contest& contest, const Row& row, const Record& record) {
  RowResult result;
  result.row = &row;
  result.reason = record.reason;
  result.timing = summarize(record.seconds);
  result.setup_seconds = record.setup_seconds;
  if (contest.instance) result.workspace = contest.instance->workspace_bytes(row);
  if (const auto report = contest.reports.find(row.name); report != contest.reports.end())
    result.report = report->second;
  result.result = !result.report.ok()     ? Result::kFail
                  : record.reason.empty() ? Result::kOk
                  : row.baseline          ? Result::kMissing
                                          : Result::kSkip;
  return result;
}

void add_cpu(TableResult& table, Contest& contest) {
  for (const char* name : {"CPU loops", "CPU threads"}) {
    const auto found = contest.records.find(name);
    if (found == contest.records.end()) continue;
    const Instance& instance = *contest.instance;
    table.cpu.push_back({name, contest.shape, summarize(found->second.seconds).seconds,
                         instance.traffic().bytes(), instance.flops()});
  }
}

// A shape on which the CPU would take minutes shows a smaller one's times, which tables of one smaller shape share.
void add_smaller_cpu(TableResult& table, const Contest& contest) {
  static std::map<std::string, decltype(table.cpu)> known;
  const Shape shape = Instance::cpu_shape(*contest.ladder, contest.type, contest.shape);
  Contest smaller{contest.ladder, contest.type, shape, false, {}, {}, {}};
  const auto [found, is_new] = known.try_emplace(smaller.name() + smaller.tail());
  if (is_new) {
    Instance& instance = instance_of(smaller);
    smaller.records["CPU loops"].seconds = {instance.reference_seconds()};
    if (contest.ladder->types[contest.type].parallel)
      smaller.records["CPU threads"].seconds = {instance.parallel_seconds()};
    TableResult alone;
    add_cpu(alone, smaller);
    found->second = alone.cpu;
  }
  table.cpu = found->second;
}

TableResult table_of(Contest& contest, const Flags& flags) {
  TableResult table;
  table.ladder = contest.ladder;
  table.type = contest.type;
  table.shape = contest.shape;
  table.sweep = contest.sweep;
  Instance& instance = instance_of(contest);
  table.traffic = instance.traffic();
  table.flops = instance.flops();
  table.sampled = instance.large();
  table.checked = instance.checked();
  if (!current_device().simt && (table.traffic.bytes() > 0 || table.ladder->pace != Rate::kNone)) {
    settle(instance, instance.rate());
    const Limit& limit = limit_of(instance, instance.rate());
    table.limit_name = limit.name;
    table.limit = limit.ceiling.burst;
    table.sustained = limit.ceiling.sustained;
  }
  for (const Row& row : contest.ladder->rows) {
    const auto found = contest.records.find(row.name);
    if (found == contest.records.end()) continue;
    RowResult result = result_of(contest, row, found->second);
    if (result.timing.seconds > 0 && instance.rate(row) != instance.rate() && !current_device().simt) {
      settle(instance, instance.rate(row));
      const Limit& limit = limit_of(instance, instance.rate(row));
      result.limit_name = limit.name;
      result.limit = limit.ceiling.burst;
      result.sustained = limit.ceiling.sustained;
    }
    table.rows.push_back(std::move(result));
  }
  if (contest.sweep) return table;
  if (!current_device().simt) table.copies = instance.copy_seconds();
  if (flags.no_cpu) return table;
  cpu_takes(contest) ? add_cpu(table, contest) : add_smaller_cpu(table, contest);
  return table;
}

// The CPU's rows of a contest, and nothing else of it.
TableResult cpu_table_of(Contest& contest) {
  TableResult table;
  table.ladder = contest.ladder;
  table.type = contest.type;
  table.shape = contest.shape;
  if (cpu_takes(contest)) {
    Instance& instance = instance_of(contest);
    contest.records["CPU loops"].seconds = {instance.reference_seconds()};
    if (contest.ladder->types[contest.type].parallel)
      contest.records["CPU threads"].seconds = {instance.parallel_seconds()};
    add_cpu(table, contest);
    table.traffic = instance.traffic();
    table.flops = instance.flops();
  } else {
    add_smaller_cpu(table, contest);
  }
  return table;
}

bool wants_type(const LadderInfo& ladder, size_t type, const Flags& flags, bool sweep);

// A sweep's point that is a benchmark's shape, too, is that table without what sweeps leave out.
std::optional<TableResult> swept(const TableResult& table, const Flags& flags) {
  const LadderInfo& ladder = *table.ladder;
  const std::vector<Shape>& shapes = ladder.sweep_shapes;
  if (table.sweep || !flags.sweep || flags.options.size || !wants_type(ladder, table.type, flags, true) ||
      std::find(shapes.begin(), shapes.end(), table.shape) == shapes.end())
    return std::nullopt;
  TableResult point = table;
  point.sweep = true;
  point.copies = {};
  point.cpu.clear();
  return point;
}

// ---- Which contests ----

bool fits(const LadderInfo& ladder, size_t type, const Shape& shape, double bytes) {
  try {
    return Instance::device_bytes(ladder, type, shape) <= bytes;
  } catch (const TooLarge&) {
    return false;
  }
}

std::vector<Shape> shapes_of(const LadderInfo& ladder, const Flags& flags, bool sweep) {
  if (sweep) return flags.sweep && !flags.options.size ? ladder.sweep_shapes : std::vector<Shape>{};
  if (flags.options.size) return {*flags.options.size};
  return current_device().simt ? ladder.show_shapes : ladder.bench_shapes;
}

bool wants_type(const LadderInfo& ladder, size_t type, const Flags& flags, bool sweep) {
  const std::vector<std::string>& types = flags.options.types;
  const std::string& swept = ladder.sweep_axis.type;
  if (types.empty() && sweep) return swept.empty() ? type == 0 : ladder.types[type].name == swept;
  if (types.empty()) return type == 0 || !current_device().simt;
  return std::any_of(types.begin(), types.end(),
                     [&](const std::string& t) { return t == "all" || t == ladder.types[type].name; });
}

void add_contests(const LadderInfo& ladder, const Flags& flags, double bytes) {
  // On the CPU backend a sweep stops at what .show has, since each thread costs some nanoseconds.
  for (const bool sweep : {false, true}) {
    for (size_t type = 0; type < ladder.types.size(); ++type) {
      if (!wants_type(ladder, type, flags, sweep)) continue;
      const double most = !sweep || !current_device().simt || ladder.show_shapes.empty()
                              ? bytes
                              : Instance::device_bytes(ladder, type, ladder.show_shapes[0]);
      for (const Shape& shape : shapes_of(ladder, flags, sweep)) {
        if (fits(ladder, type, shape, most)) {
          contests().push_back(
              std::unique_ptr<Contest>(new Contest{&ladder, type, shape, sweep, {}, {}, {}}));
        } else {
          std::fprintf(stderr, "%s %s %s is left out: too large for %s\n", ladder.name.c_str(),
                       shape.text("x").c_str(), ladder.types[type].name.c_str(),
                       current_device().name.c_str());
        }
      }
    }
  }
}

// Every name of --variant and --type must be somewhere, and --size fit one ladder at least.
void check_names(const Flags& flags) {
  std::vector<std::string> rows, types = {"all"};
  std::string extents;
  bool sized = !flags.options.size;
  for (const LadderInfo* ladder : registered_ladders()) {
    for (const Row& row : ladder->rows) rows.push_back(row.name);
    for (const Typed& type : ladder->types) types.push_back(type.name);
    sized = sized || ladder->extents.size() == flags.options.size->size();
    for (const std::string& extent : ladder->extents)
      extents += (&extent != &ladder->extents[0] ? "x" : extents.empty() ? "" : ", ") + extent;
  }
  const auto check = [](const char* what, const std::vector<std::string>& names,
                        const std::vector<std::string>& known) {
    for (const std::string& name : names) {
      if (std::find(known.begin(), known.end(), name) != known.end()) continue;
      const std::string near = detail::nearest(name, known);
      throw Exit(kUsage, std::string("no ") + what + " \"" + name + "\"" +
                             (near.empty() ? "" : ". Nearest: " + near));
    }
  };
  check("variant", flags.options.variants, rows);
  check("type", flags.options.types, types);
  if (!sized) throw Exit(kUsage, "--size " + flags.options.size_text + " fits nothing here: " + extents);
}

void make_contests(const Flags& flags) {
  check_names(flags);
  size_t free = 0, total = 0;
  CUDA_CHECK(cudaMemGetInfo(&free, &total));
  for (const LadderInfo* ladder : registered_ladders()) {
    if (flags.options.size && ladder->extents.size() != flags.options.size->size()) continue;
    const bool any = std::any_of(ladder->rows.begin(), ladder->rows.end(),
                                 [&](const Row& row) { return flags.takes(row); });
    if (any) add_contests(*ladder, flags, 0.9 * static_cast<double>(free));
  }
  if (flags.only) {
    std::vector<std::unique_ptr<Contest>> wanted;
    for (const std::string& key : *flags.only) {
      const auto found = std::find_if(contests().begin(), contests().end(),
                                      [&](const auto& contest) { return contest && contest->key() == key; });
      if (found != contests().end()) wanted.push_back(std::move(*found));
    }
    contests() = std::move(wanted);
  }
  if (contests().empty()) throw Exit(kMachine, "nothing of this benchmark fits this device's memory");
}

// ---- Runs ----

// On the CPU backend nothing is timed but the CPU's own versions: each kernel is checked.
void check_on_cpu(Contest& contest, const Flags& flags) {
  Instance& instance = instance_of(contest);
  Stream stream;
  for (const Row& row : contest.ladder->rows) {
    if (!flags.takes(row)) continue;
    Record& record = contest.records[row.name];
    record.reason = contest.ladder->absent(row, contest.type, current_device());
    if (record.reason.empty() && !instance.supports(row)) record.reason = "needs " + row.needs_text;
    if (!record.reason.empty()) continue;
    progress("checking " + row.name + contest.tail());
    contest.reports[row.name] = instance.run(row, stream);
  }
  if (!cpu_takes(contest) || contest.sweep || flags.no_cpu) return;
  contest.records["CPU loops"].seconds = {instance.reference_seconds()};
  if (contest.ladder->types[contest.type].parallel)
    contest.records["CPU threads"].seconds = {instance.parallel_seconds()};
}

int verdict(const std::vector<TableResult>& tables) {
  size_t ran = 0;
  bool failed = false;
  for (const TableResult& table : tables) {
    for (const RowResult& row : table.rows) {
      failed = failed || row.result == Result::kFail;
      ran += row.result == Result::kOk;
    }
  }
  if (!failed && ran == 0) std::fprintf(stderr, "error: no kernel ran\n");
  return failed || ran == 0 ? kWrong : 0;
}

int run(const Flags& flags) {
  const Device& device = current_device();
  if (device.simt && !flags.quiet) {
    throw Exit(kMachine, "a benchmark needs a GPU; without one ./days bench shows each kernel's result");
  }
  benchmark::AddCustomContext("device", device.name + " " + device.sm());
  benchmark::AddCustomContext("cuda", cuda_version(device.runtime));
  benchmark::AddCustomContext("driver", cuda_version(device.driver));
  make_contests(flags);
  std::vector<TableResult> tables;
  const std::string& json = flags.options.json;
  const auto save = [&] {
    if (!json.empty() && !write_text(json, results_json(tables, "bench")))
      throw Exit(machine_cannot_write(errno) ? kMachine : kUsage, "--json " + json + " could not be written");
  };
  if (flags.quiet) {
    // Time is up where a contest that takes as long as the longest so far would not end in it.
    const auto began = std::chrono::steady_clock::now();
    const auto elapsed = [&] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    };
    double longest = 0;
    const auto have = [&](const Contest& contest) {
      return std::any_of(tables.begin(), tables.end(), [&](const TableResult& table) {
        return table.ladder == contest.ladder && table.type == contest.type && table.shape == contest.shape &&
               table.sweep == contest.sweep;
      });
    };
    for (const std::unique_ptr<Contest>& contest : contests()) {
      if (have(*contest) || (flags.cpu_only && contest->sweep)) continue;
      const double from = elapsed();
      if (flags.seconds > 0 && from + longest > flags.seconds) break;
      if (flags.cpu_only) {
        tables.push_back(cpu_table_of(*contest));
        contest->instance.reset();
        save();
        longest = std::max(longest, elapsed() - from);
        continue;
      }
      if (device.simt) {
        check_on_cpu(*contest, flags);
      } else {
        Silent silent;
        register_contest(*contest, flags);
        benchmark::RunSpecifiedBenchmarks(&silent);
        benchmark::ClearRegisteredBenchmarks();
      }
      tables.push_back(table_of(*contest, flags));
      if (const auto point = swept(tables.back(), flags)) tables.push_back(*point);
      contest->instance.reset();
      save();  // whoever stops a long run keeps what it has measured
      longest = std::max(longest, elapsed() - from);
    }
  } else {
    for (const std::unique_ptr<Contest>& contest : contests()) register_contest(*contest, flags);
    benchmark::RunSpecifiedBenchmarks();
    if (!flags.options.json.empty()) {
      for (const std::unique_ptr<Contest>& contest : contests()) tables.push_back(table_of(*contest, flags));
    }
  }
  progress("");
  save();
  return tables.empty() || flags.cpu_only ? 0 : verdict(tables);
}

// The tables that a GPU of memory enough would have: one a line, what they are of and the variants in them, then
// the libraries, each after a +.
// Needs no device.
int list_tables() {
  for (const LadderInfo* ladder : registered_ladders()) {
    const size_t swept = [&] {
      size_t type = 0;
      while (type + 1 < ladder->types.size() && ladder->types[type].name != ladder->sweep_axis.type) ++type;
      return ladder->sweep_axis.type.empty() ? 0 : type;
    }();
    for (const bool sweep : {false, true}) {
      for (size_t type = 0; type < ladder->types.size(); ++type) {
        if (sweep && type != swept) continue;
        for (const Shape& shape : sweep ? ladder->sweep_shapes : ladder->bench_shapes) {
          std::printf("%s", Contest{ladder, type, shape, sweep, {}, {}, {}}.key().c_str());
          for (const Row& row : ladder->rows) {
            if (!row.exercise && ladder->launcher(row, type) != nullptr)
              std::printf("\t%s%s", row.baseline ? "+" : "", row.name.c_str());
          }
          std::printf("\n");
        }
      }
    }
  }
  return 0;
}

// Lists without a device.
int list(const Flags& flags) {
  for (const LadderInfo* ladder : registered_ladders()) {
    for (const Shape& shape : ladder->bench_shapes) {
      for (size_t type = 0; type < ladder->types.size(); ++type) {
        contests().push_back(std::unique_ptr<Contest>(new Contest{ladder, type, shape, false, {}, {}, {}}));
      }
    }
  }
  for (const std::unique_ptr<Contest>& contest : contests()) register_contest(*contest, flags);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

Flags parse(int argc, char** argv) {
  Flags flags;
  flags.benchmark = {argv[0]};
  std::vector<char*> ours = {argv[0]};
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    if (flag == "--sweep") {
      flags.sweep = true;
    } else if (flag == "--quiet") {
      flags.quiet = true;
    } else if (flag == "--tables") {
      flags.tables = true;
    } else if (flag == "--no-cpu") {
      flags.no_cpu = true;
    } else if (flag == "--cpu-only") {
      flags.cpu_only = true;
    } else if (flag.rfind("--limits=", 0) == 0) {
      known_limits().read(flag.substr(9));
    } else if (flag.rfind("--only=", 0) == 0) {
      std::ifstream file(flag.substr(7));
      if (!file) throw Exit(kUsage, "--only: " + flag.substr(7) + " cannot be read");
      flags.only.emplace();
      for (std::string line; std::getline(file, line);) flags.only->push_back(line);
    } else if (flag.rfind("--for=", 0) == 0) {
      char* end = nullptr;
      flags.seconds = std::strtod(flag.c_str() + 6, &end);
      if (*end != '\0' || !(flags.seconds > 0)) throw Exit(kUsage, "--for takes seconds, as --for=90");
    } else if (flag.rfind("--benchmark_", 0) == 0) {
      flags.listing = flags.listing || flag.rfind("--benchmark_list_tests", 0) == 0;
      flags.benchmark.push_back(argv[i]);
    } else if (flag.rfind("--v=", 0) == 0) {
      flags.benchmark.push_back(argv[i]);
    } else {
      ours.push_back(argv[i]);
    }
  }
  flags.options = detail::parse_options(static_cast<int>(ours.size()), ours.data());
  return flags;
}

int fail(int code, const std::string& line, const std::string& next = "") {
  progress("");
  std::fprintf(stderr, "error: %s\n", line.c_str());
  if (!next.empty()) std::fprintf(stderr, "  %s\n", next.c_str());
  return progress_end(code);
}

constexpr char kHelp[] =
    "  --sweep            each ladder's sizes from small to big, too\n"
    "  --size 4096x33     this size alone\n"
    "  --variant NAME,... these rungs and libraries alone\n"
    "  --type fp32,...    these element types alone\n"
    "  --json FILE        results in the schema of docs/results.md\n"
    "  --quiet            no output but that; a shape at a time\n"
    "  --tables           lists the tables that there are on a GPU, and the variants in each\n"
    "  --only=FILE        these lines of that list alone (with --sweep, sweeps too)\n"
    "  --for=SECONDS      with --quiet: begins no table that is unlikely to end by then\n"
    "  --no-cpu           without the CPU's versions; --cpu-only with --quiet: nothing else\n"
    "  --limits=FILE      sustained limits known from before; new ones are added\n"
    "  --benchmark_...    Google Benchmark's own\n";

}  // namespace
}  // namespace days

int main(int argc, char** argv) {
  using days::fail;
  days::progress_begin();
  try {
    days::Flags flags = days::parse(argc, argv);
    if (flags.options.help) {
      std::printf("Usage: %s [flags]\n%s", argv[0], days::kHelp);
      return days::progress_end(0);
    }
    std::vector<char*> arguments = flags.benchmark;
    char interleave[] = "--benchmark_enable_random_interleaving=true";
    char counters[] = "--benchmark_counters_tabular=true";
    arguments.insert(arguments.begin() + 1, {interleave, counters});  // first: the user's own flags win
    int count = static_cast<int>(arguments.size());
    benchmark::Initialize(&count, arguments.data());
    if (benchmark::ReportUnrecognizedArguments(count, arguments.data()))
      return days::progress_end(days::detail::kUsage);
    const int code = flags.tables    ? days::list_tables()
                     : flags.listing ? days::list(flags)
                                     : days::run(flags);
    benchmark::Shutdown();
    const std::string lost = days::lost_output();
    return code != 0 || lost.empty() ? days::progress_end(code) : fail(days::detail::kMachine, lost);
  } catch (const days::detail::Exit& exit) {
    return fail(exit.code(), exit.what(), exit.next());
  } catch (const days::CudaError& error) {
    const std::string machine = days::machine_error(error.code());
    return machine.empty() ? fail(days::detail::kWrong, error.what())
                           : fail(days::detail::kMachine, machine, "./days doctor");
  } catch (const std::exception& error) {
    return fail(days::detail::kWrong, error.what());
  }
}
