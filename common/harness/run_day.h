// SPDX-License-Identifier: MIT
//
// Part of harness.cu: a day's executable. Flags first, then one table a ladder and type, then JSON.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "common/device.h"
#include "common/harness/text.h"
#include "common/instance.h"
#include "common/limits.h"
#include "common/results.h"
#include "common/run_day.h"
#include "common/timing.h"

#ifdef __SIMT__
#include "simt/runtime.h"
#endif

namespace days {
namespace detail {

// Ends the program with this code, one line on stderr, and below it what helps: flags or a command.
class Exit : public std::runtime_error {
 public:
  Exit(int code, const std::string& line, std::string next = "")
      : std::runtime_error(line), code_(code), next_(std::move(next)) {}
  int code() const { return code_; }
  const std::string& next() const { return next_; }

 private:
  int code_;
  std::string next_;
};
inline constexpr int kWrong = 1, kUsage = 2, kMachine = 3;

struct Options {
  std::string size_text;
  std::optional<Shape> size;
  std::vector<std::string> variants, types;
  std::string json, color = "auto";
  bool list = false, help = false;
};

inline std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

inline Shape parse_size(const std::string& text) {
  std::vector<int64_t> numbers;
  for (const std::string& part : split(text, 'x')) {
    const std::string digits = part.substr(part.rfind('-', 0) == 0 ? 1 : 0);
    if (digits.empty() || digits.find_first_not_of("0123456789") != std::string::npos) {
      throw Exit(kUsage, "--size " + text + ": \"" + part + "\" is no number; write it like 4096x33");
    }
    if (digits.find_first_not_of('0') == std::string::npos)
      throw Exit(kUsage, "--size " + text + ": a size is at least 1");
    if (part[0] == '-') throw Exit(kUsage, "--size " + text + ": a size is positive");
    errno = 0;
    const long long value = std::strtoll(part.c_str(), nullptr, 10);
    if (errno == ERANGE) throw Exit(kMachine, "--size " + text + " is too large for any device's memory");
    numbers.push_back(value);
  }
  return Shape(std::move(numbers));
}

inline Options parse_options(int argc, char** argv) {
  const std::vector<std::string> known = {"--size",  "--variant", "--type", "--json",
                                          "--color", "--list",    "--help"};
  Options options;
  for (int i = 1; i < argc; ++i) {
    std::string flag = argv[i], value;
    const size_t equals = flag.rfind("--", 0) == 0 ? flag.find('=') : std::string::npos;
    const bool joined = equals != std::string::npos;
    if (joined) {
      value = flag.substr(equals + 1);
      flag.resize(equals);
    }
    if (flag == "-h") flag = "--help";
    if (std::find(known.begin(), known.end(), flag) == known.end()) {
      const std::string near = nearest(flag, known);
      throw Exit(kUsage, "unknown argument " + flag + (near.empty() ? "" : ". Nearest: " + near), "--help");
    }
    if (flag == "--list" || flag == "--help") {
      if (joined) throw Exit(kUsage, flag + " takes no value");
      (flag == "--list" ? options.list : options.help) = true;
      continue;
    }
    if (!joined) {
      if (++i >= argc) throw Exit(kUsage, flag + " needs a value; --help shows one");
      value = argv[i];
    }
    if (flag == "--size") {
      options.size_text = value;
      options.size = parse_size(value);
    } else if (flag == "--variant") {
      options.variants = split(value, ',');
    } else if (flag == "--type") {
      options.types = split(value, ',');
    } else if (flag == "--json") {
      options.json = value;
    } else if (value == "auto" || value == "always" || value == "never") {
      options.color = value;
    } else {
      throw Exit(kUsage, "--color is auto, always or never, not " + value);
    }
  }
  return options;
}

inline std::string extents_text(const LadderInfo& ladder) {
  std::string text;
  for (const std::string& name : ladder.extents) text += (text.empty() ? "" : "x") + name;
  return text;
}

// "5" of "day05_matmul": what ./days takes.
inline std::string day_number(const LadderInfo& ladder) {
  return ladder.day.empty() ? "" : std::to_string(std::atoi(ladder.day.c_str() + 3));
}

inline void print_help(const std::vector<const LadderInfo*>& ladders, const char* program) {
  const char* name = std::strrchr(program, '/') == nullptr ? program : std::strrchr(program, '/') + 1;
  std::printf("Usage: %s [flags]\nRuns each kernel, checks its result and shows its speed.\n\n", name);
  std::printf("  --size %-14s problem size:\n", "4096x33");
  for (const LadderInfo* ladder : ladders) {
    std::printf("  %21s %s of %s\n", "", extents_text(*ladder).c_str(), ladder->name.c_str());
  }
  std::printf(
      "  --variant NAME,...    only these rungs\n"
      "  --type fp32,...       element types, or all\n"
      "  --list                the rungs, and what each needs\n"
      "  --json FILE           results as JSON; - is stdout, and silences the rest\n"
      "  --color WHEN          auto, always or never\n"
      "  --help\n\n"
      "Exit codes: 0 good, 1 wrong result or no kernel ran, 2 usage, 3 this machine\n"
      "cannot (no GPU, old driver, too large for its memory).\n");
}

inline void print_list(const std::vector<const LadderInfo*>& ladders) {
  for (const LadderInfo* ladder : ladders) {
    std::string types;
    for (const Typed& type : ladder->types) types += " " + type.name;
    std::printf("%s  --size %s %s\n", ladder->name.c_str(), extents_text(*ladder).c_str(), types.c_str());
    for (const Row& row : ladder->rows) {
      std::string about;
      const auto add = [&](const std::string& text) { about += (about.empty() ? "" : "; ") + text; };
      if (row.baseline) add(ladder->launcher(row, 0) != nullptr ? "library" : "library, not built");
      for (const Requirement& requirement : row.runs_on) add(std::string("needs ") + requirement.text);
      if (!row.needs_text.empty()) add("needs " + row.needs_text);
      for (size_t type = 0; type < ladder->types.size() && !row.baseline; ++type) {
        if (!row.launch[type]) add("no " + ladder->types[type].name);
      }
      std::printf("  %-16s%s%s\n", row.name.c_str(), about.empty() ? "" : " ", about.c_str());
    }
  }
}

class DayRun {
 public:
  DayRun(const Options& options, std::vector<const LadderInfo*> ladders)
      : options_(options),
        colors_(options.color),
        quiet_(options.json == "-"),
        device_(current_device()),
        ladders_(std::move(ladders)) {
    select();
  }

