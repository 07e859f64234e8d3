// SPDX-License-Identifier: MIT
//
// tex1D() and its family. The runtime finds the texel (runtime/textures.cpp); here it becomes the type that
// was asked for, as the hardware's registers would: floats by their bits, integers cut to their size.
#ifndef __TEXTURE_INDIRECT_FUNCTIONS_H__
#define __TEXTURE_INDIRECT_FUNCTIONS_H__

#include "channel_descriptor.h"
#include "texture_types.h"

namespace simt {

// A texel as the hardware gives it: 32 bits a channel.
struct Texel {
  std::uint32_t bits[4];
};
enum class TextureShape : std::uint8_t { line, plane, volume, lines, planes, cube, cubes };
// Reads at a place; `layer` of the layered shapes. `level`: of a mipmap.
Texel sample_texture(cudaTextureObject_t texture, TextureShape shape, float x, float y, float z, int layer,
                     float level);
Texel fetch_texture(cudaTextureObject_t texture, int x);
Texel gather_texture(cudaTextureObject_t texture, float x, float y, int component);
// The level that a pixel of this size in the texture asks for.
float level_of(cudaTextureObject_t texture, const float* dx, const float* dy, int dimensions);

template <class C>
inline C channel_of(std::uint32_t bits) {
  if constexpr (std::is_same_v<C, float>) {
    return __builtin_bit_cast(float, bits);
  } else {
    return static_cast<C>(bits);
  }
}
template <class T>
inline T texel_as(const Texel& texel) {
  using Channel = typename Channels<T>::Type;
  static_assert(sizeof(Channel) <= 4, "a texture gives channels of at most 32 bits");
  if constexpr (std::is_arithmetic_v<T>) {
    return channel_of<T>(texel.bits[0]);
  } else {
    T value{};
    value.x = channel_of<Channel>(texel.bits[0]);
    if constexpr (Channels<T>::kCount > 1) value.y = channel_of<Channel>(texel.bits[1]);
    if constexpr (Channels<T>::kCount > 2) value.z = channel_of<Channel>(texel.bits[2]);
    if constexpr (Channels<T>::kCount > 3) value.w = channel_of<Channel>(texel.bits[3]);
    return value;
  }
}

}  // namespace simt

template <class T>
inline T tex1Dfetch(cudaTextureObject_t texture, int x) {
  return simt::texel_as<T>(simt::fetch_texture(texture, x));
}
template <class T>
inline T tex2Dgather(cudaTextureObject_t texture, float x, float y, int component = 0) {
  return simt::texel_as<T>(simt::gather_texture(texture, x, y, component));
}

// name(texture, coordinates) and name##Lod(texture, coordinates, level), which also write to a pointer; the
// coordinates as parameters and as arguments.
#define SIMT_TEXTURE(name, shape, parameters, ...)                                                          \
  template <class T>                                                                                        \
  inline T name(cudaTextureObject_t texture, SIMT_UNPACK parameters) {                                      \
    return simt::texel_as<T>(simt::sample_texture(texture, simt::TextureShape::shape, __VA_ARGS__, 0));     \
  }                                                                                                         \
  template <class T>                                                                                        \
  inline void name(T* value, cudaTextureObject_t texture, SIMT_UNPACK parameters) {                         \
    *value = simt::texel_as<T>(simt::sample_texture(texture, simt::TextureShape::shape, __VA_ARGS__, 0));   \
  }                                                                                                         \
  template <class T>                                                                                        \
  inline T name##Lod(cudaTextureObject_t texture, SIMT_UNPACK parameters, float level) {                    \
    return simt::texel_as<T>(simt::sample_texture(texture, simt::TextureShape::shape, __VA_ARGS__, level)); \
  }                                                                                                         \
  template <class T>                                                                                        \
  inline void name##Lod(T* value, cudaTextureObject_t texture, SIMT_UNPACK parameters, float level) {       \
    *value =                                                                                                \
        simt::texel_as<T>(simt::sample_texture(texture, simt::TextureShape::shape, __VA_ARGS__, level));    \
  }
#define SIMT_UNPACK(...) __VA_ARGS__
SIMT_TEXTURE(tex1D, line, (float x), x, 0, 0, 0)
SIMT_TEXTURE(tex2D, plane, (float x, float y), x, y, 0, 0)
SIMT_TEXTURE(tex3D, volume, (float x, float y, float z), x, y, z, 0)
SIMT_TEXTURE(tex1DLayered, lines, (float x, int layer), x, 0, 0, layer)
SIMT_TEXTURE(tex2DLayered, planes, (float x, float y, int layer), x, y, 0, layer)
SIMT_TEXTURE(texCubemap, cube, (float x, float y, float z), x, y, z, 0)
SIMT_TEXTURE(texCubemapLayered, cubes, (float x, float y, float z, int layer), x, y, z, layer)
#undef SIMT_UNPACK
#undef SIMT_TEXTURE

template <class T>
inline T tex1DGrad(cudaTextureObject_t texture, float x, float dx, float dy) {
  return tex1DLod<T>(texture, x, simt::level_of(texture, &dx, &dy, 1));
}
template <class T>
inline T tex2DGrad(cudaTextureObject_t texture, float x, float y, float2 dx, float2 dy) {
  const float a[] = {dx.x, dx.y}, b[] = {dy.x, dy.y};
  return tex2DLod<T>(texture, x, y, simt::level_of(texture, a, b, 2));
}
template <class T>
inline T tex3DGrad(cudaTextureObject_t texture, float x, float y, float z, float4 dx, float4 dy) {
  const float a[] = {dx.x, dx.y, dx.z}, b[] = {dy.x, dy.y, dy.z};
  return tex3DLod<T>(texture, x, y, z, simt::level_of(texture, a, b, 3));
}
template <class T>
inline T tex2DLayeredGrad(cudaTextureObject_t texture, float x, float y, int layer, float2 dx, float2 dy) {
  const float a[] = {dx.x, dx.y}, b[] = {dy.x, dy.y};
  return tex2DLayeredLod<T>(texture, x, y, layer, simt::level_of(texture, a, b, 2));
}

#endif
