// SPDX-License-Identifier: MIT
//
// Copies: checked at the call, done in their stream. Which calls wait, and whose host memory is read at once,
// follows "API synchronization behavior" in CUDA's runtime API manual.

#include <cstring>

#include "api/host_objects.h"
#include "api/memory.h"
#include "runtime/device_memory.h"
#include "runtime/host_tables.h"
#include "runtime/variables.h"

namespace simt {
namespace {

const char* kind_name(cudaMemcpyKind kind) {
  switch (kind) {
    case cudaMemcpyHostToHost:
      return "cudaMemcpyHostToHost";
    case cudaMemcpyHostToDevice:
      return "cudaMemcpyHostToDevice";
    case cudaMemcpyDeviceToHost:
      return "cudaMemcpyDeviceToHost";
    case cudaMemcpyDeviceToDevice:
      return "cudaMemcpyDeviceToDevice";
    case cudaMemcpyDefault:
      return "cudaMemcpyDefault";
  }
  return "?";
}

bool fits_kind(const char* call, cudaMemcpyKind kind, const Range& to, const Range& from) {
  if (kind == cudaMemcpyDefault) return true;
  const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool from_fits = from_device ? on_device(from.type) || is_constant(from.base) : on_host(from.type);
  const bool to_fits = to_device ? on_device(to.type) : on_host(to.type);
  Variable variable;
  const bool symbols = std::strstr(call, "Symbol") != nullptr;
  const bool into = !symbols && to_device && find_hosts_name(to.base, &variable);
  if (into || (!symbols && from_device && find_hosts_name(from.base, &variable))) {
    report_host("simt-memcpy",
                "%s: the %s is %s, a %s variable\nIn host code its name is no address of the device;\n"
                "cudaMemcpy%sSymbol(%s, ...) copies it.",
                call, into ? "destination" : "source", variable.name, kind_word(variable),
                into ? "To" : "From", variable.name);
    return false;
  }
  if (from_fits && to_fits) return true;
  report_host("simt-memcpy", "%s: %s does not fit: the copy is from %s to %s", call, kind_name(kind),
              from.what, to.what);
  return false;
}

// Overlapping ranges are undefined on a GPU; memmove() at least does not crash.
void move(const Area& to, const Area& from) {
  const bool one_piece = to.depth == 1 && to.pitch == to.width && from.pitch == to.width;
  if (one_piece || to.height * to.depth == 1) {
    std::memmove(to.row(0, 0), from.row(0, 0), to.width * to.height);
    return;
  }
  for (size_t z = 0; z < to.depth; ++z)
    for (size_t y = 0; y < to.height; ++y) std::memmove(to.row(y, z), from.row(y, z), to.width);
}

void note_tables(const Area& to, const Area& from) {
  for (size_t z = 0; z < to.depth; ++z)
    for (size_t y = 0; y < to.height; ++y) note_copied_tables(to.row(y, z), from.row(y, z), to.width);
}

// H2D, D2H and so on. Managed memory counts as the device's, if only one side is.
const char* direction(const Range& to, const Range& from) {
  const auto device = [](const Range& range, const Range& other) {
    return range.type == cudaMemoryTypeDevice ||
           (range.type == cudaMemoryTypeManaged && other.type != cudaMemoryTypeDevice);
  };
  const bool to_device = device(to, from), from_device = device(from, to);
  return to_device ? (from_device ? "D2D" : "H2D") : (from_device ? "D2H" : "H2H");
}

class CopyWork : public Work {
 public:
  CopyWork(const char* call, const Area& to, const Area& from, const Range& to_range, const Range& from_range)
      : Work(call),
        to_(to),
        from_(from),
        direction_(direction(to_range, from_range)),
        pageable_(!on_device(to_range.type) || !on_device(from_range.type)) {
    touched = {to.touched(true), from.touched(false)};
  }
  void describe(Described* what) const override {
    *what = {direction_, call, to_.width * to_.height * to_.depth, pageable_};
  }
  // Reads the source now, into memory of its own, as CUDA stages pageable host memory.
  void stage() {
    staging_ = std::make_unique<char[]>(to_.width * to_.height * to_.depth);
    const Area staged{staging_.get(), to_.width, to_.width, to_.height, to_.width * to_.height, to_.depth};
    move(staged, from_);
    from_ = staged;
    touched.pop_back();
  }
  void run(std::uint64_t number) override {
    if (!still_there(call, "the destination", to_) || !still_there(call, "the source", from_)) return;
    check_order(call, from_, false, number);
    check_order(call, to_, true, number);
    note_written(to_, number);
    move(to_, from_);
    if (checked_build) note_tables(to_, from_);
  }