  int run() {
    for (const LadderInfo* ladder : ladders_) {
      for (size_t type = 0; type < ladder->types.size(); ++type) {
        if (wants_type(*ladder, type) && !lost_) tables_.push_back(measure(*ladder, type));
      }
    }
    if (!options_.json.empty()) write_json();
    bool failed = false, device_alone = true;
    size_t ran = 0;
    for (const TableResult& table : tables_) {
      for (const RowResult& row : table.rows) {
        failed = failed || row.result == Result::kFail;
        ran += row.result == Result::kOk ? 1 : 0;
        if (row.result == Result::kMissing || (row.result == Result::kSkip && row.row->runs_on.empty()))
          device_alone = false;
      }
    }
    if (failed) return kWrong;
    if (ran == 0) {
      std::fprintf(stderr, "error: no kernel ran\n");
      return device_alone ? kMachine : kWrong;
    }
    return 0;
  }

 private:
  bool wants_type(const LadderInfo& ladder, size_t type) const {
    if (options_.types.empty()) return type == 0;
    return std::any_of(options_.types.begin(), options_.types.end(),
                       [&](const std::string& t) { return t == "all" || t == ladder.types[type].name; });
  }
  bool named(const Row& row) const {
    return std::find(options_.variants.begin(), options_.variants.end(), row.name) != options_.variants.end();
  }
  bool wants_row(const Row& row) const { return options_.variants.empty() || named(row); }

