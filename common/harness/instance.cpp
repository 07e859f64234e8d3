// SPDX-License-Identifier: MIT
//
// The harness's host code, but for a day's executable: inputs, problems that are run and checked, results.

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>
#include <exception>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "common/error.h"
#include "common/graph.h"
#include "common/harness.h"
#include "common/harness/arena.h"
#include "common/harness/inputs.h"
#include "common/harness/ladder.h"
#include "common/harness/parallel.h"
#include "common/harness/results.h"
#include "common/instance.h"
#include "common/timing.h"

#ifdef __SIMT__
#include "simt/runtime.h"
#endif

namespace days {
namespace detail {

// Inputs of at least this many bytes are checked on the device, by fingerprint, and smaller ones byte by
// byte.
inline constexpr size_t kFingerprintFrom = size_t{1} << 24;
// From here on a reference that can be split takes several threads.
inline constexpr double kByRowsFrom = 1 << 22;

// What a launcher, or a set-up, refuses.
class Refused : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

// What is launched meanwhile is in no trace: set-ups, and runs that only check again.
class Uncounted {
 public:
  Uncounted() { count(false); }
  ~Uncounted() { count(true); }
  Uncounted(const Uncounted&) = delete;
  Uncounted& operator=(const Uncounted&) = delete;

 private:
  static void count([[maybe_unused]] bool counted) {
#ifdef __SIMT__
    simt::trace_launches(counted);
#endif
  }
};

inline std::unique_ptr<unsigned char[]> copy_of(const unsigned char* data, size_t bytes) {
  std::unique_ptr<unsigned char[]> copy(new unsigned char[bytes]);
  std::memcpy(copy.get(), data, bytes);
  return copy;
}

inline std::string role_of(const Inputs::Buffer& buffer) {
  return buffer.role == Inputs::Role::kInput    ? "input "
         : buffer.role == Inputs::Role::kOutput ? "output "
                                                : "in-place ";
}
// "input x"
inline std::string title(const Inputs::Buffer& buffer) {
  return role_of(buffer) + buffer.name;
}

// Reports of the CPU backend then say "b (3 x 4), a device buffer of 48 bytes".
inline void name_for_reports([[maybe_unused]] const Inputs::Buffer& buffer) {
#ifdef __SIMT__
  std::string extents;
  for (const int64_t extent : buffer.dims) extents += (extents.empty() ? "" : " x ") + std::to_string(extent);
  simt::name_memory(buffer.device.data(),
                    (buffer.name + (buffer.dims.size() > 1 ? " (" + extents + ")" : "")).c_str());
#endif
}

// "input x[3] was changed"
inline std::string changed(const Inputs::Buffer& buffer, size_t byte) {
  const size_t element = byte * 8 / buffer.type->bits;
  if (element < buffer.lead)
    return title(buffer) + ": what is " + std::to_string(buffer.lead - element) +
           " before its first element was changed";
  return role_of(buffer) + place(buffer.name, buffer.dims, element - buffer.lead) + " was changed";
}

}  // namespace detail

Instance::Instance(const LadderInfo& ladder, size_t type, const Shape& shape, size_t maker, Memory memory)
    : ladder_(ladder),
      type_(type),
      shape_(shape),
      maker_(maker),
      device_problem_(new_problem(ladder.types.at(type))),
      arena_(memory == Memory::kShared ? std::make_shared<detail::Arena>() : nullptr),
      device_(arena_.get()) {
  ladder_.makers.at(maker_).make[type_](device_problem_.get(), shape_, device_);
  if (arena_) buffers_used_ = arena_->used();
  waited_ = false;  // kernels fill what is not shared
  wait();
  for (const Inputs::Buffer& buffer : device_.buffers()) {
    if (buffer.shared == nullptr) detail::name_for_reports(buffer);
    const bool large = !buffer.written() && buffer.bytes() >= detail::kFingerprintFrom;
    fingerprints_.push_back(large ? fingerprint(buffer.device.data(), buffer.bytes()) : 0);
  }
}

double Instance::device_bytes(const LadderInfo& ladder, size_t type, const Shape& shape, size_t maker) {
  Inputs counter(Inputs::Where::kNowhere);
  const std::shared_ptr<void> problem = new_problem(ladder.types.at(type));
  ladder.makers.at(maker).make[type](problem.get(), shape, counter);
  return counter.bytes();
}

Shape Instance::cpu_shape(const LadderInfo& ladder, size_t type, const Shape& shape) {
  Shape now = shape;
  const Typed& typed = ladder.types.at(type);
  while (typed.flops && typed.check_large) {
    Inputs counter(Inputs::Where::kNowhere);
    const std::shared_ptr<void> problem = new_problem(typed);
    ladder.makers.at(0).make[type](problem.get(), now, counter);
    if (typed.flops(problem.get()) <= kLargeFlops) break;
    std::vector<int64_t> numbers;
    for (const int64_t n : now.numbers()) numbers.push_back(std::max<int64_t>(1, n / 2));
    now = Shape(std::move(numbers));
  }
  return now;
}

Traffic Instance::traffic() const {
  return typed().traffic ? typed().traffic(device_problem_.get()) : Traffic{};
}

double Instance::flops() const {
  return typed().flops ? typed().flops(device_problem_.get()) : 0;
}

bool Instance::supports(const Row& row) const {
  const auto takes = [&](const Row& one) {
    return !one.needs[type_] || one.needs[type_](device_problem_.get());
  };
  return takes(row) && (begun_ == nullptr || takes(*begun_));
}

size_t Instance::workspace_bytes(const Row& row) const {
  const auto bytes = [&](const Row& one) {
    return one.workspace[type_] ? one.workspace[type_](device_problem_.get()) : 0;
  };
  return std::max(bytes(row), begun_ == nullptr ? 0 : bytes(*begun_));
}

size_t Instance::workspace_written() const {
  std::vector<unsigned char> now(workspace_size_);
  if (now.empty()) return 0;
  CUDA_CHECK(cudaMemcpy(now.data(), workspace_data(), now.size(), cudaMemcpyDeviceToHost));
  size_t written = 0;
  for (size_t word = 0; word < now.size(); word += 4) {
    const auto first = now.begin() + static_cast<ptrdiff_t>(word);
    const size_t bytes = std::min<size_t>(4, now.size() - word);
    const bool filled = std::all_of(first, first + static_cast<ptrdiff_t>(bytes),
                                    [](unsigned char b) { return b == DeviceMemory::kGuard; });
    written += filled ? 0 : bytes;
  }
  return written;
}

void Instance::make_host() {
  if (host_) return;
  host_ = std::make_unique<Inputs>(Inputs::Where::kHost, &device_);
  host_problem_ = new_problem(typed());
  ladder_.makers[maker_].make[type_](host_problem_.get(), shape_, *host_);
  require(host_->buffers().size() == device_.buffers().size(), ladder_.name,
          ": .inputs makes other buffers the second time");
}

// In-place buffers back to their values before a run.
void Instance::reset_host() {
  for (Inputs::Buffer& buffer : host_->buffers()) {
    if (buffer.initial) std::memcpy(buffer.host.get(), buffer.initial.get(), buffer.bytes());
  }
}

void Instance::fill_host() {
  reset_host();
  for (Inputs::Buffer& buffer : host_->buffers()) {
    if (buffer.role == Inputs::Role::kOutput) std::memset(buffer.host.get(), fill_of(buffer), buffer.bytes());
  }
}

void Instance::run_reference() {
  if (expected_[other_fill_]) return;
  make_host();
  fill_host();
  require(static_cast<bool>(typed().reference), ladder_.name, " has no .reference");
  if (typed().reference_by_rows && device_.bytes() >= detail::kByRowsFrom) {
    typed().reference_by_rows(host_problem_.get(), typed().reference);
  } else {
    const double seconds = cpu_seconds([&] { typed().reference(host_problem_.get()); });
    if (!other_fill_) reference_seconds_ = seconds;
  }
  expected_[other_fill_] = true;
  for (Inputs::Buffer& buffer : host_->buffers()) {
    if (buffer.written()) buffer.expected[other_fill_] = detail::copy_of(buffer.host.get(), buffer.bytes());
  }
  if (!other_fill_) find_bounds();
}

bool Instance::has_check(const Inputs::Buffer& buffer) const {
  const auto& checks = typed().checks;
  return checked() || std::any_of(checks.begin(), checks.end(),
                                  [&](const auto& check) { return check.first == buffer.name; });
}

// After the reference, since a policy may run a plain version into the host's outputs.
void Instance::find_bounds() {
  for (const auto& [output, policy] : typed().tolerances) {
    const bool here =
        std::any_of(host_->buffers().begin(), host_->buffers().end(),
                    [&, name = output](const Inputs::Buffer& b) { return b.written() && b.name == name; });
    require(here, ladder_.name, ": .tolerance of an output that there is not: ", output);
  }
  bounds_.assign(host_->buffers().size(), Bound{});
  for (size_t i = 0; i < bounds_.size(); ++i) {
    const Inputs::Buffer& buffer = host_->buffers()[i];
    if (!buffer.written() || has_check(buffer)) continue;
    const auto own = std::find_if(typed().tolerances.begin(), typed().tolerances.end(),
                                  [&](const auto& tolerance) { return tolerance.first == buffer.name; });
    const bool has_own = own != typed().tolerances.end();
    // A tolerance in units of the ladder's type says nothing of another type, unless it is 0.
    const bool other_type = !has_own && buffer.type->name != typed().name;
    if (other_type && !buffer.type->floating) continue;
    require(has_own || typed().tolerance, ladder_.name, " has no .tolerance");
    reset_host();
    host_->judge(i);
    bounds_[i] = (has_own ? own->second : typed().tolerance)(host_problem_.get(), *host_);
    require(!other_type || (bounds_[i].absolute == 0 && bounds_[i].relative == 0), ladder_.name, ": output ",
            buffer.name, " is ", buffer.type->name, ", the ladder ", typed().name,
            ": it needs a .tolerance of its own");
  }
}

// The byte that fills an output before a run.
unsigned char Instance::fill_of(const Inputs::Buffer& buffer) const {
  return static_cast<unsigned char>(other_fill_ ? ~buffer.type->poison : buffer.type->poison);
}

void Instance::wait() const {
  if (waited_) return;
  CUDA_CHECK(cudaDeviceSynchronize());
  waited_ = true;
}

// `shared`: those in the arena too, which its upload() has not just reset.
void Instance::reset_outputs(bool shared) {
  for (size_t i = 0; i < device_.buffers().size(); ++i) {
    const Inputs::Buffer& buffer = device_.buffers()[i];
    if (!buffer.written() || buffer.bytes() == 0 || (buffer.shared != nullptr && !shared)) continue;
    if (buffer.role == Inputs::Role::kInOut) {
      CUDA_CHECK(cudaMemcpy(buffer.base(), host_->buffers()[i].initial.get(), buffer.bytes(),
                            cudaMemcpyHostToDevice));
    } else {
      CUDA_CHECK(cudaMemsetAsync(buffer.base(), fill_of(buffer), buffer.bytes()));
    }
  }
  CUDA_CHECK(cudaDeviceSynchronize());
}

const detail::SetUp* Instance::setup_of(const Row& row) const {
  const detail::SetUp* const own = ladder_.setup(row, type_);
  return own != nullptr || begun_ == nullptr ? own : ladder_.setup(*begun_, type_);
}

void Instance::set_up(const Row& row) {
  const detail::SetUp* const make = setup_of(row);
  if (make == nullptr) return;
  require(typed().set_setup != nullptr, ladder_.name, ": the problem has no member `days::Setup setup`");
  const detail::Uncounted uncounted;
  detail::MadeSetup made{};
  const Stream stream;
  try {
    setup_seconds_ = cpu_seconds([&] {
      made = (*make)(device_problem_.get(), stream);
      CUDA_CHECK(cudaStreamSynchronize(stream));
    });
  } catch (const std::invalid_argument& error) {
    throw detail::Refused(error.what());
  }
  setup_ = {made.state, made.destroy};
  made_setup_ = Setup(made.state, made.tag);
  typed().set_setup(device_problem_.get(), made_setup_);
}

void Instance::reset_workspace(size_t bytes, size_t short_by) {
  if (arena_) arena_->give_up(buffers_used_);
  shared_workspace_ = arena_ && bytes > 0 ? arena_->place(bytes, DeviceMemory::kGuard) : nullptr;
  workspace_size_ = bytes;
  if (shared_workspace_ == nullptr) {
    if (workspace_.bytes() != bytes || bytes == 0) workspace_ = DeviceMemory(bytes);
    workspace_.fill(DeviceMemory::kGuard);
  }
  typed().set_workspace(device_problem_.get(),
                        bytes == 0 ? Workspace{} : Workspace{workspace_data(), bytes - short_by});
}

void Instance::prepare(const Row& row, size_t short_by) {
  make_host();
  if (setup_) {
    CUDA_CHECK(cudaDeviceSynchronize());
    setup_.reset();
    typed().set_setup(device_problem_.get(), Setup{});
  }
  setup_seconds_ = 0;
  if (typed().set_workspace) reset_workspace(workspace_bytes(row), short_by);
  bool all_shared = arena_ != nullptr;
  for (const Inputs::Buffer& buffer : device_.buffers()) {
    if (buffer.shared != nullptr && buffer.role == Inputs::Role::kOutput)
      std::memset(arena_->image(buffer.shared), fill_of(buffer), buffer.bytes());
    all_shared = all_shared && (buffer.shared != nullptr || !buffer.written());
  }
  const bool sets_up = setup_of(row) != nullptr;
  if (arena_) arena_->upload();
  if (all_shared || sets_up) CUDA_CHECK(cudaDeviceSynchronize());
  set_up(row);
  if (!all_shared || sets_up) reset_outputs(sets_up);
}

void Instance::launch(const Row& row, cudaStream_t stream) const {
  const detail::Launch* launcher = ladder_.launcher(row, type_);
  require(launcher != nullptr, ladder_.name, ": ", row.name, " is not here");
  waited_ = false;
  try {
    (*launcher)(device_problem_.get(), stream);
  } catch (const std::invalid_argument& error) {
    throw detail::Refused(error.what());
  }
}

// How many elements of an in-place buffer hold what they held before the run; of numbers that share a byte all or none.
static size_t unchanged(const Inputs::Buffer& buffer) {
  const unsigned char *now = static_cast<const unsigned char*>(buffer.data()),
                      *before = buffer.initial.get() + buffer.lead_bytes();
  const size_t bytes = buffer.type->bytes(buffer.n), size = buffer.n == 0 ? 0 : bytes / buffer.n;
  if (size == 0 || bytes % buffer.n != 0) return std::memcmp(now, before, bytes) == 0 ? buffer.n : 0;
  std::vector<size_t> counts(cpu_threads());
  parallel_ranges(buffer.n, [&](size_t part, size_t begin, size_t end) {
    size_t count = 0;
    for (size_t i = begin; i < end; ++i) count += std::memcmp(now + i * size, before + i * size, size) == 0;
    counts[part] = count;
  });
  return std::accumulate(counts.begin(), counts.end(), size_t{0});
}

// The host's outputs against the reference's, but for those that have a check.
Report Instance::compare_outputs(double allowance) {
  Report report;
  for (size_t i = 0; i < host_->buffers().size(); ++i) {
    const Inputs::Buffer& buffer = host_->buffers()[i];
    if (!buffer.written() || has_check(buffer)) continue;
    const Bound bound{bounds_[i].absolute + allowance, bounds_[i].relative};
    Report one = buffer.type->compare(buffer.data(), buffer.expected_data(other_fill_), buffer.n, bound,
                                      fill_of(buffer));
    if (buffer.role == Inputs::Role::kInOut) {  // nothing filled it: what it held before stands for that
      one.unwritten = unchanged(buffer);
      one.in_place = one.compared;
      one.doubtful = 0;
    }
    one.name = buffer.name;
    one.dims = buffer.dims;
    report.add(one);
  }
  return report;
}

// One of the ladder's checks, and how much of what it is for was not written.
Report Instance::check_outputs(const std::string& name, const Function<Report(const void*)>& check) const {
  Report report = check(host_problem_.get());
  report.name = name.empty() ? "result" : name;
  report.checked = true;
  size_t elements = 0;
  bool found = name.empty();
  for (const Inputs::Buffer& buffer : host_->buffers()) {
    if (!buffer.written() || (!name.empty() && buffer.name != name)) continue;
    found = true;
    elements += buffer.n;
    if (buffer.role == Inputs::Role::kOutput)
      report.unwritten += buffer.type->count(buffer.data(), buffer.n, fill_of(buffer));
  }
  require(found, ladder_.name, ": .check of an output that there is not: ", name);
  if (report.ok()) {
    report.doubtful = report.unwritten;
  } else if (report.wrong == 0) {
    report.wrong = std::max<size_t>(1, report.unwritten == elements ? elements : 1);
  }
  report.compared = std::max(report.compared, elements);
  return report;
}

// What the host's outputs are.
Report Instance::judge_host(double allowance) {
  Report report;
  if (!checked()) report = large() ? typed().check_large(host_problem_.get()) : compare_outputs(allowance);
  for (const auto& [name, check] : typed().checks) report.add(check_outputs(name, check));
  if (report.wrong > 0 && report.unwritten == 0 && typed().remark) {
    report.remark = typed().remark(host_problem_.get());
  }
  return report;
}

std::string Instance::damage(const Inputs::Buffer& buffer) const {
  return buffer.shared != nullptr ? arena_->damage(buffer.shared, buffer.bytes()) : buffer.device.damage();
}

// Guard bands and unchanged inputs, after the arena's download(); with `expect_poison` outputs too have to be as prepare() left them.
Report Instance::inspect(bool expect_poison) {
  Report report;
  std::vector<unsigned char> copied, filled;
  for (size_t i = 0; i < device_.buffers().size(); ++i) {
    const Inputs::Buffer& buffer = device_.buffers()[i];
    const std::string damaged = damage(buffer);
    if (!damaged.empty()) report.notes.push_back(detail::title(buffer) + ": " + damaged);
    // Of an output, what is before its first element.
    const size_t bytes = expect_poison || !buffer.written() ? buffer.bytes() : buffer.lead_bytes();
    if (bytes == 0) continue;
    if (fingerprints_[i] != 0) {
      if (fingerprint(buffer.device.data(), buffer.bytes()) != fingerprints_[i]) {
        report.notes.push_back(detail::title(buffer) + ": was changed");
      }
      continue;
    }
    const unsigned char* now = nullptr;
    if (buffer.shared != nullptr) {
      now = arena_->seen(buffer.shared);
    } else {
      if (copied.size() < bytes) copied.resize(bytes);
      CUDA_CHECK(cudaMemcpy(copied.data(), buffer.device.data(), bytes, cudaMemcpyDeviceToHost));
      now = copied.data();
    }
    const Inputs::Buffer& host = host_->buffers()[i];
    if (buffer.role == Inputs::Role::kOutput) filled.assign(bytes, fill_of(buffer));
    const unsigned char* const want = buffer.role == Inputs::Role::kOutput  ? filled.data()
                                      : buffer.role == Inputs::Role::kInOut ? host.initial.get()
                                                                            : host.host.get();
    if (std::memcmp(now, want, bytes) == 0) continue;
    const size_t at = static_cast<size_t>(std::mismatch(now, now + bytes, want).first - now);
    report.notes.push_back(detail::changed(buffer, at));
  }
  const std::string damaged =
      shared_workspace_ != nullptr ? arena_->damage(shared_workspace_, workspace_size_) : workspace_.damage();
  if (!damaged.empty()) report.notes.push_back("workspace: " + damaged);
  return report;
}

Report Instance::judge(double allowance) {
  wait();
  make_host();
  if (!large() && !checked()) run_reference();
  if (arena_) arena_->download();
  for (size_t i = 0; i < device_.buffers().size(); ++i) {
    const Inputs::Buffer& buffer = device_.buffers()[i];
    if (!buffer.written() || buffer.bytes() == 0) continue;
    unsigned char* const host = host_->buffers()[i].host.get();
    if (buffer.shared != nullptr) {
      std::memcpy(host, arena_->seen(buffer.shared), buffer.bytes());
    } else {
      CUDA_CHECK(cudaMemcpy(host, buffer.device.data(), buffer.bytes(), cudaMemcpyDeviceToHost));
    }
  }
  Report report = judge_host(allowance);
  report.merge(inspect(false));
  return report;
}

Report Instance::verify(double allowance) {
  waited_ = false;  // a caller may have launched by other ways
  return verdict(allowance);
}

Report Instance::verdict(double allowance) {
  const bool second = other_fill_;
  Report report = judge(allowance);
  other_fill_ = !second && report.ok() && report.doubtful > 0;
  if (second && !report.ok()) report.notes.insert(report.notes.begin(), Report::kByLuck);
  return report;
}

Report Instance::verify_untouched() {
  CUDA_CHECK(cudaDeviceSynchronize());
  if (arena_) arena_->download();
  return inspect(true);
}

Report Instance::once(const Row& row, cudaStream_t stream, const Watch& watch) {
  try {
    prepare(row);
    if (watch.before_launch) watch.before_launch();
    launch(row, stream);
  } catch (const detail::Refused& error) {
    return Report::failed(std::string("refused a shape that it has to take: ") + error.what());
  }
  wait();
  if (watch.after_launch) watch.after_launch();
  return verdict(row.allowance.empty() ? 0 : row.allowance[type_]);
}

Report Instance::run(const Row& row, cudaStream_t stream, const Watch& watch) {
  Report report;
  try {
    report = once(row, stream, watch);
    const detail::Uncounted uncounted;
    if (other_fill_) report = once(row, stream, {});
    if (!report.ok() || setup_of(row) == nullptr) return report;
    reset_outputs(true);
    launch(row, stream);
    const Report later = judge(row.allowance.empty() ? 0 : row.allowance[type_]);
    if (later.ok()) return report;
    report = later;
    report.notes.insert(report.notes.begin(),
                        "right at the first launch after its set-up, wrong at the second");
  } catch (const CudaError& error) {
    other_fill_ = false;
    if (!machine_error(error.code()).empty()) throw;
    report.notes.push_back(error.what());
  } catch (const detail::Refused& error) {
    report.notes.push_back(std::string("refused its second launch after one set-up: ") + error.what());
  }
  return report;
}

Report Instance::run_captured(const Row& row, cudaStream_t stream) {
  Report report;
  try {
    prepare(row);
    const Graph graph(stream, [&] { launch(row, stream); });
    report = verify_untouched();
    if (!report.ok()) {
      report.notes.insert(report.notes.begin(),
                          "while it was captured into a graph, which is to run nothing:");
      return report;
    }
    for (const char* const turn : {"the graph's first launch:", "the graph's second launch:"}) {
      reset_outputs(true);
      graph.launch(stream);
      CUDA_CHECK(cudaStreamSynchronize(stream));
      report = judge(row.allowance.empty() ? 0 : row.allowance[type_]);
      if (report.ok()) continue;
      report.notes.insert(report.notes.begin(), turn);
      return report;
    }
  } catch (const CudaError& error) {
    if (!machine_error(error.code()).empty()) throw;
    report.notes.push_back(std::string("captured into a graph: ") + error.what());
  } catch (const detail::Refused& error) {
    report.notes.push_back(std::string("captured into a graph: ") + error.what());
  }
  return report;
}

std::optional<Report> Instance::run_or_refuse(const Row& row, cudaStream_t stream, const Watch& watch) {
  bool refused = false;
  Report report;
  try {
    try {
      prepare(row);
      launch(row, stream);
    } catch (const detail::Refused&) {
      refused = true;
    }
    wait();
    if (refused) {
      const detail::Uncounted uncounted;
      report = verify_untouched();
    }
  } catch (const CudaError& error) {
    if (!machine_error(error.code()).empty()) throw;
    report.notes.push_back(error.what());
  }
  if (refused && report.ok()) return std::nullopt;
  return refused || !report.ok() ? report : run(row, stream, watch);
}

Report Instance::refusal(const Row& row, Lacking lacking, const std::string& what, cudaStream_t stream) {
  Report report;
  try {
    bool prepared = false;
    try {
      prepare(row, lacking == Lacking::kWorkspace ? 1 : 0);
      prepared = true;
      if (lacking == Lacking::kSetup) typed().set_setup(device_problem_.get(), Setup{});
      launch(row, stream);
      report.notes.push_back("did not refuse " + what + " with std::invalid_argument");
    } catch (const detail::Refused&) {
      if (!prepared) reset_outputs(true);  // it was the set-up, which may do as it likes with them
    }
    report.merge(verify_untouched());
  } catch (const CudaError& error) {
    if (!machine_error(error.code()).empty()) throw;
    report.notes.push_back("did not refuse " + what +
                           " with std::invalid_argument but failed: " + error.what());
  }
  return report;
}

Report Instance::refuse(const Row& row, cudaStream_t stream) {
  return refusal(row, Lacking::kNeed, "a shape without " + row.needs_text, stream);
}

Report Instance::refuse_short_workspace(const Row& row, cudaStream_t stream) {
  return workspace_bytes(row) == 0 ? Report{}
                                   : refusal(row, Lacking::kWorkspace, "a workspace one byte short", stream);
}

// Whether a text has the number, and not as a part of another.
static bool names(const std::string& text, int64_t number) {
  const std::string digits = std::to_string(number);
  const auto in_number = [&](size_t at) {
    return at < text.size() && (std::isdigit(static_cast<unsigned char>(text[at])) != 0 || text[at] == '-');
  };
  for (size_t at = text.find(digits); at != std::string::npos; at = text.find(digits, at + 1)) {
    if (!(at > 0 && in_number(at - 1)) && !in_number(at + digits.size())) return true;
  }
  return false;
}

// Whether a refusal is in the words of one of the row's .needs, which the number breaks as well.
static bool is_of_needs(const std::string& text, const Row& row) {
  const size_t needs = text.find("needs ");
  if (needs == std::string::npos) return false;
  const std::string said = text.substr(needs + 6, text.find(';', needs) - needs - 6);
  return !said.empty() && row.needs_text.find(said) != std::string::npos;
}

Report Instance::refuse_size(const Row& row, size_t extent, int64_t number, cudaStream_t stream) {
  Report report;
  std::vector<void*> pointers;
  for (const Inputs::Buffer& buffer : device_.buffers()) {
    // A problem that is larger than its buffers might seem to have them overlap: those that nobody follows are
    // far apart.
    const uintptr_t apart = (uintptr_t{1} << 42) * (pointers.size() + 1);
    pointers.push_back(number > shape_.numbers().at(extent) ? reinterpret_cast<void*>(apart) : buffer.data());
  }
  Inputs given(pointers);
  std::vector<int64_t> numbers = shape_.numbers();
  numbers.at(extent) = number;
  const std::shared_ptr<void> problem = new_problem(typed());
  const std::string what = ladder_.extents.at(extent) + " = " + std::to_string(number);
  try {
    ladder_.makers[maker_].make[type_](problem.get(), Shape(numbers), given);
  } catch (const TooLarge&) {
    return report;  // the number's own type refuses it
  } catch (const std::invalid_argument& error) {
    if (!names(error.what(), number))
      report.notes.push_back("no launcher was asked to refuse " + what +
                             ", because its inputs cannot be made: " + error.what());
    return report;
  }
  prepare(row);
  if (typed().set_workspace)
    typed().set_workspace(problem.get(),
                          workspace_size_ == 0 ? Workspace{} : Workspace{workspace_data(), workspace_size_});
  if (setup_) typed().set_setup(problem.get(), made_setup_);
  try {
    (*ladder_.launcher(row, type_))(problem.get(), stream);
    report.notes.push_back("did not refuse " + what + " with std::invalid_argument");
  } catch (const std::invalid_argument& error) {
    if (!names(error.what(), number) && !is_of_needs(error.what(), row))
      report.notes.push_back("refused " + what + " without naming it: " + error.what());
  } catch (const CudaError& error) {
    if (!machine_error(error.code()).empty()) throw;
    report.notes.push_back("did not refuse " + what +
                           " with std::invalid_argument but failed: " + error.what());
  }
  report.merge(verify_untouched());
  return report;
}

Report Instance::refuse_no_setup(const Row& row, cudaStream_t stream) {
  return ladder_.setup(row, type_) == nullptr
             ? Report{}
             : refusal(row, Lacking::kSetup, "a problem that was not set up", stream);
}

Report Instance::run_on_host(const Function<void(const void*)>& version) {
  make_host();
  Report report;
  for (const bool other : {false, true}) {
    other_fill_ = other;
    if (!checked()) run_reference();
    fill_host();
    version(host_problem_.get());
    report = judge_host(0);
    if (!report.ok() || report.doubtful == 0) break;
  }
  if (other_fill_ && !report.ok()) report.notes.insert(report.notes.begin(), Report::kByLuck);
  other_fill_ = false;
  return report;
}

// The reference by rows stands for the reference, so that it has to make the same bits.
Report Instance::run_by_rows() {
  Report report = run_on_host([this](const void* p) { typed().reference_by_rows(p, typed().reference); });
  if (report.ok() && expected_[0]) find_other_bits(report);
  return report;
}

void Instance::find_other_bits(Report& report) const {
  for (const Inputs::Buffer& buffer : host_->buffers()) {
    if (!buffer.written() || has_check(buffer)) continue;
    const auto* const now = static_cast<const unsigned char*>(buffer.data());
    const auto* const expected = static_cast<const unsigned char*>(buffer.expected_data(false));
    const size_t bytes = buffer.type->bytes(buffer.n);
    const auto fill = fill_of(buffer);
    for (size_t at = 0; at < bytes; ++at) {
      if (now[at] == expected[at] || (now[at] == static_cast<unsigned char>(~fill) && expected[at] == fill))
        continue;
      report.notes.push_back(detail::title(buffer) + ": other bits than the reference's, at byte " +
                             std::to_string(at));
      break;
    }
  }
}

double Instance::reference_seconds() {
  const bool by_rows = typed().reference_by_rows && device_.bytes() >= detail::kByRowsFrom;
  if (!by_rows) run_reference();  // times it
  if (reference_seconds_ < 0) {
    make_host();
    reset_host();
    reference_seconds_ = cpu_seconds([&] { typed().reference(host_problem_.get()); });
  }
  return reference_seconds_;
}

double Instance::parallel_seconds() {
  make_host();
  std::vector<double> seconds;
  double spent = 0;
  while (seconds.size() < 2 ||
         (seconds.size() < 5 && spent < 1)) {  // the first run pays for page faults and threads
    reset_host();
    seconds.push_back(cpu_seconds([&] { typed().parallel(host_problem_.get()); }));
    spent += seconds.back();
  }
  seconds.erase(seconds.begin());
  return median(seconds);
}

Instance::Copies Instance::copy_seconds() {
  make_host();
  const auto copy = [&](bool there) {
    for (size_t i = 0; i < device_.buffers().size(); ++i) {
      const Inputs::Buffer& buffer = device_.buffers()[i];
      void* host = host_->buffers()[i].host.get();
      if (buffer.bytes() == 0) continue;
      if (there && buffer.role != Inputs::Role::kOutput) {
        const void* from = host_->buffers()[i].initial ? host_->buffers()[i].initial.get() : host;
        CUDA_CHECK(cudaMemcpy(buffer.base(), from, buffer.bytes(), cudaMemcpyHostToDevice));
      }
      if (!there && buffer.written())
        CUDA_CHECK(cudaMemcpy(host, buffer.base(), buffer.bytes(), cudaMemcpyDeviceToHost));
    }
    CUDA_CHECK(cudaDeviceSynchronize());
  };
  return {cpu_seconds([&] { copy(true); }), cpu_seconds([&] { copy(false); })};
}

}  // namespace days
