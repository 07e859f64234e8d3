// SPDX-License-Identifier: MIT
//
// Finite differences as the judge of gradients. First, which step is the right one, in fp32 and in double: the change of
// GELU over a small step either way, divided by both steps, beside the slope. Then, with the best step in double, how far
// the rungs' own kernels are from it, in each type, on all numbers of 16 bits from -8 to 8 and 4,001 of fp32.
//
//   nvcc -O3 -std=c++20 -arch=sm_75 -I. common/core.cpp day15_gelu_backward/[0-9]*.cu day15_gelu_backward/programs/differences.cu -o differences && ./differences

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

#include "common/check.h"
#include "day15_gelu_backward/formulas.h"
#include "day15_gelu_backward/gelu_backward.h"

namespace day15 {
namespace {

float gelu_in_fp32(float x) {
  return 0.5f * x * std::erfc(-kHalfRoot * x);
}
double difference(double x, double step) {
  return (gelu(x + step) - gelu(x - step)) / (2 * step);
}

std::vector<float> from_minus_8_to_8() {
  std::vector<float> x(4001);
  for (size_t i = 0; i < x.size(); ++i) x[i] = -8 + 0.004f * static_cast<float>(i);
  return x;
}

void steps() {
  std::printf("worst error of a difference quotient, x from -8 to 8\n  step        in fp32   in double\n");
  for (int power = 1; power <= 9; ++power) {
    const double step = std::pow(10.0, -power);
    double worst_in_fp32 = 0, worst = 0;
    for (const float x : from_minus_8_to_8()) {
      const float high = x + static_cast<float>(step), low = x - static_cast<float>(step);
      // The step that was really made: a sum in fp32 is rounded, too.
      const float quotient = high == low ? 0 : (gelu_in_fp32(high) - gelu_in_fp32(low)) / (high - low);
      const double want = slope(static_cast<double>(x));
      worst_in_fp32 = std::max(worst_in_fp32, std::abs(static_cast<double>(quotient) - want));
      worst = std::max(worst, std::abs(difference(static_cast<double>(x), step) - want));
    }
    std::printf("  1e-%d        %7.0e     %7.0e\n", power, worst_in_fp32, worst);
  }
}

template <class T>
T* to_device(const std::vector<T>& values) {
  T* to = nullptr;
  CUDA_CHECK(cudaMalloc(&to, values.size() * sizeof(T)));
  CUDA_CHECK(cudaMemcpy(to, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  return to;
}

// A rung's dx for dy = 1: the worst distance from the difference in double.
template <class T, class Launch>
double worst_of(const std::vector<T>& from, Launch launch) {
  const int64_t n = static_cast<int64_t>(from.size());
  std::vector<T> got(from.size(), days::from_float<T>(1.0f));
  T *x = to_device(from), *dy = to_device(got), *y = to_device(got), *dx = to_device(got),
    *kept = to_device(got);
  launch(GeluStep<T>{x, dy, y, dx, n, {kept, from.size() * sizeof(T)}});
  CUDA_CHECK(cudaMemcpy(got.data(), dx, from.size() * sizeof(T), cudaMemcpyDeviceToHost));
  for (T* array : {x, dy, y, dx, kept}) CUDA_CHECK(cudaFree(array));
  double worst = 0;
  for (size_t i = 0; i < from.size(); ++i) {
    const double off = std::abs(days::to_double(got[i]) - difference(days::to_double(from[i]), 1e-5));
    if (!(off <= worst)) worst = off;  // a NaN, too
  }
  return worst;
}

template <class T>
std::vector<T> numbers() {
  if constexpr (std::is_same_v<T, float>) {
    return from_minus_8_to_8();
  } else {
    std::vector<T> x;
    for (unsigned bits = 0; bits < 65536; ++bits) {
      const uint16_t narrow = static_cast<uint16_t>(bits);
      T value;
      memcpy(static_cast<void*>(&value), &narrow, 2);
      if (std::abs(days::to_float(value)) <= 8) x.push_back(value);
    }
    return x;
  }
}

// Each rung's worst in one type; the largest of them.
template <class T>
std::vector<double> rungs() {
  const std::vector<T> x = numbers<T>();
  const auto alone = [](auto launch) {
    return [launch](const GeluStep<T>& p) { launch(GeluBackward<T>{p.x, p.dy, p.dx, p.n}, nullptr); };
  };
  const auto step = [](auto launch) { return [launch](const GeluStep<T>& p) { launch(p, nullptr); }; };
  return {worst_of<T>(x, step(gelu_step_inner<T>)),     worst_of<T>(x, step(gelu_step_slope<T>)),
          worst_of<T>(x, step(gelu_step_recompute<T>)), worst_of<T>(x, step(gelu_step_byte<T>)),
          worst_of<T>(x, alone(gelu_grad_vectors<T>)),  worst_of<T>(x, alone(gelu_grad_one_power<T>))};
}

}  // namespace
}  // namespace day15

int main() {
  using namespace day15;
  steps();
  const char* const names[] = {"inner", "slope", "recompute", "byte", "grad_vectors", "grad_one_power"};
  const std::vector<double> fp32 = rungs<float>(), fp16 = rungs<days::half>(), bf16 = rungs<days::bf16>();
  std::printf("\nworst distance of dx from the difference in double, step 1e-5, dy = 1\n");
  std::printf("  rung               fp32      fp16      bf16\n");
  bool right = true;
  for (size_t i = 0; i < std::size(names); ++i) {
    std::printf("  %-14s  %7.0e   %7.0e   %7.0e\n", names[i], fp32[i], fp16[i], bf16[i]);
    const double kept = std::strcmp(names[i], "byte") == 0 ? 0.5 / kSteps : 0;
    right = right && fp32[i] < kept + 1e-6 && fp16[i] < kept + 2e-3 && bf16[i] < kept + 1.2e-2;
  }
  return right ? 0 : 1;
}