  // Drops the ladders that --size, --variant and --type do not speak of; a value that speaks of none is an
  // error.
  void select() {
    const std::vector<const LadderInfo*> all = ladders_;
    const auto keep = [&](const std::function<bool(const LadderInfo&)>& condition) {
      ladders_.erase(std::remove_if(ladders_.begin(), ladders_.end(),
                                    [&](const LadderInfo* l) { return !condition(*l); }),
                     ladders_.end());
    };
    std::vector<std::string> names, types;
    std::string sizes;
    for (const LadderInfo* ladder : all) {
      for (const Row& row : ladder->rows) names.push_back(row.name);
      for (const Typed& type : ladder->types) types.push_back(type.name);
      sizes += (sizes.empty() ? "" : ", ") + ladder->name + " takes " + extents_text(*ladder);
    }
    for (const std::string& name : options_.variants) {
      if (std::find(names.begin(), names.end(), name) != names.end()) continue;
      const std::string near = nearest(name, names);
      throw Exit(kUsage, "no variant \"" + name + "\"." + (near.empty() ? "" : " Nearest: " + near),
                 near.empty() ? "--list" : "--variant " + near);
    }
    for (const std::string& name : options_.types) {
      if (name == "all" || std::find(types.begin(), types.end(), name) != types.end()) continue;
      std::string known;
      for (const std::string& type : std::set<std::string>(types.begin(), types.end())) known += " " + type;
      throw Exit(kUsage, "no type \"" + name + "\" here; there is" + known);
    }
    keep([&](const LadderInfo& l) {
      return std::any_of(l.rows.begin(), l.rows.end(), [&](const Row& r) { return wants_row(r); });
    });
    keep([&](const LadderInfo& l) {
      for (size_t type = 0; type < l.types.size(); ++type) {
        if (wants_type(l, type)) return true;
      }
      return false;
    });
    if (options_.size) keep([&](const LadderInfo& l) { return l.extents.size() == options_.size->size(); });
    if (ladders_.empty()) {
      throw Exit(kUsage, options_.size
                             ? "--size " + options_.size_text + " fits nothing here: " + sizes
                             : "no ladder has all that --variant and --type name; --list shows them");
    }
  }

  // Bytes that a problem may take of this device.
  double available() const {
    size_t free = 0, total = 0;
    CUDA_CHECK(cudaMemGetInfo(&free, &total));
    if (!device_.simt) return 0.95 * static_cast<double>(free);
    // The CPU backend's device memory, and the host's copies of it, are both this machine's memory.
    const double machine =
        static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
    return std::min(static_cast<double>(free), 0.4 * machine);
  }

  bool fits(const LadderInfo& ladder, size_t type, const Shape& shape, double bytes) const {
    try {
      return Instance::device_bytes(ladder, type, shape) <= bytes;
    } catch (const TooLarge&) {
      return false;
    }
  }

  // The shape times the largest factor below 1 that fits; numbers above 64 are rounded down to a multiple
  // of 32.
  Shape shrink(const LadderInfo& ladder, size_t type, const Shape& shape, double bytes) const {
    Shape best(std::vector<int64_t>(shape.size(), 1));
    double low = 0, high = 1;
    for (int step = 0; step < 50; ++step) {
      const double middle = 0.5 * (low + high);
      std::vector<int64_t> numbers;
      for (const int64_t n : shape.numbers()) {
        const int64_t scaled = std::max<int64_t>(1, static_cast<int64_t>(static_cast<double>(n) * middle));
        numbers.push_back(scaled > 64 ? scaled / 32 * 32 : scaled);
      }
      const Shape candidate(numbers);
      const bool ok = fits(ladder, type, candidate, bytes);
      if (ok) best = candidate;
      (ok ? low : high) = middle;
    }
    return best;
  }

  Shape choose_shape(const LadderInfo& ladder, size_t type) const {
    const double bytes = available();
    if (options_.size) {
      if (fits(ladder, type, *options_.size, bytes)) return *options_.size;
      throw Exit(kMachine,
                 options_.size_text + " is too large for " + ladder.name + " on " + device_.name +
                     "; the largest like it:",
                 "--size " + shrink(ladder, type, *options_.size, bytes).text("x"));
    }
    const std::vector<Shape>& shapes = device_.simt ? ladder.show_shapes : ladder.bench_shapes;
    require(!shapes.empty(), ladder.name, device_.simt ? " has no .show shape" : " has no .bench shape");
    return fits(ladder, type, shapes[0], bytes) ? shapes[0] : shrink(ladder, type, shapes[0], bytes);
  }

  void progress(const std::string& text) const {
    if (quiet_ || isatty(1) == 0 || isatty(2) == 0) return;
    std::fprintf(stderr, "\r\033[K%s", text.c_str());
    std::fflush(stderr);
  }

