// SPDX-License-Identifier: MIT
//
// A day's executable. Flags first, then one table a ladder and type, then JSON.

#include <cuda_profiler_api.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "common/device.h"
#include "common/error.h"
#include "common/harness/cases.h"
#include "common/harness/options.h"
#include "common/harness/picture.h"
#include "common/harness/text.h"
#include "common/instance.h"
#include "common/limits.h"
#include "common/output.h"
#include "common/parallel.h"
#include "common/progress.h"
#include "common/results.h"
#include "common/run_day.h"
#include "common/timing.h"

#ifdef __SIMT__
#include "simt/runtime.h"
namespace {
// A day's kernels come to their barriers with the whole block, as all that is taught of them says.
[[maybe_unused]] const bool whole_barriers = (simt::require_whole_barriers(), true);
}  // namespace
#endif

namespace days {
namespace detail {

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
      "  --list                the rungs, and what each needs; with --json all of the ladders\n"
      "  --json FILE           results as JSON; - is stdout, and silences the rest\n"
      "%s"
      "  --exercise            the learner's kernel too, of exercise.cu\n"
      "  --cases FILE          runs one --variant on every test shape, and writes how each went,\n"
      "                        a line of JSON a case; --small leaves out shapes above 256 KiB\n"
      "  --begun NAME          the rung that the --variant was copied from: the variant gets the\n"
      "                        larger workspace of the two, and may refuse what either refuses\n"
      "  --once                launches each rung for a profiler (ncu --profile-from-start off):\n"
      "                        nothing is checked or timed\n"
      "  --color WHEN          auto, always or never\n"
      "  --help\n\n"
      "Exit codes: 0 good, 1 wrong result or no kernel ran, 2 usage, 3 this machine\n"
      "cannot (no GPU, old driver, too large for its memory).\n",
      picture_help(ladders));
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
      if (row.exercise) add("yours, with --exercise");
      for (const Requirement& requirement : row.runs_on) add(std::string("needs ") + requirement.text);
      if (!row.needs_text.empty()) add("needs " + row.needs_text);
      for (size_t type = 0; type < ladder->types.size() && !row.baseline; ++type) {
        if (!row.launch[type]) add("no " + ladder->types[type].name);
      }
      std::printf("  %-16s%s%s\n", row.name.c_str(), about.empty() ? "" : " ", about.c_str());
    }
  }
}

