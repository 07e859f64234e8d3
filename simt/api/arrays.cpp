// SPDX-License-Identifier: MIT
//
// cudaMallocArray and its family.

#include "api/arrays.h"
#include "runtime/operations.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

namespace simt {
namespace {

std::mutex arrays_lock;
std::unordered_set<const cudaArray*>& arrays() {  // levels of mipmaps too
  static auto* const set = new std::unordered_set<const cudaArray*>;
  return *set;
}
std::unordered_map<const cudaMipmappedArray*, std::unique_ptr<cudaMipmappedArray>>& mipmapped() {
  static auto* const map =
      new std::unordered_map<const cudaMipmappedArray*, std::unique_ptr<cudaMipmappedArray>>;
  return *map;
}

constexpr unsigned int kKnownFlags = cudaArrayLayered | cudaArraySurfaceLoadStore | cudaArrayCubemap |
                                     cudaArrayTextureGather | cudaArrayColorAttachment;

// What CUDA refuses; success for a shape that exists.
cudaError_t check_shape(const cudaChannelFormatDesc* format, const cudaExtent& e, unsigned int flags) {
  Format channel;
  int channels;
  if (!format || (flags & ~kKnownFlags) || e.width == 0) return cudaErrorInvalidValue;
  if (!read_format(*format, &channel, &channels)) return cudaErrorInvalidChannelDescriptor;
  const bool layered = flags & cudaArrayLayered;
  if (flags & cudaArrayCubemap) {
    const bool faces = layered ? e.depth % 6 == 0 && e.depth != 0 : e.depth == 6;
    if (!faces || e.width != e.height) return cudaErrorInvalidValue;
  } else if (layered) {
    if (e.depth == 0) return cudaErrorInvalidValue;
  } else if (e.depth != 0 && e.height == 0) {
    return cudaErrorInvalidValue;
  }
  const bool volume = e.depth != 0 && !layered && !(flags & cudaArrayCubemap);
  const size_t widest = volume ? 16384 : 131072, deepest = layered ? 2048 : 16384;
  if (e.width > widest || e.height > (volume ? 16384u : 65536u) || e.depth > deepest)
    return cudaErrorInvalidValue;
  return cudaSuccess;
}

cudaError_t make_array(const cudaChannelFormatDesc& format, const cudaExtent& extent, unsigned int flags,
                       std::unique_ptr<cudaArray>* made) {
  auto array = std::make_unique<cudaArray>();
  array->format = format;
  array->extent = extent;
  array->flags = flags;
  Elements& e = array->elements;
  e.element = element_bytes(format);
  e.width = static_cast<int>(extent.width);
  e.height = std::max(1, static_cast<int>(extent.height));
  e.depth = std::max(1, static_cast<int>(extent.depth));
  e.pitch = e.element * extent.width;
  e.slice = e.pitch * static_cast<size_t>(e.height);
  void* data = nullptr;
  if (const cudaError_t error =
          allocate_memory(&data, e.slice * static_cast<size_t>(e.depth), MemoryKind::device)) {
    return error;
  }
  e.data = static_cast<char*>(data);
  *made = std::move(array);
  return cudaSuccess;
}

}  // namespace

bool is_array(cudaArray_const_t array) {
  const std::lock_guard<std::mutex> guard(arrays_lock);
  return arrays().count(array) != 0;
}

const cudaMipmappedArray* find_mipmapped(cudaMipmappedArray_const_t array) {
  const std::lock_guard<std::mutex> guard(arrays_lock);
  const auto found = mipmapped().find(array);
  return found == mipmapped().end() ? nullptr : found->second.get();
}

size_t element_bytes(const cudaChannelFormatDesc& d) {
  return static_cast<size_t>(d.x + d.y + d.z + d.w) / 8;
}

bool read_format(const cudaChannelFormatDesc& d, Format* format, int* channels) {
  *channels = d.w ? 4 : d.z ? 3 : d.y ? 2 : 1;
  if (*channels == 3 || (d.y && d.y != d.x) || (d.z && d.z != d.x) || (d.w && d.w != d.x)) return false;
  const int kind = d.f;
  if (kind >= cudaChannelFormatKindUnsignedNormalized8X1 &&
      kind <= cudaChannelFormatKindSignedNormalized16X4) {
    static constexpr Format kFormats[] = {Format::unorm8, Format::unorm16, Format::snorm8, Format::snorm16};
    *format = kFormats[(kind - cudaChannelFormatKindUnsignedNormalized8X1) / 3];
    return d.x == static_cast<int>(bytes_of(*format) * 8);
  }
  const bool is_signed = kind == cudaChannelFormatKindSigned;
  switch (kind) {
    case cudaChannelFormatKindFloat:
      *format = d.x == 16 ? Format::f16 : Format::f32;
      return d.x == 16 || d.x == 32;
    case cudaChannelFormatKindSigned:
    case cudaChannelFormatKindUnsigned:
      *format = d.x == 8    ? is_signed ? Format::s8 : Format::u8
                : d.x == 16 ? is_signed ? Format::s16 : Format::u16
                : is_signed ? Format::s32
                            : Format::u32;
      return d.x == 8 || d.x == 16 || d.x == 32;
    default:
      return false;
  }
}

bool part_of_array(const char* call, cudaArray_const_t array, size_t x, size_t y, size_t z, size_t width,
                   size_t height, size_t depth, Area* part) {
  const Elements& e = array->elements;
  const auto fits = [](size_t at, size_t n, size_t most) { return at <= most && n <= most - at; };
  *part = Area{e.data + z * e.slice + y * e.pitch + x, e.pitch, width, height, e.slice, depth};
  if (fits(x, width, e.pitch) && fits(y, height, static_cast<size_t>(e.height)) &&
      fits(z, depth, static_cast<size_t>(e.depth))) {
    return true;
  }
  report_host("simt-memcpy",
              "%s: %zu x %zu x %zu from (%zu,%zu,%zu) on leave the array of %zu x %d x %d (widths in bytes)",
              call, width, height, depth, x, y, z, e.pitch, e.height, e.depth);
  return false;
}

}  // namespace simt

