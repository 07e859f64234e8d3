// SPDX-License-Identifier: MIT
// A table of tensors as a kernel's own parameter, so that one launch serves them all.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/util.h"
#include "day53_adam/adam.h"

namespace day53 {

// Since CUDA 12.1 the parameters of a launch may have 32,764 bytes. A longer list takes a launch more.
inline constexpr int kMaxTensors = 256;
template <class Tensor>
struct Table {
  Tensor tensors[kMaxTensors];
  uint32_t begins[kMaxTensors];  // the first block of each
  int count;
};
static_assert(sizeof(Table<BytesTensor<float>>) <= 32764 - 256, "and room for what else a kernel takes");

// Calls launch(table, blocks) for each kMaxTensors tensors: a block for each `chunk` weights of each tensor.
template <class Tensor, class Launch>
void for_each_table(const std::vector<Tensor>& tensors, int64_t chunk, const char* variant, Launch launch) {
  for (size_t first = 0; first < tensors.size(); first += kMaxTensors) {
    Table<Tensor> table;
    table.count = static_cast<int>(std::min(tensors.size() - first, size_t{kMaxTensors}));
    int64_t blocks = 0;
    for (int i = 0; i < table.count; ++i) {
      table.tensors[i] = tensors[first + static_cast<size_t>(i)];
      table.begins[i] = static_cast<uint32_t>(blocks);
      blocks += days::ceil_div(table.tensors[i].n, chunk);
      days::require(blocks <= days::kMaxGridX, variant, ": too many weights for one grid; blocks:", blocks);
    }
    launch(table, static_cast<unsigned>(blocks));
  }
}

// The tensor of a block: the last one that does not begin behind it. Rung table takes it apart.
template <class Tensor>
__device__ inline int tensor_of(const Table<Tensor>& table, uint32_t block) {
  int first = 0, last = table.count - 1;
  while (first < last) {
    const int middle = (first + last + 1) / 2;
    if (table.begins[middle] <= block) {
      first = middle;
    } else {
      last = middle - 1;
    }
  }
  return first;
}

}  // namespace day53
