// SPDX-License-Identifier: MIT
//
// The CPU's own ceilings, for machines without a GPU: a roofline is no property of GPUs.
#pragma once

#include <string>

namespace day16 {

struct HostLimits {
  std::string name;          // the processor's, as the system tells it
  std::string instructions;  // what the multiply-adds were made of: "AVX2 FMA" or "as compiled"
  int threads;               // one for each hardware thread
  double copy_gb_per_s;      // bytes read plus bytes written, large arrays, median of several runs
  double fma_gflops;         // fp32, two operations a multiply-add
};

// Takes about half a second, and 128 MiB of memory.
HostLimits measure_host();

}  // namespace day16
