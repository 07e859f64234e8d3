// SPDX-License-Identifier: MIT
//
// Copies to and from arrays, and what cudaMemcpy3D() copies. Offsets and widths count bytes, but in
// cudaMemcpy3D() elements once an array takes part.

#include "api/arrays.h"

namespace simt {
namespace {

Area pitched(const cudaPitchedPtr& p, const cudaPos& at, size_t width, const cudaExtent& extent) {
  const char* const first = static_cast<const char*>(p.ptr);
  return {first + (at.z * p.ysize + at.y) * p.pitch + at.x,
          p.pitch,
          width,
          extent.height,
          p.ysize * p.pitch,
          extent.depth};
}

// One side of a three-dimensional copy.
cudaError_t side(cudaArray_const_t array, const cudaPitchedPtr& p, const cudaPos& at, size_t width,
                 const cudaExtent& extent, Area* area) {
  if (!array == !p.ptr) return result(cudaErrorInvalidValue);  // one of them, not both
  if (!array) {
    *area = pitched(p, at, width, extent);
    return cudaSuccess;
  }
  if (!is_array(array)) return result(cudaErrorInvalidResourceHandle);
  const bool inside = part_of_array("cudaMemcpy3D", array, at.x * array->elements.element, at.y, at.z, width,
                                    extent.height, extent.depth, area);
  return inside ? cudaSuccess : result(cudaErrorInvalidValue);
}

// The rows of a two-dimensional copy; `count` bytes that run on from row to row count as one row of their
// own.
cudaError_t rows_of(const char* call, cudaArray_const_t array, size_t x, size_t y, size_t width,
                    size_t height, Area* area) {
  if (!is_array(array)) return result(cudaErrorInvalidResourceHandle);
  return part_of_array(call, array, x, y, 0, width, height, 1, area) ? cudaSuccess
                                                                     : result(cudaErrorInvalidValue);
}
cudaError_t run_of(const char* call, cudaArray_const_t array, size_t x, size_t y, size_t count, Area* area) {
  if (!is_array(array)) return result(cudaErrorInvalidResourceHandle);
  const Elements& e = array->elements;
  const size_t start = y * e.pitch + x;
  if (x >= e.pitch || start > e.slice || count > e.slice - start) {
    report_host("simt-memcpy",
                "%s: %zu bytes from byte %zu of row %zu on leave the array of %zu x %d (bytes)", call, count,
                x, y, e.pitch, e.height);
    return result(cudaErrorInvalidValue);
  }
  *area = line(e.data + start, count);
  return cudaSuccess;
}

cudaError_t copy_rows(const char* call, cudaArray_t to, size_t x, size_t y, const void* from, size_t pitch,
                      size_t width, size_t height, cudaMemcpyKind kind, When when, cudaStream_t stream) {
  Area area{};
  if (const cudaError_t error = rows_of(call, to, x, y, width, height, &area)) return error;
  return copy(call, area, Area{from, pitch, width, height}, kind, when, stream);
}
cudaError_t copy_rows_back(const char* call, void* to, size_t pitch, cudaArray_const_t from, size_t x,
                           size_t y, size_t width, size_t height, cudaMemcpyKind kind, When when,
                           cudaStream_t stream) {
  Area area{};
  if (const cudaError_t error = rows_of(call, from, x, y, width, height, &area)) return error;
  return copy(call, Area{to, pitch, width, height}, area, kind, when, stream);
}
cudaError_t copy_run(const char* call, cudaArray_t to, size_t x, size_t y, const void* from, size_t count,
                     cudaMemcpyKind kind, When when, cudaStream_t stream) {
  Area area{};
  if (const cudaError_t error = run_of(call, to, x, y, count, &area)) return error;
  return copy(call, area, line(from, count), kind, when, stream);
}
cudaError_t copy_run_back(const char* call, void* to, cudaArray_const_t from, size_t x, size_t y,
                          size_t count, cudaMemcpyKind kind, When when, cudaStream_t stream) {
  Area area{};
  if (const cudaError_t error = run_of(call, from, x, y, count, &area)) return error;
  return copy(call, line(to, count), area, kind, when, stream);
}

}  // namespace

cudaError_t read_copy(const cudaMemcpy3DParms& p, Area* to, Area* from) {
  size_t element = 1;
  for (const cudaArray_const_t array : {p.srcArray, p.dstArray}) {
    if (!array) continue;
    if (!is_array(array)) return result(cudaErrorInvalidResourceHandle);
    if (element != 1 && element != array->elements.element) return result(cudaErrorInvalidValue);
    element = array->elements.element;
  }
  const size_t width = p.extent.width * element;
  if (const cudaError_t error = side(p.dstArray, p.dstPtr, p.dstPos, width, p.extent, to)) return error;
  return side(p.srcArray, p.srcPtr, p.srcPos, width, p.extent, from);
}

}  // namespace simt

