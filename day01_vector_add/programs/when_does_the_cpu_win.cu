// SPDX-License-Identifier: MIT
// What an addition on the GPU costs when its inputs start in the CPU's memory and its result must go back
// there: the two copies in, the kernel, the copy out, beside the same addition on the CPU's cores.
//   nvcc -O3 -std=c++20 -arch=sm_75 day01_vector_add/programs/when_does_the_cpu_win.cu -o cpu_or_gpu
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

static void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "error: %s: %s\n", cudaGetErrorName(error), cudaGetErrorString(error));
  std::exit(1);
}

__global__ void add_kernel(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

static void add_on_cpu(const float* a, const float* b, float* c, int n, int cores) {
  const auto part = [=](int core) {
    const int first = static_cast<int>(static_cast<long long>(n) * core / cores);
    const int last = static_cast<int>(static_cast<long long>(n) * (core + 1) / cores);
    for (int i = first; i < last; ++i) c[i] = a[i] + b[i];
  };
  std::vector<std::thread> threads;
  for (int core = 1; core < cores; ++core) threads.emplace_back(part, core);
  part(0);
  for (std::thread& thread : threads) thread.join();
}

// Median time of some calls in microseconds, after one that does not count. Every call ends with the GPU
// idle.
template <class Work>
static double microseconds(Work work) {
  std::vector<double> times;
  for (int repeat = 0; repeat < 8; ++repeat) {
    const auto start = std::chrono::steady_clock::now();
    work();
    check(cudaDeviceSynchronize());
    const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - start;
    if (repeat > 0) times.push_back(time.count());
  }
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  return times[times.size() / 2];
}

int main() {
#ifdef __SIMT__
  const int largest = 1 << 20;
  std::printf(
      "No GPU here: the \"kernel\" runs on this CPU and the copies stay in its memory. These times\n"
      "show how the program measures; they are not a GPU's and say nothing about one.\n\n");
#else
  const int largest = 1 << 26;
#endif
  cudaDeviceProp device;
  check(cudaGetDeviceProperties(&device, 0));
  const int cores = std::max(1u, std::thread::hardware_concurrency());
  std::printf("%s and %d CPU cores; microseconds, pageable host memory\n\n", device.name, cores);
  std::printf("%9s %9s %9s | %9s %8s %9s %9s | %s\n", "elements", "1 core", "all cores", "copies in",
              "kernel", "copy out", "GPU total", "wins");

  const size_t bytes = largest * sizeof(float);
  std::vector<float> a(largest, 1.0f), b(largest, 2.0f),
      c(largest, 0.0f);  // written once: every page is there
  float *device_a = nullptr, *device_b = nullptr, *device_c = nullptr;
  check(cudaMalloc(&device_a, bytes));
  check(cudaMalloc(&device_b, bytes));
  check(cudaMalloc(&device_c, bytes));

  [[maybe_unused]] int kernel_wins_from = 0, total_wins_from = 0;  // 0: at no size
  for (int n = 1 << 10; n <= largest; n *= 4) {
    const size_t part = n * sizeof(float);
    const double one = microseconds([&] { add_on_cpu(a.data(), b.data(), c.data(), n, 1); });
    const double all = microseconds([&] { add_on_cpu(a.data(), b.data(), c.data(), n, cores); });
    const double in = microseconds([&] {
      check(cudaMemcpy(device_a, a.data(), part, cudaMemcpyHostToDevice));
      check(cudaMemcpy(device_b, b.data(), part, cudaMemcpyHostToDevice));
    });
    const double kernel = microseconds([&] {
      add_kernel<<<(n + 255) / 256, 256>>>(device_a, device_b, device_c, n);
      check(cudaGetLastError());
    });
    std::fill(c.begin(), c.begin() + n, 0.0f);
    const double out =
        microseconds([&] { check(cudaMemcpy(c.data(), device_c, part, cudaMemcpyDeviceToHost)); });
    if (std::count(c.begin(), c.begin() + n, 3.0f) != n) {
      std::fprintf(stderr, "error: wrong result for %d elements\n", n);
      return 1;
    }
    const double cpu = std::min(one, all), total = in + kernel + out;
    // The size from which on the GPU wins: a later size that the CPU wins starts the count again.
    kernel_wins_from = kernel >= cpu ? 0 : kernel_wins_from > 0 ? kernel_wins_from : n;
    total_wins_from = total >= cpu ? 0 : total_wins_from > 0 ? total_wins_from : n;
    std::printf("%9d %9.1f %9.1f | %9.1f %8.1f %9.1f %9.1f | %s\n", n, one, all, in, kernel, out, total,
                total < cpu ? "GPU" : "CPU");
  }
  check(cudaFree(device_a));
  check(cudaFree(device_b));
  check(cudaFree(device_c));

#ifndef __SIMT__
  std::printf("\nData that is on the GPU already: ");
  if (kernel_wins_from > 0) std::printf("the GPU wins from %d elements on.\n", kernel_wins_from);
  if (kernel_wins_from == 0) std::printf("the CPU wins at every size here.\n");
  std::printf("Data that must go there and back: ");
  if (total_wins_from > 0) std::printf("the GPU wins from %d elements on.\n", total_wins_from);
  if (total_wins_from == 0) std::printf("the CPU wins at every size here.\n");
#endif
}