 private:
  Area to_, from_;
  const char* direction_;
  bool pageable_;
  std::unique_ptr<char[]> staging_;
};

// Checks everything; a null work and no error: there is nothing to do.
cudaError_t checked_copy(const char* call, const Area& to, const Area& from, cudaMemcpyKind kind,
                         std::shared_ptr<CopyWork>* work, Range* to_range, Range* from_range) {
  if (const cudaError_t before = result(cudaSuccess)) return before;
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) return result(cudaErrorInvalidMemcpyDirection);
  if (to.empty()) return cudaSuccess;
  if (to.height > 1 && (to.pitch < to.width || from.pitch < from.width))
    return result(cudaErrorInvalidPitchValue);
  if (!to.pointer || !from.pointer) return result(cudaErrorInvalidValue);
  *to_range = find_range(to.pointer);
  *from_range = find_range(from.pointer);
  if (!fits_kind(call, kind, *to_range, *from_range) || !inside(call, "the destination", to, *to_range) ||
      !inside(call, "the source", from, *from_range)) {
    return result(cudaErrorInvalidValue);
  }
  *work = std::make_shared<CopyWork>(call, to, from, *to_range, *from_range);
  return cudaSuccess;
}

}  // namespace

cudaError_t make_copy(const char* call, const Area& to, const Area& from, cudaMemcpyKind kind,
                      WorkPtr* work) {
  Range to_range, from_range;
  std::shared_ptr<CopyWork> made;
  const cudaError_t error = checked_copy(call, to, from, kind, &made, &to_range, &from_range);
  *work = std::move(made);
  return error;
}

cudaError_t copy(const char* call, const Area& to, const Area& from, cudaMemcpyKind kind, When when,
                 cudaStream_t stream) {
  if (!is_stream(stream)) return result(cudaErrorInvalidResourceHandle);
  Range to_range, from_range;
  std::shared_ptr<CopyWork> work;
  const cudaError_t error = checked_copy(call, to, from, kind, &work, &to_range, &from_range);
  if (error || !work) return error;
  const bool on_device_only =
      to_range.type == cudaMemoryTypeDevice && from_range.type == cudaMemoryTypeDevice;
  const bool host_only = !on_device(to_range.type) && !on_device(from_range.type);
  bool waits = !on_device_only;
  if (when == When::in_stream) {
    waits = to_range.type == cudaMemoryTypeUnregistered || host_only ||
            (to_range.type == cudaMemoryTypeHost && on_host(from_range.type) &&
             from_range.type != cudaMemoryTypeManaged);
    const bool captured = find_stream(stream)->capture != nullptr;  // reads when the graph runs
    if (!waits && !captured && from_range.type == cudaMemoryTypeUnregistered) work->stage();
  }
  OperationPtr issued;
  if (const cudaError_t refused = submitted(stream, std::move(work), &issued)) return refused;
  if (waits && issued) return waited(finish(issued));
  return cudaSuccess;
}

cudaError_t copy_to_symbol(void* symbol, size_t size, const void* from, size_t count, size_t offset,
                           cudaMemcpyKind kind, bool in_stream, cudaStream_t stream) {
  note_symbol(symbol, size);
  return copy("cudaMemcpyToSymbol", line(static_cast<char*>(symbol) + offset, count), line(from, count), kind,
              in_stream ? When::in_stream : When::at_once, stream);
}
cudaError_t copy_from_symbol(void* to, const void* symbol, size_t size, size_t count, size_t offset,
                             cudaMemcpyKind kind, bool in_stream, cudaStream_t stream) {
  note_symbol(symbol, size);
  return copy("cudaMemcpyFromSymbol", line(to, count), line(static_cast<const char*>(symbol) + offset, count),
              kind, in_stream ? When::in_stream : When::at_once, stream);
}

}  // namespace simt

using simt::Area;
using simt::line;
using simt::result;
using simt::When;