// To the file of --json.
inline void write_json(const std::string& file, const std::string& text) {
  if (file == "-") {
    std::fputs(text.c_str(), stdout);
  } else if (!write_text(file, text)) {
    const int why = errno;
    throw Exit(machine_cannot_write(why) ? kMachine : kUsage, "--json " + file + ": " + std::strerror(why));
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
    if (!options_.image.empty()) take_picture();
  }

  int run() {
    for (const LadderInfo* ladder : ladders_) {
      for (size_t type = 0; type < ladder->types.size(); ++type) {
        if (wants_type(*ladder, type) && !lost_) tables_.push_back(measure(*ladder, type));
      }
    }
    if (device_.simt && !quiet_ && ladders_[0]->day.size() > 5)
      std::printf("\nWhat each line's accesses cost: ./days explain %d\n",
                  std::atoi(ladders_[0]->day.c_str() + 3));
    if (!options_.json.empty()) write_json(options_.json, results_json(tables_, "run"));
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

  // --once: a launch of each row to warm up, and one between the marks that a profiler waits for.
  int launch_once() {
    size_t launched = 0;
    for (const LadderInfo* ladder : ladders_) {
      for (size_t type = 0; type < ladder->types.size(); ++type) {
        if (wants_type(*ladder, type)) launched += launch_once(*ladder, type);
      }
    }
    if (launched > 0) return 0;
    std::fprintf(stderr, "error: no kernel ran\n");
    return kMachine;
  }

 private:
  static constexpr double kSmallBytes = 1 << 26;

  size_t launch_once(const LadderInfo& ladder, size_t type) {
    const Shape shape = choose_shape(ladder, type);
    Instance instance(ladder, type, shape);
    Stream stream;
    size_t launched = 0;
    for (const Row& row : ladder.rows) {
      if (!wants_row(row)) continue;
      std::string reason = ladder.absent(row, type, device_);
      if (reason.empty() && !instance.supports(row)) reason = "needs " + row.needs_text;
      const std::string what =
          ladder.name + " " + row.name + " " + ladder.types[type].name + " " + shape.text("x");
      if (!reason.empty()) {
        std::printf("left out %s: %s\n", what.c_str(), reason.c_str());
        continue;
      }
      for (const bool profiled : {false, true}) {
        instance.prepare(row);
        CUDA_CHECK(cudaDeviceSynchronize());
        if (profiled) CUDA_CHECK(cudaProfilerStart());
        instance.launch(row, stream);
        CUDA_CHECK(cudaDeviceSynchronize());
        if (profiled) CUDA_CHECK(cudaProfilerStop());
      }
      std::printf("launched %s\n", what.c_str());
      ++launched;
    }
    return launched;
  }

  bool wants_type(const LadderInfo& ladder, size_t type) const {
    if (options_.types.empty()) return type == usual_type(ladder);
    return std::any_of(options_.types.begin(), options_.types.end(),
                       [&](const std::string& t) { return t == "all" || t == ladder.types[type].name; });
  }
  // Without --type: the first of those that most of the rungs that are asked for take.
  size_t usual_type(const LadderInfo& ladder) const {
    std::vector<size_t> takers(ladder.types.size());
    for (const Row& row : ladder.rows) {
      if (row.baseline || !wants_row(row)) continue;
      for (size_t type = 0; type < takers.size(); ++type) takers[type] += row.launch[type] ? 1 : 0;
    }
    return static_cast<size_t>(std::max_element(takers.begin(), takers.end()) - takers.begin());
  }
  bool named(const Row& row) const {
    return std::find(options_.variants.begin(), options_.variants.end(), row.name) != options_.variants.end();
  }
  bool wants_row(const Row& row) const {
    if (row.exercise && options_.exercise) return true;
    return options_.variants.empty() ? !row.exercise : named(row);
  }

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
    if (!options_.image.empty()) {
      keep([](const LadderInfo& l) { return static_cast<bool>(l.picture_size); });
      if (ladders_.empty()) throw Exit(kUsage, "--image: nothing here works on pictures");
      return;
    }
    if (options_.size) keep([&](const LadderInfo& l) { return l.extents.size() == options_.size->size(); });
    if (ladders_.empty()) {
      throw Exit(kUsage, options_.size
                             ? "--size " + options_.size_text + " fits nothing here: " + sizes
                             : "no ladder has all that --variant and --type name; --list shows them");
    }
  }

  // Ladders of the picture's size, with the picture as their input.
  void take_picture() {
    const auto image = read_picture(options_, device_.simt);
    if (!quiet_) {
      for (const std::string& remark : image->remarks)
        std::printf("%s\n", wrap(options_.image + ": " + remark, "  ").c_str());
    }
    for (const LadderInfo*& ladder : ladders_) {
      pictures_.push_back(std::make_unique<LadderInfo>(
          with_picture(*ladder, image, options_.size,
                       device_.simt ? ladder->show_shapes.at(0) : ladder->bench_shapes.at(0))));
      ladder = pictures_.back().get();
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
    if (!options_.image.empty()) {
      const Shape& shape = ladder.bench_shapes[0];
      if (fits(ladder, type, shape, bytes)) return shape;
      throw Exit(kMachine, options_.image + ": " + shape.text("x") + " is too large for " + device_.name);
    }
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
    if (!text.empty()) progress_at(text);
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
    const Row* const begun = row_of(ladder, options_.begun);
    if (begun != nullptr) instance.begins_as(*begun);
    table.traffic = instance.traffic();
    table.flops = instance.flops();
    table.sampled = instance.large();
    table.checked = instance.checked();
    // A small problem is its own small shape.
    const bool big = Instance::device_bytes(ladder, type, table.shape) > kSmallBytes || instance.large();
    const std::unique_ptr<Instance> small = device_.simt || !big ? nullptr : small_instance(ladder, type);
    if (small && begun != nullptr) small->begins_as(*begun);
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
    const std::string wrote =
        options_.out.empty() || lost_ || written_ ? "" : write_picture(table, instance, stream);
    progress("");
    if (!quiet_) {
      if (!tables_.empty()) std::printf("\n");
      device_.simt ? print_counts(table) : print_times(table);
      if (lost_)
        std::printf("%s\n", wrap("The fault ended this run: nothing after " + table.rows.back().row->name +
                                     " was tried.",
                                 "  ")
                                .c_str());
      if (!wrote.empty()) std::printf("%s\n", wrap(wrote, "  ").c_str());
      std::fflush(stdout);
    }
    return table;
  }

  // The result of the first table's best rung: the fastest, or on the CPU, where none is timed, the last one
  // that is right.
  std::string write_picture(const TableResult& table, Instance& instance, cudaStream_t stream) {
    const RowResult* best = nullptr;
    for (const RowResult& row : table.rows) {
      if (row.result != Result::kOk || (row.row->baseline && !named(*row.row))) continue;
      if (best == nullptr || row.timing.seconds <= best->timing.seconds) best = &row;
    }
    if (best == nullptr) return "";
    require(instance.run(*best->row, stream).ok(), best->row->name, " is right no more");
    const Image image = table.ladder->types[table.type].picture_out(instance.host_problem());
    image_files()->write(options_.out, image);
    written_ = true;
    return "Wrote " + options_.out + ": " + std::to_string(image.width) + " x " +
           std::to_string(image.height) + (image.channels == 1 ? " gray" : "") + ", by " + best->row->name +
           ".";
  }

  RowResult check(const LadderInfo& ladder, size_t type, const Row& row, Instance& instance, Instance* small,
                  cudaStream_t stream) {
    RowResult result;
    result.row = &row;
    result.reason = ladder.absent(row, type, device_);
    if (!result.reason.empty()) {
      if (result.reason == "not built") result.result = Result::kMissing;
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
    simt::LaunchStats before;
    Instance::Watch watch;
    watch.before_launch = [&] { before = simt::stats().total; };
    watch.after_launch = [&] {
      const simt::LaunchStats now = simt::stats().total;
      result.workspace_written = instance.workspace_written();
      result.launches = now.launches - before.launches;
      result.threads = now.threads - before.threads;
      result.barriers = now.barriers - before.barriers;
      result.collectives = now.warp_collectives - before.warp_collectives;
      result.atomics = now.atomics - before.atomics;
    };
#else
    const Instance::Watch watch;
#endif
    result.workspace = instance.workspace_bytes(row);
    result.report = instance.run(row, stream, watch);
    result.result = result.report.ok() ? Result::kOk : Result::kFail;
    return result;
  }

  void time_rows(TableResult& table, Instance& instance) {
    // Each row is prepared once. Rows that need scratch memory, or are set up, have the problem to themselves
    // one at a time, so they are prepared before they are timed.
    std::vector<std::function<void(cudaStream_t)>> contestants;
    std::vector<RowResult*> timed;
    bool scratch = false;
    for (RowResult& row : table.rows) {
      if (row.result != Result::kOk) continue;
      scratch = scratch || instance.workspace_bytes(*row.row) > 0 ||
                table.ladder->setup(*row.row, table.type) != nullptr;
      timed.push_back(&row);
    }
    const double budget = 0.3 * static_cast<double>(timed.size());
    if (scratch) {
      for (RowResult* row : timed) {
        progress("timing " + row->row->name);
        instance.prepare(*row->row);
        row->setup_seconds = instance.setup_seconds();
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
    const auto ceiling = [&](Rate rate) {
      if (rates_.count(rate) == 0) rates_[rate] = rate_limit(rate);
      return rates_[rate] ? rates_[rate]->burst : 0;
    };
    const auto name = [](Rate rate) { return std::string(rate_name(rate)) + " rate"; };
    const Rate rate = table.ladder->rate_of(table.type);
    for (RowResult& row : table.rows) {
      const Rate own = table.ladder->rate_of(*row.row, table.type);
      if (row.timing.seconds <= 0 || own == rate || table.flops <= 0) continue;
      row.limit_name = name(own);
      row.limit = ceiling(own);
    }
    if (rate != Rate::kNone) {
      table.limit = ceiling(rate);
      if (table.limit > 0) table.limit_name = name(rate);
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
    std::printf("%s\n", wrap(where, "  ").c_str());
    for (const RowResult& row : table.rows) {
      if (row.limit_name.empty()) continue;
      const std::string limit =
          row.limit > 0 ? three_digits(row.limit / 1e12) + " TFLOP/s" : "not measurable here";
      std::printf("%s\n", wrap("Of " + row.row->name + ": " + row.limit_name + ", " + limit, "  ").c_str());
    }
    std::printf("\n");

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
      const double speed = table.rate(row.timing.seconds), limit = table.limit_of(row),
                   share = limit > 0 ? table.work() / row.timing.seconds / limit : 0;
      std::string shown_time = time_text(row.timing.seconds);
      if (row.timing.noise > 0.02)
        shown_time += " \u00b1" + std::to_string(std::lround(std::ceil(100 * row.timing.noise))) + "%";
      std::string line =
          right(shown_time, time) + right(table.work() > 0 ? three_digits(speed) : "", rate) + "  ";
      if (limit > 0) {
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
      const std::string label = left(row.row->name, name), error = left(error_of(row.report), 5);
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
    for (const RowResult& row : table.rows) {
      if (row.setup_seconds <= 0) continue;
      std::printf("%s\n", wrap(row.row->name + " was set up in " + time_text(row.setup_seconds) +
                                   ", before its launches: in no time above.",
                               "  ")
                              .c_str());
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
                  left(error_of(row.report), 5).c_str(), right(grouped(row.threads), 12).c_str(),
                  right(grouped(row.barriers), 11).c_str(), right(grouped(row.collectives), 11).c_str(),
                  right(grouped(row.atomics), 10).c_str());
    }
    for (const RowResult& row : table.rows) {
      if (row.result != Result::kOk || (row.launches <= 1 && row.workspace == 0)) continue;
      std::string about =
          row.row->name + ": " + std::to_string(row.launches) + " launch" + (row.launches == 1 ? "" : "es");
      if (row.workspace > 0)
        about += ", " + bytes_text(static_cast<double>(row.workspace)) + " of scratch memory";
      std::printf("%s\n", wrap(about, "  ").c_str());
    }
    print_lesson(table);
  }

  // The worst error; where the ladder's .check judged alone, there is none to show.
  static std::string error_of(const Report& report) {
    const auto& outputs = report.outputs;
    const bool compared =
        std::any_of(outputs.begin(), outputs.end(), [](const Report& r) { return !r.checked; });
    return compared || outputs.empty() ? error_text(report.worst) : "rule";
  }
  // 1,048,576
  static std::string grouped(uint64_t value) {
    std::string digits = std::to_string(value);
    for (size_t at = digits.size(); at > 3;) digits.insert(at -= 3, ",");
    return digits;
  }

  const Options& options_;
  Colors colors_;
  bool quiet_;
  const Device& device_;
  std::vector<const LadderInfo*> ladders_;
  std::vector<TableResult> tables_;
  bool lost_ = false;                                  // a kernel's fault made the device unusable
  std::vector<std::unique_ptr<LadderInfo>> pictures_;  // --image: ladders_ points into them
  bool written_ = false;                               // --out
  std::map<Rate, std::optional<Ceiling>> rates_;
  std::map<Mix, std::optional<Ceiling>> bandwidths_;
};

}  // namespace detail

namespace {

int fail(int code, const std::string& line, const std::string& next = "") {
  std::fflush(stdout);
  std::fprintf(stderr, "%s\n", detail::wrap("error: " + line, "  ").c_str());
  if (!next.empty()) std::fprintf(stderr, "  %s\n", next.c_str());
  return code;
}

int run_as_told(int argc, char** argv, const std::vector<const LadderInfo*>& ladders) {
  using detail::kMachine;
  try {
    const detail::Options options = detail::parse_options(argc, argv);
    if (options.help) {
      detail::print_help(ladders, argv[0]);
      return 0;
    }
    if (options.list) {
      if (options.json.empty()) {
        detail::print_list(ladders);
      } else {
        detail::write_json(options.json, description(ladders));
      }
      return 0;
    }
    if (!options.cases.empty()) return detail::run_cases(options, ladders);
    detail::DayRun run(options, ladders);
    return options.once ? run.launch_once() : run.run();
  } catch (const detail::Exit& exit) {
    return fail(exit.code(), exit.what(), exit.next());
  } catch (const ImageError& error) {
    return fail(error.code(), error.what(), error.next());
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

}  // namespace

int run_day(int argc, char** argv, const std::vector<const LadderInfo*>& ladders) {
  progress_begin();
  const int code = run_as_told(argc, argv, ladders);
  const std::string lost = lost_output();
  return progress_end(code != 0 || lost.empty() ? code : fail(detail::kMachine, lost));
}

}  // namespace days
