// SPDX-License-Identifier: MIT
//
// How far off is a float's matrix product on tensor cores? The same products of N(0, 1) are made by a chain of FFMA, by
// TF32, and by three products of TF32, whose sum is either mma's own or added outside it every 32 of k (rung three). The
// root of the mean squared error of 32 x 32 elements is printed against sums in double. A CPU adds in mma without
// cutting anything off; a GPU's tensor cores cut, so that "in mma" should be further off there.
//
//   nvcc -O3 -std=c++20 -arch=sm_80 -I. day66_tensor_core_matmul/programs/accuracy.cu -o accuracy && ./accuracy

#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "common/ptx.h"
#include "common/random.h"

#define CHECK(call)                                                                                  \
  do {                                                                                               \
    const cudaError_t error = (call);                                                                \
    if (error != cudaSuccess) {                                                                      \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error)); \
      std::exit(1);                                                                                  \
    }                                                                                                \
  } while (0)

namespace {

constexpr int kSize = 32;  // rows and columns of c
constexpr int kPart = 32;  // of k, which mma adds up before that sum is added outside
enum class Way { kFloats, kTf32, kThreeInMma, kThreeOutside };

__device__ void split(float x, uint32_t& big, uint32_t& small) {
  big = days::ptx::cvt_rn_tf32(x);
  small = __float_as_uint(x - __uint_as_float(big));  // of its 12 bits tensor cores read 11
}

// A warp for each 16 x 8 elements of c; k is a multiple of kPart.
template <Way kWay>
__global__ void multiply_kernel(const float* a,  // (32, k)
                                const float* b,  // (k, 32)
                                float* c,        // (32, 32)
                                int k) {
  const int row = static_cast<int>(blockIdx.y) * 16, col = static_cast<int>(blockIdx.x) * 8;
  const int g = static_cast<int>(threadIdx.x) / 4, t = static_cast<int>(threadIdx.x) % 4;
  float sum[4] = {}, part[4] = {};
  for (int i = 0; i < k; i += 8) {
    if constexpr (kWay == Way::kFloats) {
      for (int e = 0; e < 4; ++e) {
        for (int j = i; j < i + 8; ++j)
          sum[e] = fmaf(a[(row + g + e / 2 * 8) * k + j], b[j * kSize + col + 2 * t + e % 2], sum[e]);
      }
    } else {
      uint32_t big_a[4], small_a[4], big_b[2], small_b[2];
      for (int e = 0; e < 4; ++e)
        split(a[(row + g + e % 2 * 8) * k + i + t + e / 2 * 4], big_a[e], small_a[e]);
      for (int e = 0; e < 2; ++e) split(b[(i + t + 4 * e) * kSize + col + g], big_b[e], small_b[e]);
      if constexpr (kWay == Way::kTf32) {
        days::ptx::mma_m16n8k8_f32_tf32_tf32_f32(sum, big_a, big_b, sum);
      } else {
        float(&to)[4] = kWay == Way::kThreeInMma ? sum : part;
        days::ptx::mma_m16n8k8_f32_tf32_tf32_f32(to, small_a, big_b, to);
        days::ptx::mma_m16n8k8_f32_tf32_tf32_f32(to, big_a, small_b, to);
        days::ptx::mma_m16n8k8_f32_tf32_tf32_f32(to, big_a, big_b, to);
        if (kWay == Way::kThreeOutside && (i + 8) % kPart == 0) {
          for (int e = 0; e < 4; ++e) {
            sum[e] += part[e];
            part[e] = 0;
          }
        }
      }
    }
  }
  for (int e = 0; e < 4; ++e) c[(row + g + e / 2 * 8) * kSize + col + 2 * t + e % 2] = sum[e];
}

// The root of the mean squared error of one way.
template <Way kWay>
double error_of(const float* a, const float* b, float* c, const std::vector<double>& truth, int k) {
  multiply_kernel<kWay><<<dim3(kSize / 8, kSize / 16), 32>>>(a, b, c, k);
  CHECK(cudaGetLastError());
  std::vector<float> got(truth.size());
  CHECK(cudaMemcpy(got.data(), c, got.size() * sizeof(float), cudaMemcpyDeviceToHost));
  double sum = 0;
  for (size_t i = 0; i < got.size(); ++i) sum += (got[i] - truth[i]) * (got[i] - truth[i]);
  return std::sqrt(sum / static_cast<double>(got.size()));
}

}  // namespace

int main() {
  bool good = true;
  std::printf("root of the mean squared error, in millionths of an operand's size\n\n");
  std::printf("    k    fp32     TF32   3 x TF32:  in mma   outside   times fp32's\n");
  for (const int k : {64, 512, 4096}) {
    const size_t n = static_cast<size_t>(kSize) * static_cast<size_t>(k);
    std::vector<float> a(n), b(n);
    for (size_t i = 0; i < n; ++i) {
      a[i] = static_cast<float>(days::normal(1, i));
      b[i] = static_cast<float>(days::normal(2, i));
    }
    std::vector<double> truth(kSize * kSize);
    for (size_t row = 0; row < kSize; ++row) {
      for (size_t i = 0; i < static_cast<size_t>(k); ++i) {
        for (size_t col = 0; col < kSize; ++col)
          truth[row * kSize + col] += static_cast<double>(a[row * static_cast<size_t>(k) + i]) *
                                      static_cast<double>(b[i * kSize + col]);
      }
    }
    float *device_a, *device_b, *c;
    CHECK(cudaMalloc(&device_a, n * sizeof(float)));
    CHECK(cudaMalloc(&device_b, n * sizeof(float)));
    CHECK(cudaMalloc(&c, kSize * kSize * sizeof(float)));
    CHECK(cudaMemcpy(device_a, a.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(device_b, b.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    const double floats = error_of<Way::kFloats>(device_a, device_b, c, truth, k),
                 tf32 = error_of<Way::kTf32>(device_a, device_b, c, truth, k),
                 in_mma = error_of<Way::kThreeInMma>(device_a, device_b, c, truth, k),
                 outside = error_of<Way::kThreeOutside>(device_a, device_b, c, truth, k);
    std::printf("%5d %7.2f %8.0f %18.2f %9.2f %14.1f\n", k, 1e6 * floats, 1e6 * tf32, 1e6 * in_mma,
                1e6 * outside, outside / floats);
    good = good && outside <= 2 * floats && tf32 > 20 * floats;
    for (float* memory : {device_a, device_b, c}) CHECK(cudaFree(memory));
  }
  if (!good)
    std::printf("\nwrong: three products should be within twice fp32's error, and one far beyond it\n");
  return good ? 0 : 1;
}
