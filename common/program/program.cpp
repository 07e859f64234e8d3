// SPDX-License-Identifier: MIT
//
// Behind common/program.h. A program is linked with this file and with core.cpp, and not with the harness.
#include "common/program.h"

#include <cerrno>
#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>

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

template <class T>
std::string number(T value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.10g", static_cast<double>(value));
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
  std::string json, timeline, skipped;
  double read = 0, written = 0;
  const char* limit = "";
  std::vector<Row> rows;
  std::vector<Operation> operations;

  template <class T>
  bool compare(const T* got, const T* expected, size_t n, const char* name) {
    constexpr size_t kShown = 3;
    size_t differ = 0;
    for (size_t i = 0; i < n; ++i) {
      if (got[i] == expected[i]) continue;
      if (++differ <= kShown)
        std::printf("%s[%zu] is %s, expected %s\n", name, i, number(got[i]).c_str(),
                    number(expected[i]).c_str());
    }
    compared += n;
    if (differ > 0) {
      std::printf("%s: %zu of %zu elements are wrong\n", name, differ, n);
      wrong = true;
    }
    return differ == 0;
  }

  double best() const {
    double least = 0;
    for (const Row& row : rows)
      if (row.best > 0 && (least == 0 || row.best < least)) least = row.best;
    return least;
  }

  std::string results() const;
  std::string times();
};

// One table, docs/results.md.
std::string Program::State::results() const {
  const double bytes = read + written;
  Json out;
  out.open('{');
  out.member("schema", 1);
  out.member("day", "");  // ./days bench knows
  out.member("command", "bench");
  write_machine(out, query_device());
  out.key("tables");
  out.open('[');
  out.open('{');
  out.member("ladder", about.name);
  out.member("type", about.type);
  out.key("shape");
  out.open('{');
  out.member("n", size);
  out.close();
  out.member("read_bytes", read);
  out.member("written_bytes", written);
  out.member("flops", 0);
  out.member("verified", "reference");
  if (best() > 0 && bytes > 0) {
    out.key("limit");
    out.open('{');
    out.member("name", limit);
    out.member("per_second", bytes / best());
    out.close();
  }
  out.key("rows");
  out.open('[');
  for (const Row& row : rows) {
    out.open('{');
    out.member("name", row.name);
    out.member("kind", "variant");
    out.member("result", wrong ? "fail" : "ok");
    if (!wrong && row.timing.seconds > 0) {
      out.member("worst_error", 0);
      out.member("seconds", row.timing.seconds);
      out.member("noise", row.timing.noise);
      out.member("runs", row.timing.runs);
      if (bytes > 0) out.member("bytes_per_second", bytes / row.timing.seconds);
      if (row.best > 0) out.member("of_limit", row.best / row.timing.seconds);
    }
    out.close();
  }
  if (!skipped.empty()) {
    out.open('{');
    out.member("name", about.name);
    out.member("kind", "variant");
    out.member("result", "skip");
    out.member("reason", skipped);
    out.close();
  }
  out.close();
  out.close();
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
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    if (flag == "--help" || flag == "-h") {
      s.help = true;
      continue;
    }
    if (flag != "--size" && flag != "--json" && flag != "--timeline")
      throw std::invalid_argument("there is no flag " + flag + "; see --help");
    if (i + 1 == argc) throw std::invalid_argument(flag + " needs a value");
    const std::string value = argv[++i];
    if (flag == "--size") {
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
bool Program::compare(const float* got, const float* expected, size_t n, const char* name) {
  return state_->compare(got, expected, n, name);
}
bool Program::compare(const int* got, const int* expected, size_t n, const char* name) {
  return state_->compare(got, expected, n, name);
}
bool Program::compare(const uint32_t* got, const uint32_t* expected, size_t n, const char* name) {
  return state_->compare(got, expected, n, name);
}
void Program::skip(const std::string& reason) {
  state_->skipped = reason;
}
void Program::table(double read_bytes, double written_bytes, const char* limit) {
  state_->read = read_bytes;
  state_->written = written_bytes;
  state_->limit = limit;
}
void Program::row(const std::string& name, const Timing& timing, double best) {
  state_->rows.push_back({name, timing, best});
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
  if (!s.json.empty()) write(s.json, s.results());
  if (!s.timeline.empty()) write(s.timeline, s.times());
  if (s.wrong) {
    std::printf("FAIL: %s\n", s.about.name);
    return 1;
  }
  if (!s.skipped.empty()) {
    std::printf("skip: %s\n", s.skipped.c_str());
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
      std::printf(
          "%s: %s\n  --size N          elements\n  --json FILE       what was measured (docs/results.md)\n"
          "  --timeline FILE   when each operation began and ended, by CUDA events\n",
          about.name, about.does);
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
