// SPDX-License-Identifier: MIT
// What the rungs have in common whose blocks stay: how x is cut into equal
// shares, and what a block keeps of its own on the chip.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <type_traits>

#include "common/cooperative.h"
#include "common/vector.cuh"
#include "day08_batch_norm/channel.cuh"

namespace day08 {

inline constexpr int kAhead = 4;  // words that a thread asks for before it uses the first
// The same where it has other things in its 64 registers, too: the numbers of 8
// channels, or a second input.
inline constexpr int kFewAhead = 2;

// Where each plane (each row of channels) begins at a multiple of 16 bytes and
// holds whole vectors only (kWide), a word is 16 bytes, else one element.
template <class T, bool kWide>
struct Words {
  using Word = std::conditional_t<kWide, uint4, T>;
  static constexpr int kEach = kWide ? 16 / static_cast<int>(sizeof(T)) : 1;  // elements of a word

  __device__ static float value(const Word& word, int i) {
    if constexpr (kWide) {
      return days::to_float(days::from_word<T>(word)[i]);
    } else {
      return days::to_float(word);
    }
  }
  __device__ static Word at(const T* x, int64_t word) { return reinterpret_cast<const Word*>(x)[word]; }
  // Written data is not read again here: it leaves the caches first.
  template <class Value>
  __device__ static void store(T* y, int64_t word, Value value) {
    if constexpr (kWide) {
      days::Vec<T> vec;
#pragma unroll
      for (int i = 0; i < kEach; ++i) vec[i] = days::from_float<T>(value(i));
      days::store16_streaming(y + word * kEach, vec);
    } else {
      y[word] = days::from_float<T>(value(0));
    }
  }
};

// `groups` (channels, or tiles of them) of `length` words each, one behind the
// other, and cut into as many equal shares as there are blocks: a share may
// hold the end of one group, some whole ones, and the beginning of another.
class Share {
 public:
  __device__ Share(int groups, int length)
      : length_(length),
        all_(int64_t{groups} * length),
        begin_(all_ * blockIdx.x / gridDim.x),
        end_(all_ * (blockIdx.x + int64_t{1}) / gridDim.x) {}

  // A group's words from `begin` to `end` are this share's; the first of them
  // is word `kept` of it.
  struct Segment {
    int group, begin, end;
    int64_t kept;
  };
  __device__ int first() const { return static_cast<int>(begin_ / length_); }
  __device__ int last() const { return static_cast<int>((end_ - 1) / length_); }
  __device__ Segment segment(int group) const {
    const int64_t start = int64_t{group} * length_;
    const int begin = static_cast<int>(max(begin_, start) - start);
    return {group, begin, static_cast<int>(min(end_, start + length_) - start), start + begin - begin_};
  }

  // Blocks first to last have a segment of the group. No two of them, of
  // whatever groups, have the same block + group: that is their place.
  struct Places {
    int first, last;
  };
  __device__ Places places(int group) const {
    const int64_t start = int64_t{group} * length_;
    return {group + block_of(start), group + block_of(start + length_ - 1)};
  }

 private:
  __device__ int block_of(int64_t word) const {
    return static_cast<int>(((word + 1) * gridDim.x - 1) / all_);
  }

  int length_;
  int64_t all_, begin_, end_;
};

// A launch of blocks that stay.
struct Stay {
  int blocks;
  size_t shared;  // bytes of each, in which it keeps its words

  // As many blocks as the device holds at once, kBlocksOfMultiprocessor for
  // each, but no more than have `least` words to do; and an equal part of a
  // multiprocessor's shared memory for each, but no more than `bytes`.
  template <class... Parameters>
  Stay(void (*kernel)(Parameters...), int64_t words, int64_t least, size_t bytes) {
    cudaFuncAttributes of_kernel;
    CUDA_CHECK(cudaFuncGetAttributes(&of_kernel, kernel));
    const int part =
        days::device_attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor) / kBlocksOfMultiprocessor -
        days::device_attribute(cudaDevAttrReservedSharedMemoryPerBlock);
    const int most = std::min(part, days::device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin)) -
                     static_cast<int>(of_kernel.sharedSizeBytes);
    shared = std::min(bytes, static_cast<size_t>(std::max(most, 0))) / 32 * 32;
    const int64_t wanted = std::min<int64_t>(days::ceil_div(words, least), kMostBlocks);
    const int64_t most_blocks = std::min<int64_t>(days::resident_blocks(kernel, kShareThreads, shared),
                                                  int64_t{kBlocksOfMultiprocessor} * days::multiprocessors());
    blocks = static_cast<int>(std::min(most_blocks, wanted));
  }
};

// Whether planes (or rows) of `extent` elements are whole vectors.
template <class T, class... Pointers>
bool whole_vectors(int extent, const Pointers*... pointers) {
  return extent % Words<T, true>::kEach == 0 && days::aligned16(pointers...);
}

}  // namespace day08
