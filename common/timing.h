// SPDX-License-Identifier: MIT
//
// Time on the GPU, by CUDA events: warm-up first, the L2 cache flushed before each run, contestants
// interleaved (so that a clock that drifts slows all of them alike), medians. And time on the CPU.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <functional>
#include <vector>

#include "common/buffer.h"
#include "common/check.h"
#include "common/device.h"
#include "common/stream.h"

namespace days {

class EventTimer {
 public:
  EventTimer() {
    CUDA_CHECK(cudaEventCreate(&start_));
    CUDA_CHECK(cudaEventCreate(&stop_));
  }
  ~EventTimer() {
    static_cast<void>(cudaEventDestroy(start_));
    static_cast<void>(cudaEventDestroy(stop_));
  }
  EventTimer(const EventTimer&) = delete;
  EventTimer& operator=(const EventTimer&) = delete;

  void start(cudaStream_t stream) { CUDA_CHECK(cudaEventRecord(start_, stream)); }
  void stop(cudaStream_t stream) { CUDA_CHECK(cudaEventRecord(stop_, stream)); }
  // Waits for the stop.
  double seconds() {
    CUDA_CHECK(cudaEventSynchronize(stop_));
    float milliseconds = 0;
    CUDA_CHECK(cudaEventElapsedTime(&milliseconds, start_, stop_));
    return 1e-3 * milliseconds;
  }

 private:
  cudaEvent_t start_ = nullptr, stop_ = nullptr;
};

// Writes a buffer of twice the L2 cache, so that nothing of the run before is left in it. The GPU is then
// also still busy when the next kernel is queued, which keeps the launch's own latency out of its time.
class L2Flush {
 public:
  L2Flush() : buffer_(std::max<size_t>(2 * current_device().l2, size_t{32} << 20)) {}
  void operator()(cudaStream_t stream) { buffer_.fill(value_++, stream); }

 private:
  DeviceMemory buffer_;
  unsigned char value_ = 0;
};

inline double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const size_t middle = values.size() / 2;
  std::nth_element(values.begin(), values.begin() + static_cast<ptrdiff_t>(middle), values.end());
  if (values.size() % 2 == 1) return values[middle];
  return 0.5 * (values[middle] +
                *std::max_element(values.begin(), values.begin() + static_cast<ptrdiff_t>(middle)));
}

inline Timing summarize(const std::vector<double>& seconds) {
  Timing timing;
  timing.seconds = median(seconds);
  timing.runs = seconds.size();
  std::vector<double> distances;
  for (const double s : seconds) distances.push_back(std::abs(s - timing.seconds));
  if (timing.seconds > 0) timing.noise = 1.4826 * median(distances) / timing.seconds;
  return timing;
}

// Times each contestant by turns: round after round until `budget` seconds are spent on all of them together,
// at least five rounds and at most a hundred; one round first to warm up. Each is called with the stream that
// it has to run on.
inline std::vector<Timing> time_interleaved(const std::vector<std::function<void(cudaStream_t)>>& contestants,
                                            double budget) {
  constexpr size_t kLeast = 5, kMost = 100;
  Stream stream;
  EventTimer timer;
  L2Flush flush;
  std::vector<std::vector<double>> seconds(contestants.size());
  double spent = 0;
  for (size_t round = 0; round <= kMost; ++round) {
    if (round > kLeast && spent >= budget) break;
    for (size_t i = 0; i < contestants.size(); ++i) {
      flush(stream);
      timer.start(stream);
      contestants[i](stream);
      timer.stop(stream);
      const double s = timer.seconds();
      if (round == 0) continue;
      seconds[i].push_back(s);
      spent += s;
    }
  }
  std::vector<Timing> timings;
  for (const std::vector<double>& s : seconds) timings.push_back(summarize(s));
  return timings;
}

// Seconds that `body` takes on the CPU's clock.
template <class Body>
double cpu_seconds(const Body& body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace days
