// SPDX-License-Identifier: MIT
#include "tests/wrong_kernels.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <stdexcept>
#include <utility>

#include "common/error.h"
#include "common/stream.h"
#include "common/testing.h"

#ifdef __SIMT__
#include "simt/runtime.h"
#endif

extern char** environ;

namespace days::testing_detail {
namespace {

// How the ladder's checks take a wrong kernel, as its process says it in a line. A launch that fails is no
// rejection: nothing ran that a check could have found wrong.
constexpr char kRejected[] = "rejected at ", kNotLaunched[] = "did not launch at ", kAccepted[] = "accepted";
// What comes after the output of one: the process waits for the next, or has ended after a fault.
constexpr char kNext[] = "=== next wrong kernel\n", kEnds[] = "=== no wrong kernel after a fault\n";
constexpr char kOption[] = "--run-wrong-kernels";

// The last line of a text that starts with `start`, or "".
std::string last_line(const std::string& text, const char* start) {
  const size_t at = text.rfind(start);
  return at == std::string::npos ? "" : text.substr(at, text.find('\n', at) - at);
}

bool ends_with(const std::string& text, const char* end) {
  const size_t length = std::strlen(end);
  return text.size() >= length && text.compare(text.size() - length, length, end) == 0;
}

// ---- In the wrong kernels' process

// A line, "" where the checks find nothing or where the launcher refuses; and whether the instance is as good as new.
struct Verdict {
  std::string line;
  bool whole;
};
Verdict verdict(Instance& instance, const Row& row, const std::string& where, cudaStream_t stream) {
  std::string found;
  bool whole = true;
  do {
    try {
      instance.prepare(row);
      instance.launch(row, stream);
    } catch (const std::invalid_argument&) {
      return {"", false};
    } catch (const CudaError& error) {
      return {kNotLaunched + where + ": " + error.what(), false};
    }
    if (const cudaError_t code = cudaStreamSynchronize(stream); code != cudaSuccess)
      return {kRejected + where + ": " + cudaGetErrorName(code) + ", " + cudaGetErrorString(code), false};
    found.clear();
    const Report report = instance.verify();
    for (const std::string& line : report.lines()) found += (found.empty() ? "" : "; ") + line;
    whole = report.notes.empty();
  } while (instance.again());
  return {found.empty() ? "" : kRejected + where + ": " + found, whole};
}

// Kept from one wrong kernel of a ladder's type to the next, as most are rejected at the first shapes.
class KeptInstances {
 public:
  Instance& get(const LadderInfo& ladder, size_t type, const Shape& shape, size_t maker) {
    constexpr double kMostBytes = 1 << 26;
    const auto of = std::make_pair(&ladder, type);
    const double bytes = Instance::device_bytes(ladder, type, shape, maker);
    if (of != of_ || bytes_ + bytes > kMostBytes) {
      kept_.clear();
      bytes_ = 0;
    }
    of_ = of;
    std::unique_ptr<Instance>& one = kept_[{shape.text(), maker}];
    if (!one) {
      one = std::make_unique<Instance>(ladder, type, shape, maker, memory_of_tests());
      bytes_ += bytes;
    }
    return *one;
  }
  void drop(const Shape& shape, size_t maker) { kept_.erase({shape.text(), maker}); }

 private:
  std::pair<const LadderInfo*, size_t> of_{nullptr, 0};
  std::map<std::pair<std::string, size_t>, std::unique_ptr<Instance>> kept_;
  double bytes_ = 0;
};

std::string try_to_reject(KeptInstances& instances, const LadderInfo& ladder, size_t type, const Row& row) {
  const Stream stream;
  for (const Shape& shape : ladder.test_shapes) {
    for (size_t maker = 0; maker < ladder.makers.size(); ++maker) {
      const std::string& kind = ladder.makers[maker].name;
      const std::string where = shape.text() + (kind.empty() ? "" : ", " + kind);
      const Verdict found = verdict(instances.get(ladder, type, shape, maker), row, where, stream);
      if (!found.whole) instances.drop(shape, maker);
      if (!found.line.empty()) return found.line;
    }
  }
  return kAccepted;
}

// ---- In the tests' process

std::string& program() {
  static std::string path;
  return path;
}

// The other process: it is told a wrong kernel's number, and says on its standard error what became of it.
class Process {
 public:
  ~Process() { end(); }

  std::string output_of(size_t number) {
    if (id_ < 0) start();
    const std::string line = std::to_string(number) + "\n";
    if (!tell(line)) {  // it died when it had nothing to do
      end();
      start();
      if (!tell(line)) return "its process does not take a word";
    }
    std::string output;
    char bytes[4096];
    while (!ends_with(output, kNext)) {
      const ssize_t got = ::read(from_, bytes, sizeof bytes);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) {
        end();
        break;
      }
      output.append(bytes, static_cast<size_t>(got));
    }
    for (const char* mark : {kNext, kEnds})
      if (ends_with(output, mark)) output.resize(output.size() - std::strlen(mark));
    return output;
  }

  void end() {
    if (id_ < 0) return;
    ::close(to_);
    ::close(from_);
    int status = 0;
    while (::waitpid(id_, &status, 0) < 0 && errno == EINTR) continue;
    id_ = -1;
  }

