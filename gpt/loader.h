// SPDX-License-Identifier: MIT
//
// What a training reads: a file of tokens, cut into windows of seq + 1 tokens, in an order that a key shuffles anew for each epoch. A
// window's last token is the next one's first; what is left at the end and fills no window is never read. The number of the next
// sample is all of the state, and the caller keeps it: whoever resumes goes on from it. GPU r of R reads `count` samples from number
// next + r * count on, and all of them then add R * count to next: together they read what one GPU would have read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/check.h"
#include "common/random.h"

namespace gpt {

// A shuffled order of 0 ... count - 1 without a table: four rounds of a Feistel network on the next power of four, again and again until
// the result is below count. The constructor throws std::invalid_argument where count is 0; i is below count.
class Order {
 public:
  Order(uint64_t count, uint64_t key) : count_(count), key_(key) {
    days::require(count > 0, "there is nothing to shuffle; the count is", count);
    while (uint64_t{1} << (2 * half_) < count) ++half_;
  }
  uint64_t operator[](uint64_t i) const {
    do {
      i = shuffled(i);
    } while (i >= count_);
    return i;
  }

 private:
  uint64_t shuffled(uint64_t i) const {
    const uint64_t mask = (uint64_t{1} << half_) - 1;
    uint64_t left = i >> half_, right = i & mask;
    for (uint64_t round = 0; round < 4; ++round)
      left = std::exchange(right, left ^ (days::random_bits(key_, 4 * right + round) & mask));
    return left << half_ | right;
  }
  uint64_t count_, key_;
  int half_ = 1;  // bits of a half
};

class Loader {
 public:
  // The tokens have to outlive it. Throws std::invalid_argument where they fill not even one window, or seq is not positive.
  Loader(std::span<const uint16_t> tokens, int seq, uint64_t seed) : tokens_(tokens), seq_(seq), seed_(seed) {
    days::require(seq > 0 && tokens.size() > static_cast<size_t>(seq),
                  "a window is seq + 1 tokens; tokens here are", tokens.size());
    windows_ = (tokens.size() - 1) / static_cast<size_t>(seq);
  }
  uint64_t windows() const { return windows_; }  // samples of an epoch

  // Writes samples number `first` ... first + count - 1 as (count, seq) inputs and targets; a target is the token after its input.
  void read(uint64_t first, int count, std::vector<int32_t>* inputs, std::vector<int32_t>* targets) const {
    inputs->clear();
    targets->clear();
    for (uint64_t sample = first; sample < first + static_cast<uint64_t>(count); ++sample) {
      const uint64_t epoch = sample / windows_;
      const Order order(windows_, days::mix(seed_ + epoch));
      const size_t at = order[sample % windows_] * static_cast<size_t>(seq_);
      for (size_t t = 0; t < static_cast<size_t>(seq_); ++t) {
        inputs->push_back(tokens_[at + t]);
        targets->push_back(tokens_[at + t + 1]);
      }
    }
  }

 private:
  std::span<const uint16_t> tokens_;
  int seq_;
  uint64_t seed_, windows_ = 0;
};

}  // namespace gpt
