// SPDX-License-Identifier: MIT
//
// A stream, and what the times of some runs come to: what programs need of timing.h, and quick to compile.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "common/check.h"

namespace days {

class Stream {
 public:
  Stream() { CUDA_CHECK(cudaStreamCreate(&stream_)); }
  ~Stream() { static_cast<void>(cudaStreamDestroy(stream_)); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  operator cudaStream_t() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

struct Timing {
  double seconds = 0;  // the median
  double noise = 0;  // 1.48 times the median distance from it (a standard deviation, if the noise is normal),
                     // relative to it
  size_t runs = 0;
};

}  // namespace days