 private:
  void start() {
    int there[2], back[2];
    if (::pipe(there) != 0 || ::pipe(back) != 0) throw std::runtime_error(std::strerror(errno));
    for (const int one : {there[0], there[1], back[0], back[1]}) ::fcntl(one, F_SETFD, FD_CLOEXEC);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, there[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, back[1], STDERR_FILENO);
    std::string option = kOption;
    char* const arguments[] = {program().data(), option.data(), nullptr};
    std::fflush(stdout);
    const int error = ::posix_spawnp(&id_, program().c_str(), &actions, nullptr, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    ::close(there[0]);
    ::close(back[1]);
    to_ = there[1];
    from_ = back[0];
    if (error == 0) return;
    ::close(to_);
    ::close(from_);
    id_ = -1;
    throw std::runtime_error(program() + " does not start once more: " + std::strerror(error));
  }
  bool tell(const std::string& line) const {
    void (*const before)(int) = std::signal(SIGPIPE, SIG_IGN);
    const ssize_t told = ::write(to_, line.data(), line.size());
    std::signal(SIGPIPE, before);
    return told == static_cast<ssize_t>(line.size());
  }

  pid_t id_ = -1;
  int to_ = -1, from_ = -1;
};
Process& process() {
  static Process one;
  return one;
}

}  // namespace

Instance::Memory memory_for(const char* asked, const char* sanitizer, bool on_gpu) {
  const std::string word = asked == nullptr ? "" : asked;
  if (word == "shared") return Instance::Memory::kShared;
  if (word == "own") return Instance::Memory::kOwn;
  if (!word.empty())
    throw std::invalid_argument("DAYS_TEST_MEMORY is \"" + word + "\": it has to be shared or own");
  return on_gpu && sanitizer == nullptr ? Instance::Memory::kShared : Instance::Memory::kOwn;
}

Instance::Memory memory_of_tests() {
#ifdef __SIMT__
  constexpr bool kOnGpu = false;
#else
  constexpr bool kOnGpu = true;
#endif
  static const Instance::Memory memory =
      memory_for(std::getenv("DAYS_TEST_MEMORY"), std::getenv("NV_SANITIZER_INJECTION_PORT_BASE"), kOnGpu);
  return memory;
}

std::vector<Wrong>& wrongs() {
  static std::vector<Wrong> all;
  return all;
}

std::string kernel_name(const std::string& launcher) {
  const size_t open = launcher.find('<');
  if (launcher.rfind("launch", 0) != 0 || open == std::string::npos) return launcher;
  return launcher.substr(open + 1, launcher.size() - open - 2);
}

bool register_wrong(const Wrong& wrong) {
  wrongs().push_back(wrong);
  return true;
}

bool runs_wrong_kernels(int argc, char** argv) {
  char whole[PATH_MAX];
  const bool found_by_path = std::strchr(argv[0], '/') == nullptr;  // a test may change the working directory
  program() = !found_by_path && ::realpath(argv[0], whole) != nullptr ? whole : argv[0];
  return argc == 2 && std::strcmp(argv[1], kOption) == 0;
}

void run_wrong_kernels() {
  KeptInstances instances;
  char text[32];
  bool lost = false;
  while (!lost && std::fgets(text, sizeof text, stdin) != nullptr) {
    const Wrong& wrong = wrongs().at(std::stoul(text));
    const auto [ladder, type] = find_ladder(wrong.ladder, wrong.problem, wrong.file);
    Row row;
    row.name = kernel_name(wrong.name);
    row.launch.resize(ladder.types.size());
    row.needs.resize(ladder.types.size());
    row.workspace.resize(ladder.types.size());
    row.launch[type] = wrong.launch;
#ifdef __SIMT__
    simt::reset_order();
#endif
    static_cast<void>(cudaGetLastError());  // the one before's
    const std::string line = try_to_reject(instances, ladder, type, row);
    lost = cudaDeviceSynchronize() != cudaSuccess;
    std::fprintf(stderr, "%s\n%s", line.c_str(), lost ? kEnds : kNext);
    std::fflush(stderr);
  }
  std::_Exit(0);
}

void end_wrong_kernels() {
  process().end();
}

std::string output_of_wrong(size_t number) {
  return process().output_of(number);
}

std::string output_of_wrong(const std::string& name) {
  for (size_t i = 0; i < wrongs().size(); ++i)
    if (kernel_name(wrongs()[i].name) == name) return output_of_wrong(i);
  throw std::invalid_argument("no wrong kernel is named " + name);
}

std::string rejection_in(const std::string& output) {
  return last_line(output, kRejected);
}

std::string problem_of_rejection(const std::string& output, const std::string& message) {
  const std::string rejected = last_line(output, kRejected), failed = last_line(output, kNotLaunched);
  if (!failed.empty()) return failed + "\nThat is no rejection: no kernel ran.";
  if (rejected.empty() && last_line(output, kAccepted).empty())
    return "ended its process before any check:\n" + output;
  if (rejected.empty()) return "is wrong, but no shape and no inputs of the ladder's tests show it";
  // What the CPU backend's checker reports goes before: its slug, "[simt-race-shared]", is a reason too.
  const std::string report = last_line(output, "[simt-");
  for (size_t begin = 0; begin <= message.size();) {
    const size_t end = std::min(message.find('|', begin), message.size());
    const std::string text = message.substr(begin, end - begin);
    if (rejected.find(text) != std::string::npos || report.find(text) != std::string::npos) return "";
    begin = end + 1;
  }
  return "is " + rejected + (report.empty() ? "" : "\n" + report) + "\nThat does not say \"" + message +
         "\": it is rejected for another reason.";
}

}  // namespace days::testing_detail
