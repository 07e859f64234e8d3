// SPDX-License-Identifier: MIT
//
// Part of instance.cpp: device memory that the small buffers of one instance share, each between bands of its own as a
// DeviceMemory is. The host keeps an image of how all of it has to be before a launch: one copy there readies a run, one copy back
// is all that has to be looked at after it. With an allocation a buffer those are some thirty calls of CUDA's, which is where the
// seconds of a day's tests on a GPU went.
//
// What tools and the CPU backend know by the allocation is lost in it: that a byte past a buffer's end is nobody's, and that an output
// holds nothing yet. Bands and poison tell both here, as NaNs and damage; where such a tool looks on, memory is not shared.
#pragma once

#include <cuda_runtime.h>

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/buffer.h"
#include "common/check.h"

namespace days::detail {

class Arena {
 public:
  static constexpr size_t kBytes = size_t{1} << 20, kBand = 16384;

  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena() {
    if (memory_ != nullptr) spare().push_back(memory_);
  }

  // The device's address of so many bytes, poisoned; null where there is no room for them.
  void* place(size_t bytes, unsigned char poison) {
    constexpr size_t kAlign = 256;  // as cudaMalloc's
    const size_t end = (bytes + kAlign - 1) / kAlign * kAlign;
    if (bytes > kBytes || used_ + end + 2 * kBand > kBytes) return nullptr;
    if (memory_ == nullptr) memory_ = take();
    image_.resize(used_ + end + 2 * kBand, DeviceMemory::kGuard);
    const unsigned char tag = DeviceMemory::next_tag();
    for (size_t i = used_; i < image_.size(); i += 2) image_[i] = tag;
    std::memset(image_.data() + used_ + kBand, poison, bytes);
    used_ = image_.size();
    return memory_ + used_ - end - kBand;
  }
  size_t used() const { return used_; }
  // Gives up what was placed since that much was used.
  void give_up(size_t used) {
    used_ = used;
    image_.resize(used);
  }

  // How the device's memory has to be before a launch; and how it was at the latest download().
  unsigned char* image(const void* device) { return image_.data() + offset(device); }
  const unsigned char* image(const void* device) const { return image_.data() + offset(device); }
  const unsigned char* seen(const void* device) const { return seen_.data() + offset(device); }

  void upload() const {
    if (used_ > 0) CUDA_CHECK(cudaMemcpy(memory_, image_.data(), used_, cudaMemcpyHostToDevice));
  }
  void download() {
    seen_.resize(used_);
    if (used_ > 0) CUDA_CHECK(cudaMemcpy(seen_.data(), memory_, used_, cudaMemcpyDeviceToHost));
  }

  // What was wrong, at the latest download(), with the bands of what was placed there, or "".
  std::string damage(const void* device, size_t bytes) const {
    const size_t begin = offset(device), end = begin + bytes;
    const std::string before =
        DeviceMemory::damage(&seen_[begin - kBand], &image_[begin - kBand], kBand, false);
    return before.empty() ? DeviceMemory::damage(&seen_[end], &image_[end], kBand, true) : before;
  }

 private:
  size_t offset(const void* device) const {
    return static_cast<size_t>(static_cast<const unsigned char*>(device) - memory_);
  }
  // Memory that an earlier arena had: never given back, as allocating takes longer than a run.
  static std::vector<unsigned char*>& spare() {
    static std::vector<unsigned char*> all;
    return all;
  }
  static unsigned char* take() {
    void* memory = nullptr;
    if (spare().empty()) {
      CUDA_CHECK(cudaMalloc(&memory, kBytes));
      return static_cast<unsigned char*>(memory);
    }
    unsigned char* const last = spare().back();
    spare().pop_back();
    return last;
  }

  unsigned char* memory_ = nullptr;
  size_t used_ = 0;
  std::vector<unsigned char> image_, seen_;
};

}  // namespace days::detail
