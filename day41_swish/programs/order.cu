// SPDX-License-Identifier: MIT
//
// What does the order of a sum change? First one running sum of fp32 over ever more elements, as atomic additions to one
// address make it: when does it stop to take in what is added? Then 1,000 orders of the same blocks' sums, as `block` might
// meet them: how many different dbeta are there?
//
//   nvcc -O3 -std=c++20 -arch=sm_75 -I. common/core.cpp day41_swish/[0-9]*.cu day41_swish/programs/order.cu -o order && ./order

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>
#include <vector>

#include "common/check.h"
#include "common/random.h"
#include "day41_swish/formulas.h"
#include "day41_swish/swish.h"

namespace day41 {
namespace {

// Of dy = 1 and beta = 1, so that all have the same sign; the truth is added up in double.
void running_sums() {
  std::printf("A running sum of fp32, dy = 1\n  elements       sum in fp32          truth    off by\n");
  float sum = 0;
  double truth = 0;
  int64_t i = 0;
  for (int power = 16; power <= 27; power += power < 20 ? 4 : 1) {
    for (; i < int64_t{1} << power; ++i) {
      const double term = Exact(static_cast<double>(days::normal(41, static_cast<uint64_t>(i))), 1).by_beta;
      sum += static_cast<float>(term);
      truth += term;
    }
    std::printf("  2^%d      %14.1f %14.1f   %6.3f%%\n", power, static_cast<double>(sum), truth,
                100 * std::abs(static_cast<double>(sum) - truth) / truth);
  }
}

// The blocks' sums, as stages writes them.
std::vector<float> partial_sums(int64_t n, double* truth) {
  std::vector<float> x(static_cast<size_t>(n)), dy(x.size());
  *truth = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = days::normal(1, i);
    dy[i] = days::normal(2, i);
    *truth += static_cast<double>(dy[i]) * Exact(static_cast<double>(x[i]), 1).by_beta;
  }
  const float one = 1;
  float *of_x, *of_dy, *of_dx, *beta, *dbeta, *scratch;
  const size_t bytes = x.size() * sizeof(float);
  for (float** to : {&of_x, &of_dy, &of_dx}) CUDA_CHECK(cudaMalloc(to, bytes));
  for (float** to : {&beta, &dbeta}) CUDA_CHECK(cudaMalloc(to, sizeof(float)));
  CUDA_CHECK(cudaMemcpy(of_x, x.data(), bytes, cudaMemcpyHostToDevice));
  CUDA_CHECK(cudaMemcpy(of_dy, dy.data(), bytes, cudaMemcpyHostToDevice));
  CUDA_CHECK(cudaMemcpy(beta, &one, sizeof one, cudaMemcpyHostToDevice));
  SwishBackward<float> p = {of_x, of_dy, beta, of_dx, dbeta, n, {}, {}};
  p.workspace.bytes = stages_workspace(p);
  CUDA_CHECK(cudaMalloc(&scratch, p.workspace.bytes));
  p.workspace.data = scratch;
  swish_stages(p, nullptr);
  std::vector<float> sums(p.workspace.bytes / sizeof(float));
  CUDA_CHECK(cudaMemcpy(sums.data(), scratch, p.workspace.bytes, cudaMemcpyDeviceToHost));
  for (float* from : {of_x, of_dy, of_dx, beta, dbeta, scratch}) CUDA_CHECK(cudaFree(from));
  return sums;
}

void orders() {
  constexpr int64_t kCount = int64_t{1} << 22;
  constexpr int kOrders = 1000;
  double truth = 0;
  std::vector<float> sums = partial_sums(kCount, &truth);
  std::set<float> seen;
  uint64_t random = 0;
  for (int order = 0; order < kOrders; ++order) {
    for (size_t i = sums.size(); i > 1; --i) {  // a shuffle that is the same everywhere
      std::swap(sums[i - 1], sums[days::random_bits(7, random++) % i]);
    }
    float sum = 0;
    for (const float one : sums) sum += one;
    seen.insert(sum);
  }
  std::printf("\n%d orders of the sums of %zu blocks, 2^22 elements, dy of N(0, 1)\n", kOrders, sums.size());
  std::printf("  different results %zu\n  least   %.6f\n  truth   %.6f\n  largest %.6f\n", seen.size(),
              static_cast<double>(*seen.begin()), truth, static_cast<double>(*seen.rbegin()));
}

}  // namespace
}  // namespace day41

int main() {
  day41::running_sums();
  day41::orders();
}
