// SPDX-License-Identifier: MIT
//
// Three blocks hand each other 15 values, and send theirs by pairs: the fifth of each never comes, and who waits for it waits for ever.
// plain: [simt-hang]
// checked: [simt-hang]
#include <cstdio>

#include "common/buffer.h"
#include "common/cooperative.h"
#include "common/program.h"
#include "serve/exchange.h"

constexpr int kThreads = 32, kBlocks = 3, kEach = 5, kAll = kBlocks * kEach;

__global__ void sums(serve::Word* words, float* sum) {
  const auto thread = static_cast<int>(threadIdx.x), block = static_cast<int>(blockIdx.x);
  if (thread < kEach / 2) {  // the last of an odd number is in no pair
    for (int i = 0; i < 2; ++i) {
      const int place = block * kEach + 2 * thread + i;
      const float value[1] = {static_cast<float>(place)};
      serve::send<float>(words + place, value, 1);
    }
  }
  float mine = 0;
  serve::receive<kThreads, float>(words, kAll, 1, thread, 0, [&](int, float value) { mine += value; });
  for (int other = 16; other > 0; other /= 2) mine += __shfl_xor_sync(0xffffffffu, mine, other);
  if (thread == 0) sum[block] = mine;
}

int main(int argc, char** argv) {
  const days::About about{"lost_word", "blocks that wait for a word that nobody sends", kAll, kAll};
  return days::program(argc, argv, about, [](days::Program& program) {
    const days::DeviceMemory words(kAll * sizeof(serve::Word), 0);
    const days::DeviceBuffer<float> sum(kBlocks);
    days::launch_cooperative("lost_word", sums, kBlocks, kThreads, 0, nullptr,
                             static_cast<serve::Word*>(words.data()), sum.data());
    CUDA_CHECK(cudaDeviceSynchronize());
    const std::vector<float> expected(kBlocks, kAll * (kAll - 1) / 2);
    program.compare(sum.download().data(), expected.data(), kBlocks, "sum");
  });
}
