// SPDX-License-Identifier: MIT
//
// One buffer of an Inputs, as the harness sees it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/buffer.h"
#include "common/inputs.h"

namespace days {

struct Inputs::Buffer {
  std::string name;  // of the problem's member
  const detail::ElementType* type;
  size_t n;
  size_t lead;  // elements before the first, which are nobody's
  Role role;
  std::vector<int64_t> dims;
  detail::Fill fill;
  DeviceMemory device;                    // nothing where it is part of an arena
  void* shared = nullptr;                 // there
  std::unique_ptr<unsigned char[]> host;  // host: inputs, or the latest run's output
  // Host, outputs: the reference's result, and the same where another byte filled the output before it ran, which
  // tells what it does not write.
  std::unique_ptr<unsigned char[]> expected[2];
  std::unique_ptr<unsigned char[]> initial;  // host, in place: the values before a run
  size_t lead_bytes() const { return type->bytes(lead); }
  size_t bytes() const { return lead_bytes() + type->bytes(n); }
  bool written() const { return role != Role::kInput; }
  // Of the device's memory.
  void* base() const { return shared != nullptr ? shared : device.data(); }
  // The first element.
  void* data() const { return (host ? host.get() : static_cast<unsigned char*>(base())) + lead_bytes(); }
  const void* expected_data(bool other_fill = false) const {
    return expected[other_fill].get() + lead_bytes();
  }
};

}  // namespace days
