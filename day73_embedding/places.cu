// SPDX-License-Identifier: MIT
// Tokens in order (embedding.h): a stable sort of words, each with its place, and where each word begins among them.
#include "common/sort.cuh"
#include "day73_embedding/embedding.h"

namespace day73 {
namespace {

// A token without a gradient counts as word `vocab`, and comes last.
struct Tokens {
  const int32_t* tokens;  // (count)
  int vocab, padding;
  __device__ uint32_t key(int64_t i) const {
    const int32_t token = tokens[i];
    return static_cast<uint32_t>(has_gradient(token, vocab, padding) ? token : vocab);
  }
  __device__ uint32_t value(int64_t i) const { return static_cast<uint32_t>(i); }
};

// A thread a word: the first place of a word that is not smaller, by halving. Words are 4 bytes each and stay in L2.
__global__ void __launch_bounds__(kThreads) starts_kernel(const uint32_t* words,  // (count), ascending
                                                          int32_t* starts,        // (vocab + 1)
                                                          int count, int vocab) {
  const int64_t word = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (word > vocab) return;
  int low = 0, high = count;  // words[0 .. low) are smaller, words[high ..) are not
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (words[middle] < static_cast<uint32_t>(word)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  starts[word] = low;
}

}  // namespace

size_t places_workspace(int count, int vocab) {
  const size_t words = 2 * static_cast<size_t>(count) + static_cast<size_t>(vocab) + 1;
  return days::round_up(sizeof(uint32_t) * words + days::sort_pairs_workspace(count), size_t{16});
}

Places sort_tokens(const int32_t* tokens, int count, int vocab, int padding, void* memory,
                   cudaStream_t stream) {
  uint32_t* const words = static_cast<uint32_t*>(memory);
  uint32_t* const places = words + count;
  int32_t* const starts = reinterpret_cast<int32_t*>(places + count);
  const int bits =
      static_cast<int>(std::bit_width(static_cast<unsigned>(vocab)));  // vocab itself is a key, too
  days::sort_pairs(Tokens{tokens, vocab, padding}, {words, places}, count, bits, starts + vocab + 1, stream);
  starts_kernel<<<days::grid_of(int64_t{vocab} + 1, kThreads, "sort_tokens"), kThreads, 0, stream>>>(
      words, starts, count, vocab);
  CUDA_CHECK_LAUNCH();
  return {words, places, starts};
}

}  // namespace day73
