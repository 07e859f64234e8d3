// SPDX-License-Identifier: MIT
//
// Arrays: here plain device memory, one row after the other.
#pragma once

#include <memory>
#include <vector>

#include "api/memory.h"
#include "runtime/textures.h"

struct cudaArray {
  cudaChannelFormatDesc format;
  cudaExtent extent;  // as asked for: 0 where there is no such dimension
  unsigned int flags = 0;
  simt::Elements elements;
};

struct cudaMipmappedArray {
  std::vector<std::unique_ptr<cudaArray>> levels;
};

namespace simt {

bool is_array(cudaArray_const_t array);
const cudaMipmappedArray* find_mipmapped(cudaMipmappedArray_const_t array);
// Null and a report where a part leaves its array; x and width in bytes.
bool part_of_array(const char* call, cudaArray_const_t array, size_t x, size_t y, size_t z, size_t width,
                   size_t height, size_t depth, Area* part);
// What a channel holds; false: a format that no texture has here.
bool read_format(const cudaChannelFormatDesc& desc, Format* format, int* channels);
size_t element_bytes(const cudaChannelFormatDesc& desc);

}  // namespace simt
