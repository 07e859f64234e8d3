// SPDX-License-Identifier: MIT
//
// What the environment says about how kernels run (options.cpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include "user_view.h"

namespace simt {

struct Options {
  int threads;  // SIMT_THREADS
  Order order;  // SIMT_ORDER
  std::uint64_t seed;
  double timeout_seconds;   // SIMT_TIMEOUT
  std::size_t stack_bytes;  // SIMT_STACK (KiB)
  bool streams_now;         // SIMT_STREAMS=now: operations run at the call
  bool lenient;             // SIMT_LENIENT=1: nothing is said of returned threads, as on a GPU
  int fp8_sum_bits;         // SIMT_FP8_SUMS: of sums of 8-bit floats, behind the largest's first; 0: all
  bool whole_barriers;      // require_whole_barriers()
};
const Options& options();
// At __syncthreads(): as on GPUs since sm_70, but in checked builds and in the course's own programs.
bool returned_count_as_arrived();

}  // namespace simt