  // A test shape on which rows are checked before the big one, where a wrong element is easiest to see: the
  // last one of .shapes, which is the biggest by custom, whose reference is quick.
  std::unique_ptr<Instance> small_instance(const LadderInfo& ladder, size_t type) const {
    for (size_t i = ladder.test_shapes.size(); i-- > 0;) {
      auto instance = std::make_unique<Instance>(ladder, type, ladder.test_shapes[i]);
      if (!instance->large()) return instance;
    }
    return nullptr;
  }

  TableResult measure(const LadderInfo& ladder, size_t type) {
    TableResult table;
    table.ladder = &ladder;
    table.type = type;
    table.shape = choose_shape(ladder, type);
    progress("making " + table.shape.text() + " of " + ladder.name);
    Instance instance(ladder, type, table.shape);
    table.traffic = instance.traffic();
    table.flops = instance.flops();
    const std::unique_ptr<Instance> small = device_.simt ? nullptr : small_instance(ladder, type);
    Stream stream;
    for (const Row& row : ladder.rows) {
      if (!wants_row(row)) continue;
      progress("checking " + row.name + ", " + table.shape.text());
      table.rows.push_back(check(ladder, type, row, instance, small.get(), stream));
      if (table.rows.back().result != Result::kFail) continue;
      // A fault leaves the device unusable for the rest of the process.
      lost_ = cudaDeviceSynchronize() != cudaSuccess;
      if (lost_) break;
    }
    if (!device_.simt && !lost_) {
      time_rows(table, instance);
      progress("measuring this device's limit");
      measure_limit(table);
      progress("timing the CPU");
      time_cpu(table, instance);
    }
    progress("");
    if (!quiet_) {
      if (!tables_.empty()) std::printf("\n");
      device_.simt ? print_counts(table) : print_times(table);
      if (lost_)
        std::printf("%s\n", wrap("The fault ended this run: nothing after " + table.rows.back().row->name +
                                     " was tried.",
                                 "  ")
                                .c_str());
      std::fflush(stdout);
    }
    return table;
  }

  RowResult check(const LadderInfo& ladder, size_t type, const Row& row, Instance& instance, Instance* small,
                  cudaStream_t stream) {
    RowResult result;
    result.row = &row;
    result.reason = ladder.absent(row, type, device_);
    if (!result.reason.empty()) {
      if (row.baseline) result.result = Result::kMissing;
      return result;
    }
    if (!instance.supports(row)) {
      if (named(row)) {
        throw Exit(kUsage, row.name + " does not take " + instance.shape().text("x") + ": it needs " +
                               row.needs_text);
      }
      result.reason = "needs " + row.needs_text;
      return result;
    }
    if (small != nullptr && small->supports(row)) {
      result.report = small->run(row, stream);
      if (!result.report.ok()) {
        result.result = Result::kFail;
        result.reason = small->shape().text() + ": ";
        return result;
      }
    }
#ifdef __SIMT__
    const simt::LaunchStats before = simt::stats().total;
    const auto count = [&] {
      const simt::LaunchStats now = simt::stats().total;
      result.threads = now.threads - before.threads;
      result.barriers = now.barriers - before.barriers;
      result.collectives = now.warp_collectives - before.warp_collectives;
      result.atomics = now.atomics - before.atomics;
    };
#else
    const std::function<void()> count;
#endif
    result.report = instance.run(row, stream, count);
    result.result = result.report.ok() ? Result::kOk : Result::kFail;
    return result;
  }

  void time_rows(TableResult& table, Instance& instance) {
    // Each row is prepared once; rows that need scratch memory share it one at a time, so they are prepared
    // before each run.
    std::vector<std::function<void(cudaStream_t)>> contestants;
    std::vector<RowResult*> timed;
    bool scratch = false;
    for (RowResult& row : table.rows) {
      if (row.result != Result::kOk) continue;
      scratch = scratch || instance.workspace_bytes(*row.row) > 0;
      timed.push_back(&row);
    }
    const double budget = 0.3 * static_cast<double>(timed.size());
    if (scratch) {
      for (RowResult* row : timed) {
        progress("timing " + row->row->name);
        instance.prepare(*row->row);
        row->timing =
            time_interleaved({[&](cudaStream_t stream) { instance.launch(*row->row, stream); }}, 0.3)[0];
      }
      return;
    }
    progress("timing " + std::to_string(timed.size()) + " rungs by turns");
    for (RowResult* row : timed) {
      contestants.push_back([&instance, row](cudaStream_t stream) { instance.launch(*row->row, stream); });
    }
    const std::vector<Timing> timings = time_interleaved(contestants, budget);
    for (size_t i = 0; i < timed.size(); ++i) timed[i]->timing = timings[i];
  }

