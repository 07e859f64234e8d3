// SPDX-License-Identifier: MIT
//
// cudaMemset and its relatives: they do not wait, unless the host could see the memory.

#include <cstring>

#include "api/memory.h"

namespace simt {
namespace {

class FillWork : public Work {
 public:
  FillWork(const char* call, const Area& area, unsigned value, size_t element)
      : Work(call), area_(area), value_(value), element_(element) {
    touched = {area.touched(true)};
  }
  void describe(Described* what) const override {
    *what = {"fill", call, area_.width * area_.height * area_.depth, false};
  }
  void run(std::uint64_t number) override {
    if (!still_there(call, "the range", area_)) return;
    check_order(call, area_, true, number);
    note_written(area_, number);
    for (size_t z = 0; z < area_.depth; ++z)
      for (size_t y = 0; y < area_.height; ++y) fill_row(area_.row(y, z));
  }

 private:
  void fill_row(char* row) const {
    if (element_ == 1) {
      std::memset(row, static_cast<int>(value_), area_.width);
      return;
    }
    for (size_t x = 0; x + element_ <= area_.width; x += element_) std::memcpy(row + x, &value_, element_);
  }

  const Area area_;
  const unsigned value_;
  const size_t element_;
};

}  // namespace

cudaError_t make_fill(const char* call, const Area& area, unsigned value, size_t element, WorkPtr* work) {
  if (const cudaError_t before = result(cudaSuccess)) return before;
  if (area.empty()) return cudaSuccess;
  if (area.height > 1 && area.pitch < area.width) return result(cudaErrorInvalidPitchValue);
  if (!area.pointer) return result(cudaErrorInvalidValue);
  const Range range = find_range(area.pointer);
  if (!on_device(range.type)) {
    if (inside(call, "the range", area, range))
      report_host("simt-memcpy", "%s: %p is host memory", call, area.pointer);
    return result(cudaErrorInvalidValue);
  }
  if (!inside(call, "the range", area, range)) return result(cudaErrorInvalidValue);
  *work = std::make_shared<FillWork>(call, area, value, element);
  return cudaSuccess;
}

cudaError_t fill(const char* call, const Area& area, unsigned value, size_t element, When when,
                 cudaStream_t stream) {
  if (!is_stream(stream)) return result(cudaErrorInvalidResourceHandle);
  WorkPtr work;
  if (const cudaError_t error = make_fill(call, area, value, element, &work)) return error;
  if (!work) return cudaSuccess;
  OperationPtr issued;
  if (const cudaError_t refused = submitted(stream, std::move(work), &issued)) return refused;
  const bool waits = when == When::at_once && find_range(area.pointer).type != cudaMemoryTypeDevice;
  return waits && issued ? waited(finish(issued)) : cudaSuccess;
}

cudaError_t fill_elements(const char* call, void* pointer, unsigned value, size_t element, size_t count,
                          bool in_stream, cudaStream_t stream) {
  return fill(call, line(pointer, count * element), value, element,
              in_stream ? When::in_stream : When::at_once, stream);
}

}  // namespace simt

using simt::Area;
using simt::fill;
using simt::result;
using simt::When;

namespace {
unsigned byte(int value) {
  return static_cast<unsigned char>(value);
}
Area box(const cudaPitchedPtr& p, const cudaExtent& extent) {
  return {p.ptr, p.pitch, extent.width, extent.height, p.pitch * p.ysize, extent.depth};
}
}  // namespace

extern "C" {

cudaError_t cudaMemset(void* pointer, int value, size_t count) {
  return fill("cudaMemset", simt::line(pointer, count), byte(value), 1, When::at_once, nullptr);
}
cudaError_t cudaMemsetAsync(void* pointer, int value, size_t count, cudaStream_t stream) {
  return fill("cudaMemsetAsync", simt::line(pointer, count), byte(value), 1, When::in_stream, stream);
}
cudaError_t cudaMemset2D(void* pointer, size_t pitch, int value, size_t width, size_t height) {
  return fill("cudaMemset2D", Area{pointer, pitch, width, height}, byte(value), 1, When::at_once, nullptr);
}
cudaError_t cudaMemset2DAsync(void* pointer, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream) {
  return fill("cudaMemset2DAsync", Area{pointer, pitch, width, height}, byte(value), 1, When::in_stream,
              stream);
}
cudaError_t cudaMemset3D(cudaPitchedPtr pointer, int value, cudaExtent extent) {
  return fill("cudaMemset3D", box(pointer, extent), byte(value), 1, When::at_once, nullptr);
}
cudaError_t cudaMemset3DAsync(cudaPitchedPtr pointer, int value, cudaExtent extent, cudaStream_t stream) {
  return fill("cudaMemset3DAsync", box(pointer, extent), byte(value), 1, When::in_stream, stream);
}

}  // extern "C"
