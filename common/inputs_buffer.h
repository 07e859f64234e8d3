// SPDX-License-Identifier: MIT
//
// One buffer of an Inputs, as the harness sees it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "common/buffer.h"
#include "common/inputs.h"

namespace days {

struct Inputs::Buffer {
  const detail::ElementType* type;
  size_t n;
  Role role;
  std::vector<int64_t> dims;
  detail::Fill fill;
  DeviceMemory device;
  std::unique_ptr<unsigned char[]> host;      // host: inputs, or the latest run's output
  std::unique_ptr<unsigned char[]> expected;  // host, outputs: the reference's result
  std::unique_ptr<unsigned char[]> initial;   // host, in place: the values before a run
  size_t bytes() const { return n * type->size; }
  bool written() const { return role != Role::kInput; }
  void* data() const { return host ? static_cast<void*>(host.get()) : device.data(); }
};

}  // namespace days