  void measure_limit(TableResult& table) {
    if (table.ladder->rate != Rate::kNone) {
      if (rates_.count(table.ladder->rate) == 0) rates_[table.ladder->rate] = rate_limit(table.ladder->rate);
      table.limit_name = std::string(rate_name(table.ladder->rate)) + " rate";
      table.limit = rates_[table.ladder->rate]->burst;
    } else if (table.traffic.bytes() > 0) {
      const Mix mix = mix_of(table.traffic);
      if (bandwidths_.count(mix) == 0) bandwidths_[mix] = bandwidth_limit(mix);
      table.limit_name = mix_name(mix);
      table.limit = bandwidths_[mix]->burst;
    }
  }

  // The CPU's versions, on a smaller shape where this one would take minutes; and the copies.
  void time_cpu(TableResult& table, Instance& instance) {
    table.copies = instance.copy_seconds();
    const Shape shape = Instance::cpu_shape(*table.ladder, table.type, table.shape);
    std::unique_ptr<Instance> smaller;
    if (!(shape == table.shape)) smaller = std::make_unique<Instance>(*table.ladder, table.type, shape);
    Instance* timed = smaller ? smaller.get() : &instance;
    const Typed& typed = table.ladder->types[table.type];
    const auto add = [&](const std::string& name, double seconds) {
      table.cpu.push_back({name, shape, seconds, timed->traffic().bytes(), timed->flops()});
    };
    add("CPU loops", timed->reference_seconds());
    if (typed.parallel) add("CPU threads", timed->parallel_seconds());
  }

  // ---- Printing ----

  void print_title(const TableResult& table) const {
    const std::string number = day_number(*table.ladder);
    std::string title = number.empty() ? "" : "Day " + number + " ";
    title += table.ladder->name + ", " + table.shape.text() + " " + table.ladder->types[table.type].name;
    if (table.traffic.bytes() > 0) {
      title += ", " + bytes_text(table.traffic.read) + " in + " + bytes_text(table.traffic.written) + " out";
    }
    std::printf("%s\n", wrap(title, "  ").c_str());
  }

  size_t name_width(const TableResult& table) const {
    size_t width = 11;
    for (const RowResult& row : table.rows) width = std::max(width, columns(row.row->name));
    for (const CpuResult& cpu : table.cpu) width = std::max(width, columns(cpu.name));
    return width + 1;
  }

  std::string result_text(const RowResult& row) const {
    switch (row.result) {
      case Result::kOk:
        return colors_.green(left("ok", 6));
      case Result::kFail:
        return colors_.red(left("FAIL", 6));
      case Result::kSkip:
        return colors_.yellow(left("skip", 6));
      case Result::kMissing:
        return colors_.yellow(left("miss", 6));
    }
    return "";
  }

  // Rows without a time: why, and for a wrong one what is wrong.
  void print_untimed(const TableResult& table, const RowResult& row, size_t width) const {
    std::string reason = row.reason;
    if (row.result == Result::kMissing) {
      const std::string number = day_number(*table.ladder);
      reason = device_.simt ? "a library of GPU code"
                            : "not built: ./days run" + (number.empty() ? "" : " " + number) +
                                  " builds it, if ./days doctor finds it";
    } else if (row.result == Result::kFail) {
      reason = "not timed";
    }
    std::printf("%s%s  %s\n", left(row.row->name, width).c_str(), result_text(row).c_str(),
                wrap(reason, "  ").c_str());
    if (row.result != Result::kFail) return;
    for (const std::string& line : row.report.lines())
      std::printf("  %s\n", wrap(row.reason + line, "    ", 78).c_str());
  }

