// SPDX-License-Identifier: MIT
//
// Behind common/program.h. A program is linked with this file and with core.cpp, and not with the harness.
#include "common/program.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <exception>
#include <map>
#include <new>
#include <stdexcept>

#include "common/compare.h"
#include "common/device.h"
#include "common/error.h"
#include "common/harness/text.h"
#include "common/json.h"
#include "common/machine.h"
#include "common/output.h"
#include "common/progress.h"
#include "common/timing.h"

namespace days {
namespace {

struct Row {
  std::string name;
  Timing timing;
  double best;
};

struct Rows : Table {
  std::vector<Row> rows = {};

  double best() const {
    double least = 0;
    for (const Row& row : rows)
      if (row.best > 0 && (least == 0 || row.best < least)) least = row.best;
    return least;
  }
};

struct Operation {
  const char* kind;
  int stream;
  cudaEvent_t begin, end;
};

size_t parse_size(const std::string& text) {
  constexpr size_t kMost = size_t{1} << 36;
  size_t value = 0;
  for (const char digit : text) {
    if (digit < '0' || digit > '9' || value > kMost) {
      value = 0;
      break;
    }
    value = 10 * value + static_cast<size_t>(digit - '0');
  }
  if (value == 0 || value > kMost)
    throw std::invalid_argument("--size is a number of elements from 1 to 2^36, not \"" + text + "\"");
  return value;
}

// What a flag of a program's own was given.
struct Given {
  int64_t number = 0;
  std::string text;
  bool on = false;
};

std::string listed(const std::vector<std::string>& words, const char* last) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i)
    text += (i == 0 ? "" : i + 1 == words.size() ? last : ", ") + words[i];
  return text;
}

Given parse(const Flag& flag, const std::string& text) {
  const std::string name = flag.name;
  Given given{0, text, true};
  if (flag.kind == Flag::Kind::number) {
    const char* const end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, given.number);
    if (error != std::errc() || at != end || given.number < flag.least || given.number > flag.most)
      throw std::invalid_argument(name + " is a number from " + std::to_string(flag.least) + " to " +
                                  std::to_string(flag.most) + ", not \"" + text + "\"");
    given.text.clear();
  } else if (flag.kind == Flag::Kind::choice) {
    if (std::find(flag.choices.begin(), flag.choices.end(), text) == flag.choices.end())
      throw std::invalid_argument(name + " is " + listed(flag.choices, " or ") + ", not \"" + text + "\"");
  } else if (flag.kind == Flag::Kind::file) {
    std::FILE* const file = std::fopen(text.c_str(), "rb");
    // A folder can be opened, and not read.
    const bool good = file != nullptr && (std::fgetc(file) != EOF || std::ferror(file) == 0);
    const int error = errno;
    if (file != nullptr) static_cast<void>(std::fclose(file));
    if (!good) throw std::invalid_argument(name + " is a file: " + text + ": " + std::strerror(error));
  } else if (flag.kind == Flag::Kind::path && text.empty()) {
    throw std::invalid_argument(name + " is a path, and empty");
  }
  return given;
}

std::string help(const Flag& flag) {
  std::string left = "  " + std::string(flag.name), right = flag.does;
  if (flag.kind == Flag::Kind::number) {
    left += " N";
    right += ", " + std::to_string(flag.least) + " to " + std::to_string(flag.most) + " (" +
             std::to_string(flag.preset) + ")";
  } else if (flag.kind == Flag::Kind::choice) {
    left += " NAME";
    right += ": " + listed(flag.choices, " or ") + " (" + flag.choices.at(0) + ")";
  } else if (flag.kind == Flag::Kind::file) {
    left += " FILE";
  } else if (flag.kind == Flag::Kind::path) {
    left += " PATH";
  }
  left.resize(std::max<size_t>(20, left.size() + 2), ' ');
  return left + right + "\n";
}

template <class T>
std::string text_of(T value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.10g", to_double(value));
  return value == value ? text : "nan";  // its sign bit says nothing
}

void write(const std::string& path, const std::string& text) {
  OutputFile file(path);
  if (file.file() == nullptr || std::fputs(text.c_str(), file.file()) < 0 || !file.commit())
    throw std::invalid_argument(path + ": " + std::strerror(errno));
}

}  // namespace

struct Program::State {
  About about;
  size_t size = 0, compared = 0;
  bool help = false, wrong = false, recording = false;
  double worst = 0;  // the largest error of all that was compared
  std::string json, timeline, skipped, done;
  std::map<std::string, Given> given;
  std::vector<Rows> tables;
  std::vector<Operation> operations;

