// SPDX-License-Identifier: MIT
//
// One problem of a ladder with its buffers: what run, tests and benchmarks do with it. Defined in
// harness/instance.cpp.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/buffer.h"
#include "common/function.h"
#include "common/inputs_buffer.h"
#include "common/ladder.h"

namespace days {

// A Problem<T> of the type, without its pointers.
inline std::shared_ptr<void> new_problem(const Typed& type) {
  return {type.create(), type.destroy};
}

class Instance {
 public:
  // Above this many operations a ladder's check_large, where it has one, replaces its reference.
  static constexpr double kLargeFlops = 3e9;

  // Makes the device's side. Throws TooLarge, or CudaError where the device's memory is too small.
  Instance(const LadderInfo& ladder, size_t type, const Shape& shape, size_t maker = 0);

  // Bytes of device memory that an instance needs, without its workspace. Throws TooLarge.
  static double device_bytes(const LadderInfo& ladder, size_t type, const Shape& shape, size_t maker = 0);

  // The shape, or its half, or its quarter, ... on which the CPU's versions take seconds at the most.
  static Shape cpu_shape(const LadderInfo& ladder, size_t type, const Shape& shape);

  const LadderInfo& ladder() const { return ladder_; }
  const Shape& shape() const { return shape_; }
  Traffic traffic() const;  // zero where the ladder does not say
  double flops() const;
  Rate rate() const { return ladder_.rate_of(type_); }
  bool large() const { return typed().check_large && flops() > kLargeFlops; }

  // The device's buffers.
  const Inputs& device_inputs() const { return device_; }

  // Whether the row's launcher takes this shape.
  bool supports(const Row& row) const;
  size_t workspace_bytes(const Row& row) const;

  // Readies a run: outputs poisoned, in-place buffers reset, scratch memory (`short_by` bytes less than asked
  // for) poisoned.
  void prepare(const Row& row, size_t short_by = 0);
  // Queues the row's launch on the stream. Throws what the launcher throws.
  void launch(const Row& row, cudaStream_t stream) const;
  // Waits, then compares the outputs with the reference's (or with check_large), and looks at guards and
  // inputs.
  // `allowance` is added to the tolerance.
  Report verify(double allowance = 0);
  // After a refused launch: that no buffer was changed.
  Report verify_untouched();

  // prepare, launch and verify. An exception from the launcher, or an error of the device, becomes a note of
  // the report.
  // `after_launch` is called once the launch has finished, before any of the harness's own kernels.
  Report run(const Row& row, cudaStream_t stream, const std::function<void()>& after_launch = {});
  // prepare and launch, for a shape that the row's .needs rules out: the launcher must throw
  // std::invalid_argument.
  Report refuse(const Row& row, cudaStream_t stream);
  // The launcher must throw std::invalid_argument where the workspace is one byte short. Empty report where
  // none is needed.
  Report refuse_short_workspace(const Row& row, cudaStream_t stream);
  // The problem on host pointers, with the outputs of the latest run() or verify().
  const void* host_problem() const { return host_problem_.get(); }
  // The parallel CPU version, and the reference by rows, against the reference.
  Report run_parallel() { return run_on_host(typed().parallel); }
  Report run_by_rows() { return run_on_host(typed().reference_by_rows); }

  // Seconds on the CPU: the reference on one core, the parallel version, copies to and from the device.
  double reference_seconds();
  double parallel_seconds();
  struct Copies {
    double there = 0, back = 0;
  };
  Copies copy_seconds();

 private:
  const Typed& typed() const { return ladder_.types[type_]; }
  void make_host();
  void reset_host();
  void run_reference();
  Report run_on_host(const Function<void(const void*)>& version);
  Report compare_outputs(double allowance = 0);
  Report inspect(bool expect_poison);
  Report refusal(const Row& row, size_t short_by, const std::string& what, cudaStream_t stream);

  const LadderInfo& ladder_;
  size_t type_;
  Shape shape_;
  size_t maker_;
  std::shared_ptr<void> device_problem_, host_problem_;
  Inputs device_{Inputs::Where::kDevice};
  std::unique_ptr<Inputs> host_;
  std::vector<uint64_t> fingerprints_;  // of the device's large inputs, before any kernel ran
  DeviceMemory workspace_;
  bool expected_ = false;          // the reference's results are there
  double reference_seconds_ = -1;  // negative: not run on one core yet
  Bound bound_;
};

}  // namespace days