  void print_times(const TableResult& table) const {
    print_title(table);
    std::string where = device_.name + " " + device_.sm() + ".";
    if (table.limit > 0) {
      where += " Limit = its own " + table.limit_name + ", " +
               three_digits(table.limit / (table.flops > 0 ? 1e12 : 1e9)) + " " + table.unit() +
               ", measured now";
    }
    std::printf("%s\n\n", wrap(where, "  ").c_str());

    const RowResult *best = nullptr, *library = nullptr;
    bool noisy = false;
    for (const RowResult& row : table.rows) {
      if (row.timing.seconds <= 0) continue;
      const RowResult*& winner = row.row->baseline ? library : best;
      if (winner == nullptr || row.timing.seconds < winner->timing.seconds) winner = &row;
      noisy = noisy || row.timing.noise > 0.02;
    }
    const size_t name = name_width(table), time = noisy ? 15 : 10, rate = 9,
                 ratio = library != nullptr ? 7 : 0;
    const size_t others = name + 8 + 5 + time + rate + 2 + 5 + ratio, bar = others < 72 ? 80 - others : 8;
    std::string header = left("rung", name) + left("result", 8) + left("error", 5) + right("time", time) +
                         right(table.unit(), rate) + "  " + left(table.limit > 0 ? "of limit" : "", bar + 5) +
                         (library != nullptr ? "  x lib" : "");
    header.erase(header.find_last_not_of(' ') + 1);
    std::printf("%s\n", header.c_str());
    for (const RowResult& row : table.rows) {
      if (row.timing.seconds <= 0) {
        print_untimed(table, row, name);
        continue;
      }
      const double speed = table.rate(row.timing.seconds),
                   share = table.limit > 0 ? table.work() / row.timing.seconds / table.limit : 0;
      std::string shown_time = time_text(row.timing.seconds);
      if (row.timing.noise > 0.02)
        shown_time += " \u00b1" + std::to_string(std::lround(std::ceil(100 * row.timing.noise))) + "%";
      std::string line =
          right(shown_time, time) + right(table.work() > 0 ? three_digits(speed) : "", rate) + "  ";
      if (table.limit > 0) {
        const double length = std::round(std::min(share, 1.0) * static_cast<double>(bar));
        line += left(std::string(std::max<size_t>(1, static_cast<size_t>(length)), '#'), bar) +
                right(std::to_string(std::lround(100 * share)) + "%", 5);
      } else {
        line += std::string(bar + 5, ' ');
      }
      if (library != nullptr) {
        char text[16];
        std::snprintf(text, sizeof text, "%7.2f", library->timing.seconds / row.timing.seconds);
        line += text;
      }
      while (!line.empty() && line.back() == ' ') line.pop_back();
      const std::string label = left(row.row->name, name), error = left(error_text(row.report.worst), 5);
      std::printf("%s%s  %s%s\n", (&row == best ? colors_.bold(label) : label).c_str(),
                  result_text(row).c_str(), error.c_str(),
                  (&row == best ? colors_.bold(line) : line).c_str());
    }
    for (const CpuResult& cpu : table.cpu) {
      const double work = table.flops > 0 ? cpu.flops : cpu.bytes;
      std::string line = left(cpu.name, name) + std::string(13, ' ') + right(time_text(cpu.seconds), time);
      if (work > 0) line += right(three_digits(work / cpu.seconds / (table.flops > 0 ? 1e12 : 1e9)), rate);
      if (cpu.name == "CPU threads") line += "  " + std::to_string(cpu_threads()) + " threads";
      if (!(cpu.shape == table.shape)) line += "  at " + cpu.shape.text();
      std::printf("%s\n", line.c_str());
    }
    if (table.copies.there + table.copies.back > 0) {
      std::printf("%s%s to the GPU + %s back, pageable memory\n", left("copies", name).c_str(),
                  time_text(table.copies.there).c_str(), time_text(table.copies.back).c_str());
    }
    if (best != nullptr && !table.cpu.empty()) print_ratios(table, *best);
    print_lesson(table);
  }

  void print_ratios(const TableResult& table, const RowResult& best) const {
    const double copies = table.copies.there + table.copies.back;
    const auto times = [](double ratio) { return three_digits(ratio) + "x"; };
    std::string text = best.row->name + " is";
    double least_cpu = 0;
    for (const CpuResult& cpu : table.cpu) {
      // Of a smaller shape: its time for this one's work at the same pace.
      const double work = table.flops > 0 ? cpu.flops : cpu.bytes;
      const double seconds = work > 0 ? cpu.seconds * table.work() / work : cpu.seconds;
      least_cpu = least_cpu == 0 ? seconds : std::min(least_cpu, seconds);
      text += (&cpu == &table.cpu[0] ? " " : ", ") + times(seconds / best.timing.seconds) + " as fast as " +
              (&cpu == &table.cpu[0] ? "the CPU loops" : "all CPU threads");
    }
    text += "; with both copies " + times(least_cpu / (best.timing.seconds + copies)) + ".";
    std::printf("%s\n", wrap(text, "  ").c_str());
  }