  const Given& own(const std::string& flag, Flag::Kind kind) const {
    const auto found = given.find(flag);
    for (const Flag& one : about.flags)
      if (flag == one.name && kind == one.kind && found != given.end()) return found->second;
    throw std::logic_error(std::string(about.name) + " asks for " + flag +
                           ", which its About has not, or has as another kind");
  }

  Rows& table() {
    if (tables.empty()) tables.emplace_back();
    return tables.back();
  }

  template <class T>
  bool compare(const T* got, const T* expected, size_t n, const char* name, const Bound& bound) {
    constexpr size_t kShown = 3;
    size_t differ = 0;
    double most = 0;
    for (size_t i = 0; i < n; ++i) {
      if (got[i] == expected[i]) continue;
      const double want = to_double(expected[i]), error = std::abs(to_double(got[i]) - want);
      if (std::isnan(error) || error > most) most = error;
      if (error <= bound.absolute + bound.relative * std::abs(want) && error > 0 && std::isfinite(want))
        continue;
      if (++differ <= kShown)
        std::printf("%s[%zu] is %s, expected %s\n", name, i, text_of(got[i]).c_str(),
                    text_of(expected[i]).c_str());
    }
    compared += n;
    if (differ > 0) {
      const bool bounded = bound.absolute > 0 || bound.relative > 0;
      std::printf("%s: %zu of %zu elements are wrong%s\n", name, differ, n,
                  bounded ? (", the worst by " + text_of(most)).c_str() : "");
      wrong = true;
    }
    if (std::isfinite(most)) worst = std::max(worst, most);
    return differ == 0;
  }

  void results_of(Json& out, const Rows& table) const;
  std::string results() const;
  std::string times();
};

void Program::State::results_of(Json& out, const Rows& table) const {
  const double bytes = table.read_bytes + table.written_bytes, work = table.units > 0 ? table.units : bytes;
  out.open('{');
  out.member("ladder", about.name);
  if (*table.part != 0) out.member("part", table.part);
  out.member("type", about.type);
  out.key("shape");
  out.open('{');
  const auto own = given.find("--size");
  if (own == given.end()) {
    out.member("n", size);
  } else if (own->second.text.empty()) {
    out.member("n", own->second.number);
  } else {
    out.member("size", own->second.text);
  }
  out.close();
  out.member("read_bytes", table.read_bytes);
  out.member("written_bytes", table.written_bytes);
  out.member("flops", 0);
  if (table.units > 0) {
    out.key("work");
    out.open('{');
    out.member("unit", table.unit);
    out.member("units", table.units);
    out.close();
  }
  out.member("verified", "reference");
  if (table.best() > 0 && work > 0) {
    out.key("limit");
    out.open('{');
    out.member("name", table.limit);
    out.member("per_second", work / table.best());
    out.close();
  }
  out.key("rows");
  out.open('[');
  for (const Row& row : table.rows) {
    out.open('{');
    out.member("name", row.name);
    out.member("kind", "variant");
    out.member("result", wrong ? "fail" : "ok");
    if (!wrong && row.timing.seconds > 0) {
      out.member("worst_error", worst);
      out.member("seconds", row.timing.seconds);
      out.member("noise", row.timing.noise);
      out.member("runs", row.timing.runs);
      if (bytes > 0) out.member("bytes_per_second", bytes / row.timing.seconds);
      if (table.units > 0) out.member("units_per_second", table.units / row.timing.seconds);
      if (row.best > 0) out.member("of_limit", row.best / row.timing.seconds);
    }
    out.close();
  }
  if (!skipped.empty() && &table == &tables.back()) {
    out.open('{');
    out.member("name", about.name);
    out.member("kind", "variant");
    out.member("result", "skip");
    out.member("reason", skipped);
    out.close();
  }
  out.close();
  out.close();
}

// docs/results.md
std::string Program::State::results() const {
  Json out;
  out.open('{');
  out.member("schema", 1);
  out.member("day", "");  // ./days bench knows
  out.member("command", "bench");
  write_machine(out, query_device());
  out.key("tables");
  out.open('[');
  for (const Rows& table : tables) results_of(out, table);
  out.close();
  out.close();
  return out.text() + "\n";
}

// {"operations": [{"number", "kind", "stream", "begin", "end"}]}, in seconds from the first operation on.
std::string Program::State::times() {
  CUDA_CHECK(cudaDeviceSynchronize());
  Json out;
  out.open('{');
  out.key("operations");
  out.open('[');
  int count = 0;
  for (const Operation& operation : operations) {
    float begin = 0, end = 0;
    CUDA_CHECK(cudaEventElapsedTime(&begin, operations[0].begin, operation.begin));
    CUDA_CHECK(cudaEventElapsedTime(&end, operations[0].begin, operation.end));
    out.open('{');
    out.member("number", ++count);
    out.member("kind", operation.kind);
    out.member("stream", "stream " + std::to_string(operation.stream));
    out.member("begin", 1e-3 * begin);
    out.member("end", 1e-3 * end);
    out.close();
  }
  for (const Operation& operation : operations) {
    CUDA_CHECK(cudaEventDestroy(operation.begin));
    CUDA_CHECK(cudaEventDestroy(operation.end));
  }
  operations.clear();
  out.close();
  out.close();
  return out.text() + "\n";
}