using simt::Area;
using simt::When;

extern "C" {

cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t pitch,
                                size_t width, size_t height, cudaMemcpyKind kind) {
  return simt::copy_rows("cudaMemcpy2DToArray", to, x, y, from, pitch, width, height, kind, When::at_once,
                         nullptr);
}
cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void* from, size_t pitch,
                                     size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return simt::copy_rows("cudaMemcpy2DToArrayAsync", to, x, y, from, pitch, width, height, kind,
                         When::in_stream, stream);
}
cudaError_t cudaMemcpy2DFromArray(void* to, size_t pitch, cudaArray_const_t from, size_t x, size_t y,
                                  size_t width, size_t height, cudaMemcpyKind kind) {
  return simt::copy_rows_back("cudaMemcpy2DFromArray", to, pitch, from, x, y, width, height, kind,
                              When::at_once, nullptr);
}
cudaError_t cudaMemcpy2DFromArrayAsync(void* to, size_t pitch, cudaArray_const_t from, size_t x, size_t y,
                                       size_t width, size_t height, cudaMemcpyKind kind,
                                       cudaStream_t stream) {
  return simt::copy_rows_back("cudaMemcpy2DFromArrayAsync", to, pitch, from, x, y, width, height, kind,
                              When::in_stream, stream);
}
cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t count,
                              cudaMemcpyKind kind) {
  return simt::copy_run("cudaMemcpyToArray", to, x, y, from, count, kind, When::at_once, nullptr);
}
cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, size_t x, size_t y, const void* from, size_t count,
                                   cudaMemcpyKind kind, cudaStream_t stream) {
  return simt::copy_run("cudaMemcpyToArrayAsync", to, x, y, from, count, kind, When::in_stream, stream);
}
cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, size_t x, size_t y, size_t count,
                                cudaMemcpyKind kind) {
  return simt::copy_run_back("cudaMemcpyFromArray", to, from, x, y, count, kind, When::at_once, nullptr);
}
cudaError_t cudaMemcpyFromArrayAsync(void* to, cudaArray_const_t from, size_t x, size_t y, size_t count,
                                     cudaMemcpyKind kind, cudaStream_t stream) {
  return simt::copy_run_back("cudaMemcpyFromArrayAsync", to, from, x, y, count, kind, When::in_stream,
                             stream);
}
cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from,
                                     size_t from_x, size_t from_y, size_t width, size_t height,
                                     cudaMemcpyKind kind) {
  const char* const call = "cudaMemcpy2DArrayToArray";
  Area area{};
  if (const cudaError_t error = simt::rows_of(call, from, from_x, from_y, width, height, &area)) return error;
  return simt::copy_rows(call, to, to_x, to_y, area.pointer, area.pitch, width, height, kind, When::at_once,
                         nullptr);
}
cudaError_t cudaMemcpyArrayToArray(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from,
                                   size_t from_x, size_t from_y, size_t count, cudaMemcpyKind kind) {
  const char* const call = "cudaMemcpyArrayToArray";
  Area area{};
  if (const cudaError_t error = simt::run_of(call, from, from_x, from_y, count, &area)) return error;
  return simt::copy_run(call, to, to_x, to_y, area.pointer, count, kind, When::at_once, nullptr);
}

}  // extern "C"
