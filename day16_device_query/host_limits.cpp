// SPDX-License-Identifier: MIT
#include "day16_device_query/host_limits.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <functional>
#include <thread>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace day16 {
namespace {

constexpr int kRuns = 7;
constexpr size_t kCopyBytes = size_t{64} << 20;  // each of two arrays; larger than most caches
constexpr int kSteps = 4000000;                  // of the multiply-add loop: some 10 ms
constexpr int kChains = 10;        // vectors in flight: latency 4 x 2 a cycle is 8, and 16 registers exist
thread_local volatile float sink;  // what is stored here counts as used, so no loop is optimised away

// The median time of a few runs, in seconds, of work(thread) on every hardware thread at once.
double median_seconds(int threads, const std::function<void(int)>& work) {
  std::vector<double> seconds;
  for (int run = 0; run < kRuns + 1; ++run) {
    const auto start = std::chrono::steady_clock::now();
    std::vector<std::thread> others;
    for (int t = 1; t < threads; ++t) others.emplace_back(work, t);
    work(0);
    for (std::thread& other : others) other.join();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    if (run > 0) seconds.push_back(took.count());  // the first touches the memory and wakes the cores
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

// Both return the operations done: lanes x chains x steps x 2.
double multiply_add_as_compiled() {
  constexpr int kLanes = 4;
  typedef float Vector __attribute__((vector_size(kLanes * sizeof(float))));
  Vector v[kChains];
  for (int c = 0; c < kChains; ++c) v[c] = Vector{} + static_cast<float>(c);
  for (int s = 0; s < kSteps; ++s) {
    for (int c = 0; c < kChains; ++c) v[c] = v[c] * 0.999f + 0.001f;
  }
  for (int c = 1; c < kChains; ++c) v[0] += v[c];
  sink = v[0][0] + v[0][1] + v[0][2] + v[0][3];
  return 2.0 * kLanes * kChains * kSteps;
}

#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) double multiply_add_avx2() {
  const __m256 a = _mm256_set1_ps(0.999f), b = _mm256_set1_ps(0.001f);
  __m256 v[kChains];
  for (int c = 0; c < kChains; ++c) v[c] = _mm256_set1_ps(static_cast<float>(c));
  for (int s = 0; s < kSteps; ++s) {
#pragma GCC unroll 16
    for (int c = 0; c < kChains; ++c) v[c] = _mm256_fmadd_ps(v[c], a, b);
  }
  for (int c = 1; c < kChains; ++c) v[0] = _mm256_add_ps(v[0], v[c]);
  sink = _mm256_cvtss_f32(v[0]);
  return 2.0 * 8 * kChains * kSteps;
}
#endif

std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");  // Linux; elsewhere the generic name has to do
  for (std::string line; std::getline(info, line);) {
    if (line.rfind("model name", 0) == 0 && line.find(": ") != std::string::npos)
      return line.substr(line.find(": ") + 2);
  }
  return "this CPU";
}

}  // namespace

HostLimits measure_host() {
  HostLimits limits;
  limits.name = processor_name();
  limits.threads = std::max(1u, std::thread::hardware_concurrency());

  const std::vector<char> from(kCopyBytes, 1);
  std::vector<char> to(kCopyBytes, 2);
  const auto part = [&](int t) { return kCopyBytes * t / limits.threads; };
  const double copy = median_seconds(
      limits.threads, [&](int t) { std::memcpy(&to[part(t)], &from[part(t)], part(t + 1) - part(t)); });
  limits.copy_gb_per_s = 2.0 * kCopyBytes / copy / 1e9;

  double (*multiply_add)() = multiply_add_as_compiled;
  limits.instructions = "fp32 multiply-add as compiled";
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    multiply_add = multiply_add_avx2;
    limits.instructions = "fp32 AVX2 FMA";
  }
#endif
  double operations = 0;
  const double seconds = median_seconds(limits.threads, [&](int t) {
    const double done = multiply_add();
    if (t == 0) operations = done;
  });
  limits.fma_gflops = operations * limits.threads / seconds / 1e9;
  return limits;
}

}  // namespace day16
