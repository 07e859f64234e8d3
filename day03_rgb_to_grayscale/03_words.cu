// SPDX-License-Identifier: MIT
//
// Four pixels a thread: 12 bytes of colour are three whole words, 4 bytes of gray are one. Since bytes: a
// quarter of the requests for the same bytes, no shared memory, no barrier, and a dot product of bytes
// instead of three multiplications.
// Bound by: bytes under way still, 12 a thread; and lanes now read 12 bytes apart.

#include "common/check.h"
#include "common/util.h"
#include "day03_rgb_to_grayscale/quad.cuh"

namespace day03 {
namespace {

constexpr int kThreads = 256;
constexpr int kPixels = 4;  // a thread's

__global__ void words_kernel(const uint8_t* rgb,  // (n, 3)
                             uint8_t* gray,       // (n)
                             int64_t n) {
  const int64_t first = kPixels * (int64_t{blockIdx.x} * blockDim.x + threadIdx.x);
  if (first + kPixels <= n) {
    const uint32_t* words = reinterpret_cast<const uint32_t*>(rgb + 3 * first);
    *reinterpret_cast<uint32_t*>(gray + first) = gray_of_words(words[0], words[1], words[2]);
  } else {
    gray_of_rest(rgb, gray, first, n);
  }
}

}  // namespace

void grayscale_words(const Grayscale<uint8_t>& p, cudaStream_t stream) {
  require_extents(p, "words");
  days::require_needs(p, "words", kAlignedWords);
  const int64_t n = p.pixels(), blocks = days::ceil_div(n, kPixels * kThreads);
  days::require(blocks <= days::kMaxGridX,
                "words: a grid has at most 2^31 - 1 blocks of 1024 pixels; there are", n);
  words_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(p.rgb, p.gray, n);
  CUDA_CHECK_LAUNCH();
}

}  // namespace day03
