// SPDX-License-Identifier: MIT
//
// What the memory functions share: what an address is, and areas of memory that a call names.
#pragma once

#include "api/calls.h"

namespace simt {

// The range that an address lies in. One that nobody told us of has no known end.
struct Range {
  const char* base;
  size_t size;
  cudaMemoryType type;
  const char* what;  // for reports: "device memory"
};
Range find_range(const void* pointer);
// A constant of the program, such as text: what device code names by the same word lies in device memory on a
// GPU, and in the program's own here.
bool is_constant(const void* pointer);

inline bool on_device(cudaMemoryType type) {
  return type != cudaMemoryTypeUnregistered;
}
inline bool on_host(cudaMemoryType type) {
  return type != cudaMemoryTypeDevice;
}

// Rows of `width` bytes, `pitch` apart, in slices that are `slice` apart.
struct Area {
  const void* pointer;
  size_t pitch, width, height;
  size_t slice = 0, depth = 1;

  bool empty() const { return width == 0 || height == 0 || depth == 0; }
  size_t extent() const { return empty() ? 0 : slice * (depth - 1) + pitch * (height - 1) + width; }
  char* row(size_t y, size_t z) const {
    return static_cast<char*>(const_cast<void*>(pointer)) + z * slice + y * pitch;
  }
  Touched touched(bool writes) const {
    return {static_cast<const char*>(pointer), width, pitch, height, slice, depth, writes};
  }
};
inline Area line(const void* pointer, size_t bytes) {
  return {pointer, bytes, bytes, 1};
}

// False, and a report, where `area` leaves the allocation that it starts in.
bool inside(const char* call, const char* role, const Area& area, const Range& range);
// The same for an operation that runs now: its memory may have been freed since the call.
bool still_there(const char* call, const char* role, const Area& area);

// Checked builds: whether a kernel of another stream wrote there; and that this operation does.
void check_order(const char* call, const Area& area, bool writes, std::uint64_t number);
void note_written(const Area& to, std::uint64_t number);

enum class When { at_once, in_stream };  // cudaMemcpy() or cudaMemcpyAsync()
cudaError_t copy(const char* call, const Area& to, const Area& from, cudaMemcpyKind kind, When when,
                 cudaStream_t stream);
// Fills an area with elements of 1, 2 or 4 bytes.
cudaError_t fill(const char* call, const Area& area, unsigned value, size_t element, When when,
                 cudaStream_t stream);
// Only checks; the work of a graph's node. Null, and an error, for bad arguments.
cudaError_t make_copy(const char* call, const Area& to, const Area& from, cudaMemcpyKind kind, WorkPtr* work);
cudaError_t make_fill(const char* call, const Area& area, unsigned value, size_t element, WorkPtr* work);
// What cudaMemcpy3D() copies: pitched memory, arrays, offsets.
cudaError_t read_copy(const cudaMemcpy3DParms& parameters, Area* to, Area* from);

cudaError_t allocate_memory(void** pointer, size_t size, MemoryKind kind);
// What cudaFree() would refuse, with its report.
bool may_free(const char* call, void* pointer, bool host);

// Host memory that the program told us of, and device variables; cudaHostUnregister() forgets one.
bool register_host(void* pointer, size_t size, unsigned int flags);
bool unregister_host(void* pointer);

}  // namespace simt
