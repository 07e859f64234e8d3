// SPDX-License-Identifier: MIT
//
// What each part of the pipeline takes alone, on a GPU: what the model needs.
#pragma once

#include "day60_streams_and_graphs/model.h"
#include "day60_streams_and_graphs/numbers.cuh"

namespace day60 {

// Seconds that `count` elements take on each engine when nothing else runs. from and to: pinned host memory of
// at least so many elements; what `to` and `device` hold afterwards is of no use.
inline Parts measure_parts(const uint32_t* from, uint32_t* to, uint32_t* device, size_t count, int turns,
                           cudaStream_t stream) {
  constexpr int kRuns = 10;
  const size_t bytes = count * sizeof(uint32_t);
  const auto alone = [&](const auto& part) { return days::time_streams({stream}, kRuns, part).seconds; };
  Parts parts = {};
  parts.copy_in =
      alone([&] { CUDA_CHECK(cudaMemcpyAsync(device, from, bytes, cudaMemcpyHostToDevice, stream)); });
  parts.kernel = alone([&] {
    turn<<<blocks(count), kThreads, 0, stream>>>(device, device, count, turns);
    CUDA_CHECK_LAUNCH();
  });
  parts.copy_out =
      alone([&] { CUDA_CHECK(cudaMemcpyAsync(to, device, bytes, cudaMemcpyDeviceToHost, stream)); });
  return parts;
}

}  // namespace day60
