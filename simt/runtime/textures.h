// SPDX-License-Identifier: MIT
//
// Textures and surfaces as kernels read them. The API makes these objects (api/texture_calls.cpp); a handle is a
// place in a table, so an invented or destroyed one is noticed at the access.
#pragma once

#include <cstdint>
#include <vector>

#include "surface_types.h"
#include "texture_indirect_functions.h"
#include "texture_types.h"
#include "user_view.h"

namespace simt {

// How a channel's bits become a register.
enum class Format : std::uint8_t { s8, u8, s16, u16, s32, u32, f16, f32, snorm8, unorm8, snorm16, unorm16 };
inline std::size_t bytes_of(Format format) {
  switch (format) {
    case Format::s8:
    case Format::u8:
    case Format::snorm8:
    case Format::unorm8:
      return 1;
    case Format::s32:
    case Format::u32:
    case Format::f32:
      return 4;
    default:
      return 2;
  }
}
// Whether filtering makes sense: what comes out is a float.
inline bool gives_float(Format format) {
  return format >= Format::f16;
}

// Elements in memory; depth counts slices, layers or faces.
struct Elements {
  char* data = nullptr;
  std::size_t pitch = 0, slice = 0;
  std::size_t element = 0;  // bytes
  int width = 1, height = 1, depth = 1;
};

struct Texture {
  cudaResourceDesc resource;
  cudaTextureDesc description;
  cudaResourceViewDesc view;
  std::vector<Elements> levels;
  Format format;
  int channels;
  TextureShape shape;
  bool linear;  // memory that only tex1Dfetch() reads
};

struct Surface {
  cudaResourceDesc resource;
  Elements elements;
};

std::uint64_t add_texture(const Texture& texture);
std::uint64_t add_surface(const Surface& surface);
const Texture* find_texture(std::uint64_t handle);  // null: none such
const Surface* find_surface(std::uint64_t handle);
bool remove_texture(std::uint64_t handle);
bool remove_surface(std::uint64_t handle);

}  // namespace simt