  void print_lesson(const TableResult& table) const {
    std::string others;
    for (const Typed& type : table.ladder->types) {
      if (type.name != table.ladder->types[table.type].name)
        others += (others.empty() ? "" : ",") + type.name;
    }
    if (!others.empty() && options_.types.empty()) std::printf("Other types: --type %s\n", others.c_str());
    if (!table.ladder->lesson_text.empty())
      std::printf("%s\n", wrap("Lesson: " + table.ladder->lesson_text, "  ").c_str());
  }

  void print_counts(const TableResult& table) const {
    print_title(table);
    std::printf("No GPU: every thread ran on this CPU. Results and counts, no times.\n\n");
    const size_t name = name_width(table);
    std::printf("%s%s%s%s%s%s%s\n", left("rung", name).c_str(), left("result", 8).c_str(),
                left("error", 5).c_str(), right("threads", 12).c_str(), right("barriers", 11).c_str(),
                right("warp ops", 11).c_str(), right("atomics", 10).c_str());
    for (const RowResult& row : table.rows) {
      if (row.result != Result::kOk) {
        print_untimed(table, row, name);
        continue;
      }
      std::printf("%s%s  %s%s%s%s%s\n", left(row.row->name, name).c_str(), result_text(row).c_str(),
                  left(error_text(row.report.worst), 5).c_str(), right(grouped(row.threads), 12).c_str(),
                  right(grouped(row.barriers), 11).c_str(), right(grouped(row.collectives), 11).c_str(),
                  right(grouped(row.atomics), 10).c_str());
    }
    print_lesson(table);
  }

  // 1,048,576
  static std::string grouped(uint64_t value) {
    std::string digits = std::to_string(value);
    for (size_t at = digits.size(); at > 3;) digits.insert(at -= 3, ",");
    return digits;
  }

  void write_json() const {
    const std::string text = results_json(tables_);
    if (options_.json == "-") {
      std::fputs(text.c_str(), stdout);
      return;
    }
    std::FILE* file = std::fopen(options_.json.c_str(), "w");
    if (file == nullptr) throw Exit(kUsage, "--json " + options_.json + ": " + std::strerror(errno));
    const bool written = std::fputs(text.c_str(), file) >= 0;
    if (std::fclose(file) != 0 || !written)
      throw Exit(kUsage, "--json " + options_.json + ": could not be written");
  }

  const Options& options_;
  Colors colors_;
  bool quiet_;
  const Device& device_;
  std::vector<const LadderInfo*> ladders_;
  std::vector<TableResult> tables_;
  bool lost_ = false;  // a kernel's fault made the device unusable
  std::map<Rate, std::optional<Ceiling>> rates_;
  std::map<Mix, std::optional<Ceiling>> bandwidths_;
};

}  // namespace detail

int run_day(std::initializer_list<const LadderInfo*> ladders, int argc, char** argv) {
  using detail::kMachine;
  using detail::kUsage;
  const auto fail = [](int code, const std::string& line, const std::string& next = "") {
    std::fflush(stdout);
    std::fprintf(stderr, "%s\n", detail::wrap("error: " + line, "  ").c_str());
    if (!next.empty()) std::fprintf(stderr, "  %s\n", next.c_str());
    return code;
  };
  try {
    const detail::Options options = detail::parse_options(argc, argv);
    if (options.help) {
      detail::print_help(ladders, argv[0]);
      return 0;
    }
    if (options.list) {
      detail::print_list(ladders);
      return 0;
    }
    return detail::DayRun(options, ladders).run();
  } catch (const detail::Exit& exit) {
    return fail(exit.code(), exit.what(), exit.next());
  } catch (const TooLarge& error) {
    return fail(kMachine, std::string("too large: ") + error.what());
  } catch (const CudaError& error) {
    const std::string machine = machine_error(error.code());
    if (!machine.empty()) return fail(kMachine, machine, "./days doctor");
    if (error.code() == cudaErrorMemoryAllocation)
      return fail(kMachine, "this device's memory is full; try a smaller --size");
    return fail(detail::kWrong, error.what());
  } catch (const std::exception& error) {
    return fail(detail::kWrong, error.what());
  }
}

}  // namespace days