extern "C" {

cudaError_t cudaMemcpy(void* to, const void* from, size_t count, cudaMemcpyKind kind) {
  return simt::copy("cudaMemcpy", line(to, count), line(from, count), kind, When::at_once, nullptr);
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t count, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return simt::copy("cudaMemcpyAsync", line(to, count), line(from, count), kind, When::in_stream, stream);
}
cudaError_t simt_copy_known(void* to, size_t to_bytes, const void* from, size_t from_bytes, size_t count,
                            cudaMemcpyKind kind) {
  const simt::KnownExtents known(to, to_bytes, from, from_bytes);
  return cudaMemcpy(to, from, count, kind);
}
cudaError_t simt_copy_known_async(void* to, size_t to_bytes, const void* from, size_t from_bytes,
                                  size_t count, cudaMemcpyKind kind, cudaStream_t stream) {
  const simt::KnownExtents known(to, to_bytes, from, from_bytes);
  return cudaMemcpyAsync(to, from, count, kind, stream);
}
cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, size_t count) {
  if (to_device != 0 || from_device != 0) return result(cudaErrorInvalidDevice);
  return simt::copy("cudaMemcpyPeer", line(to, count), line(from, count), cudaMemcpyDeviceToDevice,
                    When::at_once, nullptr);
}
cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, size_t count,
                                cudaStream_t stream) {
  if (to_device != 0 || from_device != 0) return result(cudaErrorInvalidDevice);
  return simt::copy("cudaMemcpyPeerAsync", line(to, count), line(from, count), cudaMemcpyDeviceToDevice,
                    When::in_stream, stream);
}
cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                         size_t height, cudaMemcpyKind kind) {
  return simt::copy("cudaMemcpy2D", Area{to, to_pitch, width, height}, Area{from, from_pitch, width, height},
                    kind, When::at_once, nullptr);
}
cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return simt::copy("cudaMemcpy2DAsync", Area{to, to_pitch, width, height},
                    Area{from, from_pitch, width, height}, kind, When::in_stream, stream);
}
cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* p) {
  Area to{}, from{};
  if (!p) return result(cudaErrorInvalidValue);
  if (const cudaError_t error = simt::read_copy(*p, &to, &from)) return error;
  return simt::copy("cudaMemcpy3D", to, from, p->kind, When::at_once, nullptr);
}
cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* p, cudaStream_t stream) {
  Area to{}, from{};
  if (!p) return result(cudaErrorInvalidValue);
  if (const cudaError_t error = simt::read_copy(*p, &to, &from)) return error;
  return simt::copy("cudaMemcpy3DAsync", to, from, p->kind, When::in_stream, stream);
}
cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms* p) {
  return cudaMemcpy3DPeerAsync(p, nullptr);
}
cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms* p, cudaStream_t stream) {
  if (!p) return result(cudaErrorInvalidValue);
  if (p->srcDevice != 0 || p->dstDevice != 0) return result(cudaErrorInvalidDevice);
  const cudaMemcpy3DParms same = {p->srcArray, p->srcPos, p->srcPtr, p->dstArray,
                                  p->dstPos,   p->dstPtr, p->extent, cudaMemcpyDeviceToDevice};
  return cudaMemcpy3DAsync(&same, stream);
}

cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, size_t count, size_t offset,
                               cudaMemcpyKind kind) {
  if (!symbol) return result(cudaErrorInvalidSymbol);
  return simt::copy_to_symbol(const_cast<void*>(symbol), offset + count, from, count, offset, kind, false,
                              nullptr);
}
cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, size_t count, size_t offset,
                                 cudaMemcpyKind kind) {
  if (!symbol) return result(cudaErrorInvalidSymbol);
  return simt::copy_from_symbol(to, symbol, offset + count, count, offset, kind, false, nullptr);
}
cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, size_t count, size_t offset,
                                    cudaMemcpyKind kind, cudaStream_t stream) {
  if (!symbol) return result(cudaErrorInvalidSymbol);
  return simt::copy_to_symbol(const_cast<void*>(symbol), offset + count, from, count, offset, kind, true,
                              stream);
}
cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, size_t count, size_t offset,
                                      cudaMemcpyKind kind, cudaStream_t stream) {
  if (!symbol) return result(cudaErrorInvalidSymbol);
  return simt::copy_from_symbol(to, symbol, offset + count, count, offset, kind, true, stream);
}

}  // extern "C"
