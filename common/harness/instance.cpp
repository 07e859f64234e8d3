// SPDX-License-Identifier: MIT
//
// The harness's host code, but for a day's executable: inputs, problems that are run and checked, results.

#include <cmath>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/error.h"
#include "common/harness.h"
#include "common/harness/inputs.h"
#include "common/harness/ladder.h"
#include "common/harness/parallel.h"
#include "common/harness/results.h"
#include "common/instance.h"
#include "common/timing.h"

namespace days {
namespace detail {

// Inputs of at least this many bytes are checked on the device, by fingerprint, and smaller ones byte by
// byte.
inline constexpr size_t kFingerprintFrom = size_t{1} << 24;
// From here on a reference that can be split takes several threads.
inline constexpr double kByRowsFrom = 1 << 22;

inline std::unique_ptr<unsigned char[]> copy_of(const unsigned char* data, size_t bytes) {
  std::unique_ptr<unsigned char[]> copy(new unsigned char[bytes]);
  std::memcpy(copy.get(), data, bytes);
  return copy;
}

inline std::string buffer_name(const Inputs::Buffer& buffer, size_t index) {
  const char* role = buffer.role == Inputs::Role::kInput    ? "input"
                     : buffer.role == Inputs::Role::kOutput ? "output"
                                                            : "in-place";
  return std::string(role) + " buffer " + std::to_string(index + 1);
}

}  // namespace detail

Instance::Instance(const LadderInfo& ladder, size_t type, const Shape& shape, size_t maker)
    : ladder_(ladder),
      type_(type),
      shape_(shape),
      maker_(maker),
      device_problem_(new_problem(ladder.types.at(type))) {
  ladder_.makers.at(maker_).make[type_](device_problem_.get(), shape_, device_);
  CUDA_CHECK(cudaDeviceSynchronize());
  for (const Inputs::Buffer& buffer : device_.buffers()) {
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
  return !row.needs[type_] || row.needs[type_](device_problem_.get());
}

size_t Instance::workspace_bytes(const Row& row) const {
  return row.workspace[type_] ? row.workspace[type_](device_problem_.get()) : 0;
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

void Instance::run_reference() {
  if (expected_) return;
  make_host();
  reset_host();
  require(static_cast<bool>(typed().reference), ladder_.name, " has no .reference");
  if (typed().reference_by_rows && device_.bytes() >= detail::kByRowsFrom) {
    typed().reference_by_rows(host_problem_.get());
  } else {
    reference_seconds_ = cpu_seconds([&] { typed().reference(host_problem_.get()); });
  }
  expected_ = true;
  for (Inputs::Buffer& buffer : host_->buffers()) {
    if (buffer.written()) buffer.expected = detail::copy_of(buffer.host.get(), buffer.bytes());
  }
  // After the copy, since a policy may run a plain version into the host's outputs.
  require(static_cast<bool>(typed().tolerance), ladder_.name, " has no .tolerance");
  reset_host();
  bound_ = typed().tolerance(host_problem_.get(), *host_);
}

void Instance::prepare(const Row& row, size_t short_by) {
  make_host();
  for (size_t i = 0; i < device_.buffers().size(); ++i) {
    const Inputs::Buffer& buffer = device_.buffers()[i];
    if (buffer.role == Inputs::Role::kOutput) buffer.device.fill(buffer.type->poison);
    if (buffer.role == Inputs::Role::kInOut && buffer.bytes() > 0) {
      const Inputs::Buffer& host = host_->buffers()[i];
      CUDA_CHECK(
          cudaMemcpy(buffer.device.data(), host.initial.get(), buffer.bytes(), cudaMemcpyHostToDevice));
    }
  }
  const size_t bytes = workspace_bytes(row);
  if (typed().set_workspace) {
    if (workspace_.bytes() != bytes || bytes == 0) workspace_ = DeviceMemory(bytes);
    workspace_.fill(DeviceMemory::kGuard);
    typed().set_workspace(device_problem_.get(),
                          bytes == 0 ? Workspace{} : Workspace{workspace_.data(), bytes - short_by});
  }
  CUDA_CHECK(cudaDeviceSynchronize());
}

void Instance::launch(const Row& row, cudaStream_t stream) const {
  const detail::Launch* launcher = ladder_.launcher(row, type_);
  require(launcher != nullptr, ladder_.name, ": ", row.name, " is not here");
  (*launcher)(device_problem_.get(), stream);
}

// The host's outputs against the reference's.
Report Instance::compare_outputs(double allowance) {
  Report report;
  const Bound bound{bound_.absolute + allowance, bound_.relative};
  for (const Inputs::Buffer& buffer : host_->buffers()) {
    if (!buffer.written()) continue;
    Report one = buffer.type->compare(buffer.host.get(), buffer.expected.get(), buffer.n, bound);
    one.dims = buffer.dims;
    report.merge(one);
  }
  return report;
}

// Guard bands and unchanged inputs; with `expect_poison` outputs too have to be as prepare() left them.
Report Instance::inspect(bool expect_poison) {
  Report report;
  for (size_t i = 0; i < device_.buffers().size(); ++i) {
    const Inputs::Buffer& buffer = device_.buffers()[i];
    const std::string damage = buffer.device.damage();
    if (!damage.empty()) report.notes.push_back(detail::buffer_name(buffer, i) + ": " + damage);
    const bool checked = expect_poison || !buffer.written();
    if (!checked || buffer.bytes() == 0) continue;
    if (fingerprints_[i] != 0) {
      if (fingerprint(buffer.device.data(), buffer.bytes()) != fingerprints_[i]) {
        report.notes.push_back(detail::buffer_name(buffer, i) + ": was changed");
      }
      continue;
    }
    std::vector<unsigned char> now(buffer.bytes());
    CUDA_CHECK(cudaMemcpy(now.data(), buffer.device.data(), now.size(), cudaMemcpyDeviceToHost));
    const Inputs::Buffer& host = host_->buffers()[i];
    for (size_t at = 0; at < now.size(); ++at) {
      const unsigned char want = buffer.role == Inputs::Role::kOutput  ? buffer.type->poison
                                 : buffer.role == Inputs::Role::kInOut ? host.initial[at]
                                                                       : host.host[at];
      if (now[at] == want) continue;
      report.notes.push_back(detail::buffer_name(buffer, i) + ": element " +
                             std::to_string(at / buffer.type->size) + " was changed");
      break;
    }
  }
  const std::string damage = workspace_.damage();
  if (!damage.empty()) report.notes.push_back("workspace: " + damage);
  return report;
}

Report Instance::verify(double allowance) {
  CUDA_CHECK(cudaDeviceSynchronize());
  const bool by_check = large();
  if (!by_check) run_reference();
  for (size_t i = 0; i < device_.buffers().size(); ++i) {
    const Inputs::Buffer& buffer = device_.buffers()[i];
    if (!buffer.written() || buffer.bytes() == 0) continue;
    CUDA_CHECK(cudaMemcpy(host_->buffers()[i].host.get(), buffer.device.data(), buffer.bytes(),
                          cudaMemcpyDeviceToHost));
  }
  Report report = by_check ? typed().check_large(host_problem_.get()) : compare_outputs(allowance);
  report.merge(inspect(false));
  return report;
}

Report Instance::verify_untouched() {
  CUDA_CHECK(cudaDeviceSynchronize());
  return inspect(true);
}

Report Instance::run(const Row& row, cudaStream_t stream, const std::function<void()>& after_launch) {
  Report report;
  try {
    prepare(row);
    launch(row, stream);
    CUDA_CHECK(cudaStreamSynchronize(stream));
    if (after_launch) after_launch();
    return verify(row.allowance.empty() ? 0 : row.allowance[type_]);
  } catch (const CudaError& error) {
    if (!machine_error(error.code()).empty()) throw;
    report.notes.push_back(error.what());
  } catch (const std::invalid_argument& error) {
    report.notes.push_back(std::string("refused a shape that it has to take: ") + error.what());
  }
  return report;
}

Report Instance::refusal(const Row& row, size_t short_by, const std::string& what, cudaStream_t stream) {
  Report report;
  try {
    prepare(row, short_by);
    try {
      launch(row, stream);
      report.notes.push_back("did not refuse " + what + " with std::invalid_argument");
    } catch (const std::invalid_argument&) {
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
  return refusal(row, 0, "a shape without " + row.needs_text, stream);
}

Report Instance::refuse_short_workspace(const Row& row, cudaStream_t stream) {
  return workspace_bytes(row) == 0 ? Report{} : refusal(row, 1, "a workspace one byte short", stream);
}

Report Instance::run_on_host(const Function<void(const void*)>& version) {
  run_reference();
  reset_host();
  for (Inputs::Buffer& buffer : host_->buffers()) {
    if (buffer.role == Inputs::Role::kOutput)
      std::memset(buffer.host.get(), buffer.type->poison, buffer.bytes());
  }
  version(host_problem_.get());
  return compare_outputs();
}

double Instance::reference_seconds() {
  run_reference();
  if (reference_seconds_ < 0) {
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
        CUDA_CHECK(cudaMemcpy(buffer.device.data(), from, buffer.bytes(), cudaMemcpyHostToDevice));
      }
      if (!there && buffer.written())
        CUDA_CHECK(cudaMemcpy(host, buffer.device.data(), buffer.bytes(), cudaMemcpyDeviceToHost));
    }
    CUDA_CHECK(cudaDeviceSynchronize());
  };
  return {cpu_seconds([&] { copy(true); }), cpu_seconds([&] { copy(false); })};
}

}  // namespace days
