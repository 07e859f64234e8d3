// SPDX-License-Identifier: MIT
//
// Texture and surface objects: made, asked about, destroyed. How they are read: runtime/textures.cpp.

#include "api/arrays.h"
#include "runtime/operations.h"

namespace simt {
namespace {

TextureShape shape_of(const cudaArray& array) {
  const bool layered = array.flags & cudaArrayLayered;
  if (array.flags & cudaArrayCubemap) return layered ? TextureShape::cubes : TextureShape::cube;
  if (layered) return array.extent.height ? TextureShape::planes : TextureShape::lines;
  if (array.extent.depth) return TextureShape::volume;
  return array.extent.height ? TextureShape::plane : TextureShape::line;
}

// Memory that a texture reads where it lies.
cudaError_t place_memory(const char* call, void* pointer, const cudaChannelFormatDesc& format, size_t width,
                         size_t height, size_t pitch, Texture* t) {
  if (!read_format(format, &t->format, &t->channels)) return cudaErrorInvalidChannelDescriptor;
  Elements e;
  e.data = static_cast<char*>(pointer);
  e.element = element_bytes(format);
  e.width = static_cast<int>(width);
  e.height = static_cast<int>(height);
  e.pitch = pitch;
  t->levels = {e};
  const Range range = find_range(pointer);
  if (!on_device(range.type)) return cudaErrorInvalidValue;
  const Area area{pointer, pitch, width * e.element, height};
  return inside(call, "the texture's memory", area, range) ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t place_resource(const cudaResourceDesc& r, Texture* t) {
  switch (r.resType) {
    case cudaResourceTypeArray:
      if (!is_array(r.res.array.array)) return cudaErrorInvalidResourceHandle;
      t->levels = {r.res.array.array->elements};
      t->shape = shape_of(*r.res.array.array);
      read_format(r.res.array.array->format, &t->format, &t->channels);
      return cudaSuccess;
    case cudaResourceTypeMipmappedArray: {
      const cudaMipmappedArray* const array = find_mipmapped(r.res.mipmap.mipmap);
      if (!array) return cudaErrorInvalidResourceHandle;
      for (const auto& level : array->levels) t->levels.push_back(level->elements);
      t->shape = shape_of(*array->levels[0]);
      read_format(array->levels[0]->format, &t->format, &t->channels);
      return cudaSuccess;
    }
    case cudaResourceTypeLinear: {
      const auto& linear = r.res.linear;
      const size_t element = element_bytes(linear.desc);
      if (!element || linear.sizeInBytes < element || linear.sizeInBytes / element > size_t{1} << 28)
        return cudaErrorInvalidValue;
      t->linear = true;
      return place_memory("cudaCreateTextureObject", linear.devPtr, linear.desc, linear.sizeInBytes / element,
                          1, linear.sizeInBytes, t);
    }
    case cudaResourceTypePitch2D: {
      const auto& p = r.res.pitch2D;
      const size_t row = p.width * element_bytes(p.desc);
      if (!p.width || !p.height || p.width > 131072 || p.height > 65000 || p.pitchInBytes < row ||
          p.pitchInBytes % 32 != 0 || reinterpret_cast<std::uintptr_t>(p.devPtr) % 32 != 0) {
        return cudaErrorInvalidValue;
      }
      t->shape = TextureShape::plane;
      return place_memory("cudaCreateTextureObject", p.devPtr, p.desc, p.width, p.height, p.pitchInBytes, t);
    }
  }
  return cudaErrorInvalidValue;
}

// A view may give an array's elements another format of the same size, and cut levels and layers.
cudaError_t apply_view(const cudaResourceViewDesc& view, Texture* t) {
  if (view.format != cudaResViewFormatNone) {
    static constexpr Format kFormats[] = {Format::u8,  Format::s8,  Format::u16, Format::s16,
                                          Format::u32, Format::s32, Format::f16, Format::f32};
    const int index = view.format - 1;
    if (index < 0 || index >= 24) return cudaErrorInvalidValue;
    t->format = kFormats[index / 3];
    t->channels = 1 << index % 3;
    if (bytes_of(t->format) * static_cast<size_t>(t->channels) != t->levels[0].element)
      return cudaErrorInvalidValue;
  }
  if (view.firstMipmapLevel > view.lastMipmapLevel || view.lastMipmapLevel >= t->levels.size())
    return cudaErrorInvalidValue;
  t->levels = {t->levels.begin() + view.firstMipmapLevel, t->levels.begin() + view.lastMipmapLevel + 1};
  const bool layered = t->shape == TextureShape::lines || t->shape == TextureShape::planes;
  if (layered && (view.firstLayer || view.lastLayer)) {
    if (view.firstLayer > view.lastLayer || view.lastLayer >= static_cast<unsigned>(t->levels[0].depth))
      return cudaErrorInvalidValue;
    for (Elements& e : t->levels) {
      e.data += view.firstLayer * e.slice;
      e.depth = static_cast<int>(view.lastLayer - view.firstLayer + 1);
    }
  }
  return cudaSuccess;
}

// How the description changes what a texel is.
cudaError_t apply_description(const cudaTextureDesc& d, Texture* t) {
  for (const cudaTextureAddressMode mode : d.addressMode)
    if (mode < cudaAddressModeWrap || mode > cudaAddressModeBorder) return cudaErrorInvalidValue;
  if (d.readMode == cudaReadModeNormalizedFloat) {
    switch (t->format) {
      case Format::s8:
        t->format = Format::snorm8;
        break;
      case Format::u8:
        t->format = Format::unorm8;
        break;
      case Format::s16:
        t->format = Format::snorm16;
        break;
      case Format::u16:
        t->format = Format::unorm16;
        break;
      case Format::s32:
      case Format::u32:
        return cudaErrorInvalidNormSetting;
      default:
        break;
    }
  } else if (d.readMode != cudaReadModeElementType) {
    return cudaErrorInvalidValue;
  }
  if (d.filterMode == cudaFilterModeLinear && !gives_float(t->format) && !t->linear)
    return cudaErrorInvalidFilterSetting;
  if (t->levels.size() > 1 && !d.normalizedCoords) return cudaErrorInvalidValue;
  return cudaSuccess;
}

}  // namespace
}  // namespace simt

using simt::result;

extern "C" {

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* texture, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* description, const cudaResourceViewDesc* view) {
  if (const cudaError_t before = result(cudaSuccess)) return before;
  if (!texture || !resource || !description) return result(cudaErrorInvalidValue);
  simt::Texture t{};
  t.resource = *resource;
  t.description = *description;
  cudaError_t error = simt::place_resource(*resource, &t);
  if (!error && view) {
    t.view = *view;
    error = simt::apply_view(*view, &t);
  }
  if (!error) error = simt::apply_description(*description, &t);
  if (!error) *texture = simt::add_texture(t);
  return result(error);
}
// Kernels that are still queued read their textures and surfaces first: on a GPU they would have started by
// now, and programs destroy the objects right after the launch.
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture) {
  simt::finish_everything();
  return result(texture == 0 || simt::remove_texture(texture) ? cudaSuccess : cudaErrorInvalidValue);
}
cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* resource, cudaTextureObject_t texture) {
  const simt::Texture* const found = simt::find_texture(texture);
  if (!resource || !found) return result(cudaErrorInvalidValue);
  *resource = found->resource;
  return result(cudaSuccess);
}
cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* description, cudaTextureObject_t texture) {
  const simt::Texture* const found = simt::find_texture(texture);
  if (!description || !found) return result(cudaErrorInvalidValue);
  *description = found->description;
  return result(cudaSuccess);
}
cudaError_t cudaGetTextureObjectResourceViewDesc(cudaResourceViewDesc* view, cudaTextureObject_t texture) {
  const simt::Texture* const found = simt::find_texture(texture);
  if (!view || !found) return result(cudaErrorInvalidValue);
  *view = found->view;
  return result(cudaSuccess);
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* surface, const cudaResourceDesc* resource) {
  if (const cudaError_t before = result(cudaSuccess)) return before;
  if (!surface || !resource || resource->resType != cudaResourceTypeArray)
    return result(cudaErrorInvalidValue);
  const cudaArray_t array = resource->res.array.array;
  if (!simt::is_array(array)) return result(cudaErrorInvalidResourceHandle);
  if (!(array->flags & cudaArraySurfaceLoadStore)) return result(cudaErrorInvalidValue);
  *surface = simt::add_surface({*resource, array->elements});
  return result(cudaSuccess);
}
cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surface) {
  simt::finish_everything();
  return result(surface == 0 || simt::remove_surface(surface) ? cudaSuccess : cudaErrorInvalidValue);
}
cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* resource, cudaSurfaceObject_t surface) {
  const simt::Surface* const found = simt::find_surface(surface);
  if (!resource || !found) return result(cudaErrorInvalidValue);
  *resource = found->resource;
  return result(cudaSuccess);
}
cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(size_t* width, const cudaChannelFormatDesc* format,
                                                 int device) {
  if (!width || !format) return result(cudaErrorInvalidValue);
  if (device != 0) return result(cudaErrorInvalidDevice);
  *width = size_t{1} << 28;
  return result(cudaSuccess);
}

}  // extern "C"
