// SPDX-License-Identifier: MIT
//
// surf2Dread(), surf2Dwrite() and their family: x counts bytes. Accesses outside end the launch, or with
// another boundary mode go to the edge, read zero and write nothing.
#ifndef __SURFACE_INDIRECT_FUNCTIONS_H__
#define __SURFACE_INDIRECT_FUNCTIONS_H__

#include <cstddef>

#include "surface_types.h"

namespace simt {
// `z` is the slice, layer or face. Null: outside, and the mode lets that pass.
void* surface_element(cudaSurfaceObject_t surface, int x, int y, int z, std::size_t bytes,
                      cudaSurfaceBoundaryMode mode);
template <class T>
inline T read_surface(cudaSurfaceObject_t surface, int x, int y, int z, cudaSurfaceBoundaryMode mode) {
  T value{};
  if (const void* const at = surface_element(surface, x, y, z, sizeof(T), mode))
    __builtin_memcpy(&value, at, sizeof(T));
  return value;
}
template <class T>
inline void write_surface(const T& value, cudaSurfaceObject_t surface, int x, int y, int z,
                          cudaSurfaceBoundaryMode mode) {
  if (void* const at = surface_element(surface, x, y, z, sizeof(T), mode))
    __builtin_memcpy(at, &value, sizeof(T));
}
}  // namespace simt

#define SIMT_SURFACE(name, parameters, ...)                                             \
  template <class T>                                                                    \
  inline T name##read(cudaSurfaceObject_t surface, SIMT_UNPACK parameters,              \
                      cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {            \
    return simt::read_surface<T>(surface, __VA_ARGS__, mode);                           \
  }                                                                                     \
  template <class T>                                                                    \
  inline void name##read(T* value, cudaSurfaceObject_t surface, SIMT_UNPACK parameters, \
                         cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {         \
    *value = simt::read_surface<T>(surface, __VA_ARGS__, mode);                         \
  }                                                                                     \
  template <class T>                                                                    \
  inline void name##write(T value, cudaSurfaceObject_t surface, SIMT_UNPACK parameters, \
                          cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {        \
    simt::write_surface(value, surface, __VA_ARGS__, mode);                             \
  }
#define SIMT_UNPACK(...) __VA_ARGS__
SIMT_SURFACE(surf1D, (int x), x, 0, 0)
SIMT_SURFACE(surf2D, (int x, int y), x, y, 0)
SIMT_SURFACE(surf3D, (int x, int y, int z), x, y, z)
SIMT_SURFACE(surf1DLayered, (int x, int layer), x, 0, layer)
SIMT_SURFACE(surf2DLayered, (int x, int y, int layer), x, y, layer)
SIMT_SURFACE(surfCubemap, (int x, int y, int face), x, y, face)
SIMT_SURFACE(surfCubemapLayered, (int x, int y, int layer_face), x, y, layer_face)
#undef SIMT_UNPACK
#undef SIMT_SURFACE

#endif