Program::Program(int argc, char** argv, const About& about) : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.about = about;
  s.size = on_gpu() ? about.gpu_size : about.cpu_size;
  std::vector<std::string> known;
  for (const Flag& own : about.flags) {
    s.given[own.name] = {own.preset, own.kind == Flag::Kind::choice ? own.choices.at(0) : "", false};
    known.push_back(own.name);
  }
  if (s.given.count("--size") == 0) known.push_back("--size");
  known.insert(known.end(), {"--json", "--timeline", "--help"});
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    if (flag == "--help" || flag == "-h") {
      s.help = true;
      continue;
    }
    const auto own = std::find_if(about.flags.begin(), about.flags.end(),
                                  [&](const Flag& one) { return flag == one.name; });
    if (own == about.flags.end() && std::find(known.begin(), known.end(), flag) == known.end())
      throw std::invalid_argument("there is no flag " + flag +
                                  (about.flags.empty() ? "" : "; there are " + listed(known, " and ")) +
                                  "; see --help");
    if (own != about.flags.end() && own->kind == Flag::Kind::toggle) {
      s.given[flag] = parse(*own, "");
      continue;
    }
    if (i + 1 == argc) throw std::invalid_argument(flag + " needs a value");
    const std::string value = argv[++i];
    if (own != about.flags.end()) {
      s.given[flag] = parse(*own, value);
    } else if (flag == "--size") {
      s.size = parse_size(value);
    } else {
      (flag == "--json" ? s.json : s.timeline) = value;
    }
  }
}
Program::~Program() = default;

size_t Program::size() const {
  return state_->size;
}
int64_t Program::number(const char* flag) const {
  return state_->own(flag, Flag::Kind::number).number;
}
const std::string& Program::choice(const char* flag) const {
  return state_->own(flag, Flag::Kind::choice).text;
}
const std::string& Program::file(const char* flag) const {
  return state_->own(flag, Flag::Kind::file).text;
}
const std::string& Program::path(const char* flag) const {
  return state_->own(flag, Flag::Kind::path).text;
}
bool Program::on(const char* flag) const {
  return state_->own(flag, Flag::Kind::toggle).on;
}

template <class T>
bool Program::compare(const T* got, const T* expected, size_t n, const char* name) {
  return state_->compare(got, expected, n, name, Bound());
}
template <class T>
bool Program::compare(const T* got, const T* expected, size_t n, const char* name, const Bound& bound) {
  return state_->compare(got, expected, n, name, bound);
}
#define DAYS_COMPARES(T)                                                   \
  template bool Program::compare(const T*, const T*, size_t, const char*); \
  template bool Program::compare(const T*, const T*, size_t, const char*, const Bound&)
DAYS_COMPARES(float);
DAYS_COMPARES(double);
DAYS_COMPARES(half);
DAYS_COMPARES(bf16);
DAYS_COMPARES(int8_t);
DAYS_COMPARES(uint8_t);
DAYS_COMPARES(int16_t);
DAYS_COMPARES(int32_t);
DAYS_COMPARES(uint32_t);
DAYS_COMPARES(int64_t);
#undef DAYS_COMPARES

void Program::progress(size_t done, size_t of, const char* unit) {
  State& s = *state_;
  const std::string text = std::string(unit) + " " + std::to_string(done) + " of " + std::to_string(of);
  progress_at(std::string(s.about.name) + ", " + text);
  if (isatty(1) == 0 || isatty(2) == 0) return;
  // What is printed next begins in the same column, and takes its place.
  std::fflush(stdout);
  std::fprintf(stderr, done < of ? "\033[K%s\r" : "\033[K", text.c_str());
}
void Program::skip(const std::string& reason) {
  state_->skipped = reason;
}
void Program::done(const std::string& what) {
  state_->done = what;
}
void Program::table(const Table& table) {
  if (table.units > 0 && *table.unit == 0) throw std::logic_error("a table's units have no name");
  state_->tables.push_back({table});
}
void Program::table(double read_bytes, double written_bytes, const char* limit) {
  table({read_bytes, written_bytes, limit});
}
void Program::row(const std::string& name, const Timing& timing, double best) {
  state_->table().rows.push_back({name, timing, best});
}
void Program::record(const Callable<>& work) {
  if (state_->timeline.empty()) return;
  CUDA_CHECK(cudaDeviceSynchronize());
  state_->recording = true;
  work();
  state_->recording = false;
  CUDA_CHECK(cudaDeviceSynchronize());
}
bool Program::recording() const {
  return state_->recording;
}

