// SPDX-License-Identifier: MIT
//
// Device memory that frees itself and shows what was done to it: guard bands before and after each buffer,
// and poison in what nobody has written yet. Both are NaNs in every floating-point type, so a kernel that
// reads outside its input or leaves its output unwritten shows NaN. Bands differ from buffer to buffer: a
// copy that runs past its end copies one band over another, and must not leave the same bytes behind.
#pragma once

#include <cuda_runtime.h>

#include <atomic>
#include <cstddef>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "common/check.h"
#include "common/types.h"
#include "common/workspace.h"

namespace days {

class DeviceMemory {
 public:
  // On the CPU backend each allocation ends at an inaccessible page and faults by itself, so the bands would
  // only hide an overrun there.
#ifdef __SIMT__
  static constexpr size_t kGuardBytes = 0;
#else
  static constexpr size_t kGuardBytes = 16384;
#endif
  static constexpr unsigned char kGuard = 0xff;

  DeviceMemory() = default;
  // Allocates; all of it poisoned. Throws CudaError (cudaErrorMemoryAllocation where it does not fit).
  explicit DeviceMemory(size_t bytes, unsigned char poison = kGuard) : bytes_(bytes) {
    if (bytes_ + 2 * kGuardBytes == 0) return;
    CUDA_CHECK(cudaMalloc(&base_, bytes_ + 2 * kGuardBytes));
    CUDA_CHECK(cudaMemset(base_, kGuard, bytes_ + 2 * kGuardBytes));
    if (poison != kGuard && bytes_ > 0) CUDA_CHECK(cudaMemset(data(), poison, bytes_));
    if (kGuardBytes == 0) return;
    const std::vector<unsigned char> band = guard_band();
    CUDA_CHECK(cudaMemcpy(base_, band.data(), kGuardBytes, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(static_cast<unsigned char*>(data()) + bytes_, band.data(), kGuardBytes,
                          cudaMemcpyHostToDevice));
  }
  DeviceMemory(DeviceMemory&& other) noexcept
      : base_(std::exchange(other.base_, nullptr)),
        bytes_(std::exchange(other.bytes_, 0)),
        tag_(other.tag_) {}
  DeviceMemory& operator=(DeviceMemory&& other) noexcept {
    std::swap(base_, other.base_);
    std::swap(bytes_, other.bytes_);
    std::swap(tag_, other.tag_);
    return *this;
  }
  // Errors are ignored here: after a kernel's fault every call returns that fault, which has been reported.
  ~DeviceMemory() {
    if (base_ != nullptr) static_cast<void>(cudaFree(base_));
  }

  void* data() const {
    return static_cast<unsigned char*>(base_) + kGuardBytes;
  }
  size_t bytes() const {
    return bytes_;
  }

  // Fills it with `value`, in the order of the stream.
  void fill(unsigned char value, cudaStream_t stream = nullptr) const {
    if (bytes_ > 0) CUDA_CHECK(cudaMemsetAsync(data(), value, bytes_, stream));
  }

  // What is wrong with the guard bands, or "". Waits for the device.
  std::string damage() const {
    if (kGuardBytes == 0 || base_ == nullptr) return "";
    CUDA_CHECK(cudaDeviceSynchronize());
    const std::vector<unsigned char> whole = guard_band();
    std::vector<unsigned char> band(kGuardBytes);
    for (const bool after : {false, true}) {
      const unsigned char* from =
          static_cast<unsigned char*>(data()) + (after ? bytes_ : 0) - (after ? 0 : kGuardBytes);
      CUDA_CHECK(cudaMemcpy(band.data(), from, kGuardBytes, cudaMemcpyDeviceToHost));
      const std::string found = damage(band.data(), whole.data(), kGuardBytes, after);
      if (!found.empty()) return found;
    }
    return "";
  }
  // Of one band as it is and as it was.
  static std::string damage(const unsigned char* band, const unsigned char* whole, size_t bytes, bool after) {
    if (std::memcmp(band, whole, bytes) == 0) return "";
    // The band's byte next to the buffer comes first in both directions.
    size_t i = 0;
    while (band[after ? i : bytes - 1 - i] == whole[after ? i : bytes - 1 - i]) ++i;
    return "overwritten " + std::to_string(i + (after ? 0 : 1)) + " bytes " +
           (after ? "after its end" : "before its start");
  }
  // Of each band another: 0xff and the tag in turn, a NaN in 16, 32 and 64 bits for each tag from 0xf1 on.
  static unsigned char next_tag() {
    static std::atomic<unsigned> buffers{0};
    return static_cast<unsigned char>(0xf1 + buffers++ % 14);
  }

 private:
  std::vector<unsigned char> guard_band() const {
    std::vector<unsigned char> band(kGuardBytes, kGuard);
    for (size_t i = 0; i < band.size(); i += 2) band[i] = tag_;
    return band;
  }

  void* base_ = nullptr;
  size_t bytes_ = 0;
  unsigned char tag_ = next_tag();
};

// n elements of T on the device, poisoned until written.
template <class T>
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  explicit DeviceBuffer(size_t n) : memory_(n * sizeof(T), TypeInfo<T>::kPoison), size_(n) {}
  explicit DeviceBuffer(const std::vector<T>& values) : DeviceBuffer(values.size()) { upload(values); }

  T* data() const { return static_cast<T*>(memory_.data()); }
  size_t size() const { return size_; }

  // Blocking copies. `values` must have size() elements.
  void upload(const std::vector<T>& values) {
    require(values.size() == size_, "upload: as many values as the buffer has, not", values.size());
    if (size_ > 0) CUDA_CHECK(cudaMemcpy(data(), values.data(), size_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  std::vector<T> download() const {
    std::vector<T> values(size_);
    if (size_ > 0) CUDA_CHECK(cudaMemcpy(values.data(), data(), size_ * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
  }
  void poison(cudaStream_t stream = nullptr) const { memory_.fill(TypeInfo<T>::kPoison, stream); }
  std::string damage() const { return memory_.damage(); }

 private:
  DeviceMemory memory_;
  size_t size_ = 0;
};

}  // namespace days
