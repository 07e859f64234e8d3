// SPDX-License-Identifier: MIT
//
// How much of a sum do tensor cores lose that add up numbers of 8 bits? All products are positive, so that sums grow to the end, and what is
// cut off of their summands with them. Printed is what is missing of c on average: where sums stay in the tensor cores (rung one), and where
// they are added to floats every four instructions (rung promoted). A CPU adds as tensor cores do, cutting 13 bits below the first of the
// largest summand, unless SIMT_FP8_SUMS says otherwise (0: exactly).
//
//   nvcc -O3 -std=c++20 -arch=sm_90a -I. common/core.cpp day67_hopper_matmul/programs/sums.cu day67_hopper_matmul/0[78]*.cu -o sums && ./sums

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <vector>

#include "common/buffer.h"
#include "common/device.h"
#include "common/random.h"
#include "day67_hopper_matmul/other_types.h"

namespace {

using T = days::fp8_e4m3;
constexpr int kSize = 16;  // rows and columns of c

std::vector<T> positive(uint64_t seed, size_t count) {
  std::vector<T> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = days::from_float<T>(0.5f + 1.5f * days::uniform(seed, i));
  return values;
}

// The share of c's elements that is missing, on average.
double missing(void (*launcher)(const day67::ByteMatmul<T>&, cudaStream_t), int k) {
  const auto count = static_cast<size_t>(kSize) * static_cast<size_t>(k);
  const std::vector<T> a = positive(1, count), b = positive(2, count);
  const days::DeviceBuffer<T> device_a(a), device_b(b);
  const days::DeviceBuffer<days::bf16> device_c(size_t{kSize} * kSize);
  launcher({device_a.data(), device_b.data(), device_c.data(), kSize, kSize, k, {}}, nullptr);
  const std::vector<days::bf16> c = device_c.download();
  double sum = 0;
  for (size_t i = 0; i < c.size(); ++i) {
    double want = 0;
    for (size_t j = 0; j < static_cast<size_t>(k); ++j)
      want += days::to_double(a[i / kSize * static_cast<size_t>(k) + j]) *
              days::to_double(b[i % kSize * static_cast<size_t>(k) + j]);
    sum += 1 - days::to_double(c[i]) / want;
  }
  return sum / static_cast<double>(c.size());
}

}  // namespace

int main() {
  setenv("SIMT_FP8_SUMS", "13", 0);  // read by the CPU backend when it is first used
  try {
    if (const days::Device device = days::query_device(); !device.simt && device.major != 9) {
      std::printf("skipped: wgmma needs compute capability 9.0\n");
      return 0;
    }
    std::printf("missing of sums of k positive products\n%8s%10s%10s\n", "k", "one", "promoted");
    double one = 0, promoted = 0;
    for (const int k : {128, 512, 2048, 4096}) {
      one = missing(day67::matmul_one<T>, k);
      promoted = missing(day67::matmul_promoted<T>, k);
      std::printf("%8d%9.2f%%%9.2f%%\n", k, 100 * one, 100 * promoted);
    }
    const bool cut = std::abs(one) > 0.001;
    if (cut && !(std::abs(promoted) < std::abs(one) / 8)) {
      std::printf("promoted should lose less than an eighth of that\n");
      return 1;
    }
    return 0;
  } catch (const std::exception& error) {
    std::printf("error: %s\n", error.what());
    return 1;
  }
}