using simt::result;

extern "C" {

cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}

cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* format, cudaExtent extent,
                              unsigned int flags) {
  if (!array) return result(cudaErrorInvalidValue);
  if (const cudaError_t error = simt::check_shape(format, extent, flags)) return result(error);
  std::unique_ptr<cudaArray> made;
  if (const cudaError_t error = simt::make_array(*format, extent, flags, &made)) return error;
  const std::lock_guard<std::mutex> guard(simt::arrays_lock);
  *array = made.release();
  simt::arrays().insert(*array);
  return cudaSuccess;
}
cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* format, size_t width,
                            size_t height, unsigned int flags) {
  return cudaMalloc3DArray(array, format, cudaExtent{width, height, 0}, flags);
}
cudaError_t cudaFreeArray(cudaArray_t array) {
  if (!array) return result(cudaSuccess);
  if (!simt::finish_everything()) return result(cudaErrorNotPermitted);
  const std::lock_guard<std::mutex> guard(simt::arrays_lock);
  if (!simt::arrays().erase(array)) return result(cudaErrorContextIsDestroyed);
  simt::release(array->elements.data);
  delete array;
  return result(cudaSuccess);
}

cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t* array, const cudaChannelFormatDesc* format,
                                     cudaExtent extent, unsigned int levels, unsigned int flags) {
  if (!array || levels == 0) return result(cudaErrorInvalidValue);
  if (const cudaError_t error = simt::check_shape(format, extent, flags)) return result(error);
  const bool volume = extent.depth != 0 && !(flags & (cudaArrayLayered | cudaArrayCubemap));
  const size_t longest = std::max({extent.width, extent.height, volume ? extent.depth : 0});
  unsigned int most = 1;
  while (longest >> most) ++most;
  auto made = std::make_unique<cudaMipmappedArray>();
  for (unsigned int i = 0; i < std::min(levels, most); ++i) {
    const auto half = [i](size_t n) { return n ? std::max<size_t>(1, n >> i) : 0; };
    const cudaExtent smaller{half(extent.width), half(extent.height),
                             volume ? half(extent.depth) : extent.depth};
    made->levels.emplace_back();
    if (const cudaError_t error = simt::make_array(*format, smaller, flags, &made->levels.back())) {
      made->levels.pop_back();
      for (const auto& level : made->levels) simt::release(level->elements.data);
      return error;
    }
  }
  *array = made.get();
  const std::lock_guard<std::mutex> guard(simt::arrays_lock);
  for (const auto& level : made->levels) simt::arrays().insert(level.get());
  simt::mipmapped()[*array] = std::move(made);
  return cudaSuccess;
}
cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t* level, cudaMipmappedArray_const_t array,
                                       unsigned int number) {
  const cudaMipmappedArray* const found = simt::find_mipmapped(array);
  if (!level || !found || number >= found->levels.size()) return result(cudaErrorInvalidValue);
  *level = found->levels[number].get();
  return result(cudaSuccess);
}
cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t array) {
  if (!array) return result(cudaSuccess);
  if (!simt::finish_everything()) return result(cudaErrorNotPermitted);
  const std::lock_guard<std::mutex> guard(simt::arrays_lock);
  const auto found = simt::mipmapped().find(array);
  if (found == simt::mipmapped().end()) return result(cudaErrorContextIsDestroyed);
  for (const auto& level : found->second->levels) {
    simt::arrays().erase(level.get());
    simt::release(level->elements.data);
  }
  simt::mipmapped().erase(found);
  return result(cudaSuccess);
}

cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* format, cudaExtent* extent, unsigned int* flags,
                             cudaArray_t array) {
  if (!simt::is_array(array)) return result(cudaErrorInvalidResourceHandle);
  if (format) *format = array->format;
  if (extent) *extent = array->extent;
  if (flags) *flags = array->flags;
  return result(cudaSuccess);
}
cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* format, cudaArray_const_t array) {
  if (!format) return result(cudaErrorInvalidValue);
  if (!simt::is_array(array)) return result(cudaErrorInvalidResourceHandle);
  *format = array->format;
  return result(cudaSuccess);
}
cudaError_t cudaArrayGetMemoryRequirements(cudaArrayMemoryRequirements* requirements, cudaArray_t array,
                                           int device) {
  if (!requirements) return result(cudaErrorInvalidValue);
  if (device != 0) return result(cudaErrorInvalidDevice);
  if (!simt::is_array(array)) return result(cudaErrorInvalidResourceHandle);
  *requirements = cudaArrayMemoryRequirements{};
  requirements->size = array->elements.slice * static_cast<size_t>(array->elements.depth);
  requirements->alignment = 256;
  return result(cudaSuccess);
}

}  // extern "C"
