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
#include <optional>
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

  // Each buffer an allocation of its own, or the small ones in one (harness/arena.h), with which a run takes a fraction of the calls.
  enum class Memory { kOwn, kShared };
  // Makes the device's side. Throws TooLarge, or CudaError where the device's memory is too small.
  Instance(const LadderInfo& ladder, size_t type, const Shape& shape, size_t maker = 0,
           Memory memory = Memory::kOwn);

  // Bytes of device memory that an instance needs, without its workspace. Throws TooLarge.
  static double device_bytes(const LadderInfo& ladder, size_t type, const Shape& shape, size_t maker = 0);

  // The shape, or its half, or its quarter, ... on which the CPU's versions take seconds at the most.
  static Shape cpu_shape(const LadderInfo& ladder, size_t type, const Shape& shape);

  const LadderInfo& ladder() const { return ladder_; }
  const Shape& shape() const { return shape_; }
  Traffic traffic() const;  // zero where the ladder does not say
  double flops() const;
  // The instruction whose rate is the limit; none: it is memory. Of the table, or of a row in it.
  Rate rate() const { return ladder_.rate_of(type_); }
  Rate rate(const Row& row) const { return ladder_.rate_of(row, type_); }
  bool large() const { return typed().check_large && flops() > kLargeFlops; }
  // Whether nothing is compared with the reference.
  bool checked() const { return typed().checks_all(); }

  // The device's buffers.
  const Inputs& device_inputs() const { return device_; }

  // A learner's file for a rung begins as a copy of `other`, the rung before it, and the harness cannot tell how far
  // it has been changed. So every row that runs from now on gets the larger of its own workspace and the other's,
  // runs only on shapes that both take, and is set up as the other where it has no set-up of its own.
  void begins_as(const Row& other) { begun_ = &other; }

  // Whether the row's launcher takes this shape; where it begins as another, whether both take it.
  bool supports(const Row& row) const;
  size_t workspace_bytes(const Row& row) const;

  // Bytes of the workspace that no longer hold what prepare() filled them with, in words of four.
  size_t workspace_written() const;

  // Readies a run: scratch memory (`short_by` bytes less than asked for) poisoned, what the row sets up made,
  // outputs poisoned, in-place buffers reset. What an earlier row had set up is destroyed.
  void prepare(const Row& row, size_t short_by = 0);
  // Queues the row's launch on the stream. Throws what the launcher throws.
  void launch(const Row& row, cudaStream_t stream) const;
  // Waits, then compares the outputs with the reference's (or asks the ladder's checks), and looks at guards
  // and inputs. `allowance` is added to the tolerance.
  Report verify(double allowance = 0);
  // After verify(): a right element may be one that was not written, as it is what filled it. prepare(), which
  // fills with something else now, launch() and verify() tell, once more.
  bool again() const { return other_fill_; }
  // After a refused launch: that no buffer was changed.
  Report verify_untouched();
  // Seconds that the latest prepare() took to set the row up; 0 where there was nothing to do.
  double setup_seconds() const { return setup_seconds_; }

  // What a run tells its caller at its first launch, before any of the harness's own kernels is next.
  struct Watch {
    std::function<void()> before_launch, after_launch;
  };
  // prepare, launch and verify, and where again() says so once more; a row that is set up is launched twice
  // after it. An exception from the launcher, or an error of the device, becomes a note of the report.
  Report run(const Row& row, cudaStream_t stream, const Watch& watch = {});
  // The same by a CUDA graph, which holds what the launcher queues and is launched twice: whoever calls a rung a
  // thousand times a second does so. A launcher that waits, allocates, or asks the device for something cannot be
  // captured.
  Report run_captured(const Row& row, cudaStream_t stream);
  // The same as run() of a row that may refuse the shape, and then has to leave all as it was. Nothing: it refused.
  std::optional<Report> run_or_refuse(const Row& row, cudaStream_t stream, const Watch& watch = {});
  // prepare and launch, for a shape that the row's .needs rules out: the launcher must throw
  // std::invalid_argument.
  Report refuse(const Row& row, cudaStream_t stream);
  // The launcher must throw std::invalid_argument where the workspace is one byte short, and where nothing was
  // set up. Empty report where none is needed.
  Report refuse_short_workspace(const Row& row, cudaStream_t stream);
  // The same of this shape with another number for an extent, which no launcher of the row's may take: it must
  // throw std::invalid_argument, and name the number or one of its .needs. So must the ladder's inputs where the
  // problem cannot have such a number.
  Report refuse_size(const Row& row, size_t extent, int64_t number, cudaStream_t stream);
  Report refuse_no_setup(const Row& row, cudaStream_t stream);
  // The problem on host pointers, with the outputs of the latest run() or verify().
  const void* host_problem() const { return host_problem_.get(); }
  // The parallel CPU version, the reference by rows and the reference itself, against the reference or by the
  // ladder's checks.
  Report run_serial() { return run_on_host(typed().reference); }
  Report run_parallel() { return run_on_host(typed().parallel); }
  Report run_by_rows();

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
  void reset_host();  // inputs as they were made
  void fill_host();   // and outputs as before any kernel wrote
  void run_reference();
  bool has_check(const Inputs::Buffer& buffer) const;  // instead of a tolerance
  void find_bounds();
  Report run_on_host(const Function<void(const void*)>& version);
  const detail::SetUp* setup_of(const Row& row) const;
  void set_up(const Row& row);
  void reset_workspace(size_t bytes, size_t short_by);
  void* workspace_data() const {
    return shared_workspace_ != nullptr ? shared_workspace_ : workspace_.data();
  }
  void wait() const;
  void reset_outputs(bool shared);
  std::string damage(const Inputs::Buffer& buffer) const;
  unsigned char fill_of(const Inputs::Buffer& buffer) const;
  Report once(const Row& row, cudaStream_t stream, const Watch& watch);
  Report judge_host(double allowance);
  Report judge(double allowance);
  Report verdict(double allowance);
  Report compare_outputs(double allowance);
  Report check_outputs(const std::string& name, const Function<Report(const void*)>& check) const;
  Report inspect(bool expect_poison);
  void find_other_bits(Report& report) const;
  enum class Lacking { kNeed, kWorkspace, kSetup };
  Report refusal(const Row& row, Lacking lacking, const std::string& what, cudaStream_t stream);

  const LadderInfo& ladder_;
  const Row* begun_ = nullptr;
  size_t type_;
  Shape shape_;
  size_t maker_;
  std::shared_ptr<void> device_problem_, host_problem_;
  std::shared_ptr<detail::Arena> arena_;  // null: nothing is shared
  Inputs device_;
  std::unique_ptr<Inputs> host_;
  std::vector<uint64_t> fingerprints_;  // of the device's large inputs, before any kernel ran
  size_t buffers_used_ = 0;             // of the arena, by all but the workspace
  DeviceMemory workspace_;
  void* shared_workspace_ = nullptr;  // in the arena
  size_t workspace_size_ = 0;
  mutable bool waited_ = true;                                           // for the latest launch
  std::unique_ptr<void, void (*)(void*)> setup_{nullptr, [](void*) {}};  // destroyed before what it points to
  Setup made_setup_;
  double setup_seconds_ = 0;
  bool other_fill_ = false;
  bool expected_[2] = {};          // the reference's results are there, with either fill
  double reference_seconds_ = -1;  // negative: not run on one core yet
  std::vector<Bound> bounds_;      // of each buffer; of outputs alone they are used
};

}  // namespace days
