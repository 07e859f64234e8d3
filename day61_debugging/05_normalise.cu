// SPDX-License-Identifier: MIT
//
// Readings of 16 samples, each normalised to mean 0 and variance 1, one reading a thread. The variance is the mean
// of squared distances from the mean, which cannot be negative; mean(x x) - mean(x) mean(x) is the same on paper alone.
//   nvcc -O3 -std=c++20 -arch=sm_75 -I. common/core.cpp common/program/program.cpp day61_debugging/05_normalise.cu -o normalise
#include <cmath>

#include "common/buffer.h"
#include "common/program.h"
#include "common/util.h"

constexpr int kThreads = 128, kSamples = 16;
constexpr float kEpsilon = 1e-5f;  // so that a constant reading is not divided by 0

// y = (x - mean) / sqrt(variance + kEpsilon). x, y: (readings, kSamples)
__global__ void normalise(const float* x, float* y, size_t readings) {
  const size_t reading = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (reading >= readings) return;
  const float* const from = x + reading * kSamples;
  float sum = 0, squares = 0;
  for (int s = 0; s < kSamples; ++s) sum += from[s];
  const float mean = sum / kSamples;
  for (int s = 0; s < kSamples; ++s) squares += (from[s] - mean) * (from[s] - mean);
  const float variance = squares / kSamples;
  for (int s = 0; s < kSamples; ++s)
    y[reading * kSamples + s] = (from[s] - mean) / sqrtf(variance + kEpsilon);
}

int main(int argc, char** argv) {
  const days::About about{"normalise", "readings of 16 samples to mean 0, variance 1", 1 << 16, 1000};
  return days::program(argc, argv, about, [](days::Program& program) {
    const size_t readings = program.size(), n = readings * kSamples;
    std::vector<float> x(n), expected(n);
    for (size_t i = 0; i < n; ++i)  // every eighth reading is constant; these numbers make all sums exact
      x[i] = static_cast<float>(5000 + i / kSamples % 97 + (i / kSamples % 8 == 0 ? 0 : i * i % 11));
    for (size_t first = 0; first < n; first += kSamples) {
      float sum = 0, squares = 0;
      for (size_t i = first; i < first + kSamples; ++i) sum += x[i];
      const float mean = sum / kSamples;
      for (size_t i = first; i < first + kSamples; ++i) squares += (x[i] - mean) * (x[i] - mean);
      for (size_t i = first; i < first + kSamples; ++i)
        expected[i] = (x[i] - mean) / std::sqrt(squares / kSamples + kEpsilon);
    }
    const days::DeviceBuffer<float> samples(x), y(n);
    normalise<<<static_cast<unsigned>(days::ceil_div(readings, size_t{kThreads})), kThreads>>>(
        samples.data(), y.data(), readings);
    CUDA_CHECK_LAUNCH();
    program.compare(y.download().data(), expected.data(), n, "y");
  });
}