int Program::finish() {
  State& s = *state_;
  if (!s.json.empty()) {
    s.table();  // one at least
    write(s.json, s.results());
  }
  if (!s.timeline.empty()) write(s.timeline, s.times());
  if (s.wrong) {
    std::printf("FAIL: %s\n", s.about.name);
    return 1;
  }
  if (!s.skipped.empty()) {
    std::printf("skip: %s\n", s.skipped.c_str());
    return 0;
  }
  if (s.compared == 0 && !s.done.empty()) {
    std::printf("ok: %s\n", s.done.c_str());
    return 0;
  }
  if (s.compared == 0) {
    std::printf("FAIL: %s has compared nothing\n", s.about.name);
    return 1;
  }
  std::printf("ok: %zu elements are right\n", s.compared);
  return 0;
}

Span::Span(Program& program, const char* kind, int number, cudaStream_t stream)
    : program_(program.recording() ? &program : nullptr), kind_(kind), number_(number), stream_(stream) {
  if (program_ == nullptr) return;
  CUDA_CHECK(cudaEventCreate(&begin_));
  CUDA_CHECK(cudaEventCreate(&end_));
  CUDA_CHECK(cudaEventRecord(begin_, stream_));
}
Span::~Span() {
  if (program_ == nullptr) return;
  static_cast<void>(cudaEventRecord(end_, stream_));
  program_->state_->operations.push_back({kind_, number_, begin_, end_});
}

Timing time_streams(const std::vector<cudaStream_t>& streams, int runs, const Callable<>& work) {
  Stream control;
  EventTimer timer;
  std::vector<cudaEvent_t> ends(streams.size());
  cudaEvent_t begin = nullptr;
  CUDA_CHECK(cudaEventCreateWithFlags(&begin, cudaEventDisableTiming));
  for (cudaEvent_t& end : ends) CUDA_CHECK(cudaEventCreateWithFlags(&end, cudaEventDisableTiming));
  std::vector<double> seconds;
  for (int run = 0; run <= runs; ++run) {  // the first one warms up
    CUDA_CHECK(cudaDeviceSynchronize());
    timer.start(control);
    CUDA_CHECK(cudaEventRecord(begin, control));
    for (const cudaStream_t stream : streams) CUDA_CHECK(cudaStreamWaitEvent(stream, begin, 0));
    work();
    for (size_t i = 0; i < streams.size(); ++i) {
      CUDA_CHECK(cudaEventRecord(ends[i], streams[i]));
      CUDA_CHECK(cudaStreamWaitEvent(control, ends[i], 0));
    }
    timer.stop(control);
    const double s = timer.seconds();
    if (run > 0) seconds.push_back(s);
  }
  CUDA_CHECK(cudaEventDestroy(begin));
  for (const cudaEvent_t end : ends) CUDA_CHECK(cudaEventDestroy(end));
  return summarize(seconds);
}

int program(int argc, char** argv, const About& about, const Callable<Program&>& body) {
  progress_begin();
  const auto fail = [](int code, const std::string& line) {
    std::fflush(stdout);
    std::fprintf(stderr, "%s\n", detail::wrap("error: " + line, "  ").c_str());
    return progress_end(code);
  };
  try {
    Program made(argc, argv, about);
    if (made.state_->help) {
      std::printf("%s: %s\n", about.name, about.does);
      for (const Flag& flag : about.flags) std::printf("%s", help(flag).c_str());
      if (made.state_->given.count("--size") == 0) std::printf("  --size N          elements\n");
      std::printf(
          "  --json FILE       what was measured (docs/results.md)\n"
          "  --timeline FILE   when each operation began and ended, by CUDA events\n");
    } else {
      body(made);
      CUDA_CHECK(cudaDeviceSynchronize());
    }
    const int code = made.state_->help ? 0 : made.finish();
    const std::string lost = lost_output();
    return code != 0 || lost.empty() ? progress_end(code) : fail(3, lost);
  } catch (const std::invalid_argument& error) {
    return fail(2, error.what());
  } catch (const CudaError& error) {
    const std::string machine = machine_error(error.code());
    if (!machine.empty()) return fail(3, machine);
    if (error.code() == cudaErrorMemoryAllocation) return fail(3, "memory is full; try a smaller --size");
    return fail(1, error.what());
  } catch (const std::bad_alloc&) {
    return fail(3, "memory is full; try a smaller --size");
  } catch (const std::exception& error) {
    return fail(1, error.what());
  }
}

}  // namespace days
