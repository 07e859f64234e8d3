// SPDX-License-Identifier: MIT
//
// A token of one text by one kernel, whose blocks stay for all layers. Where other kernels end, its blocks wait for each other's values
// (exchange.h); what they need next of the weights is asked for before that, in the order of the layers, as far ahead as shared memory is
// wide. No order of sums depends on time: the same text gets the same bits.
#pragma once

#include <cuda_runtime.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/buffer.h"
#include "common/types.h"
#include "serve/model.h"
#include "serve/ops.h"

namespace serve {

// Matrices are (out, in), as Weights has them; every array begins at a multiple of 16 bytes. Null where the configuration has no use for it.
template <class T>
struct LayerOnDevice {
  T *norm1, *norm1_bias, *qkv, *qkv_bias, *proj, *proj_bias, *norm2, *norm2_bias, *first, *first_bias, *down,
      *down_bias;
  T *keys, *values;  // pages (ops.h)
};
template <class T>
struct ModelOnDevice {
  const T *tokens, *positions, *output, *norm, *norm_bias;
  std::vector<LayerOnDevice<T>> layers;
  const float* frequency;  // (head_dim / 2)
};

struct PersistentOptions {
  enum class Ahead : int {
    kAutomatic,  // a ring where the device has bulk copies
    kRing,       // a warp fills a ring in shared memory, layers ahead; needs compute capability 9.0
    kRegisters,  // each warp asks for its first rows before it waits
  } ahead = Ahead::kAutomatic;
  bool barriers = false;    // all blocks also wait for all others behind each stage: what the words save
  int blocks = 0;           // 0: one for each multiprocessor
  int pieces = 0;           // of the ring; 0: as many as fit
  int piece_bytes = 12288;  // of one: at least a row of each matrix
  int keys_of_block = 128;  // attention of more keys is split over several blocks
  unsigned pause = 0;       // nanoseconds between two looks at a word that has not come
};

// When a block's stage began, had its inputs, its products, and had sent them: clock64().
struct Marks {
  long long began, had, multiplied, sent;
};

// T: float, half or bf16.
template <class T>
class Persistent {
 public:
  // Throws std::invalid_argument where the device does not hold all blocks at once, or the model does not fit the kernel. All that `model`
  // and `slots` name has to stay where it is. Waits.
  Persistent(const Config& config, const ModelOnDevice<T>& model, const Slots& slots,
             const PersistentOptions& options = {});

  // Queues the kernel: of slot *slot it takes the last token, writes its keys and values into the pages, writes the logits behind it to
  // (padded_vocab), and its position. A slot of -1 leaves all as it is. Only one launch of an object may be under way.
  // marks: null, or (blocks, stages) of them.
  void queue(const int32_t* slot, float* logits, int32_t* position, cudaStream_t stream,
             Marks* marks = nullptr) const;

  int blocks() const { return blocks_; }
  int stages() const { return 5 * config_.layers + 1; }
  const char* stage_name(int stage) const;
  // What a token at a position takes: how often a block waits for others, one wait behind the other, and bytes of weights, keys and values.
  int waits(int position) const;
  size_t bytes(int position) const;
  // Bytes of weights that may be under way or have come before they are needed, of all blocks.
  size_t bytes_ahead() const;
  size_t shared_bytes() const { return shared_; }

 private:
  int splits(int position) const;

  Config config_;
  ModelOnDevice<T> model_;
  Slots slots_;
  PersistentOptions options_;
  bool ring_ = false;
  int blocks_ = 0, pieces_ = 0, most_splits_ = 1;
  size_t shared_ = 0;
  std::array<int, 13> shared_layout_{};
  days::DeviceMemory memory_;  // layers, words, counters
};

}  // namespace serve
