// SPDX-License-Identifier: MIT
#include "day16_device_query/properties.h"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>

#include "common/check.h"
#include "common/device.h"
#include "common/json.h"
#include "common/util.h"

namespace day16 {
namespace {

std::string with_commas(int64_t value) {
  std::string digits = std::to_string(value);
  for (int at = static_cast<int>(digits.size()) - 3; at > (value < 0 ? 1 : 0); at -= 3)
    digits.insert(at, ",");
  return digits;
}

std::string printed(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string bytes(int64_t value) {
  constexpr int64_t kKiB = 1 << 10, kMiB = 1 << 20, kGiB = 1 << 30;
  if (value >= kGiB) return printed("%.1f GiB", static_cast<double>(value) / kGiB);
  if (value >= kMiB) return printed("%.1f MiB", static_cast<double>(value) / kMiB);
  if (value >= kKiB) return printed("%.1f KiB", static_cast<double>(value) / kKiB);
  return with_commas(value) + " B";
}

std::string text_of(const Property& p) {
  if (const bool* flag = std::get_if<bool>(&p.value)) return *flag ? "yes" : "no";
  if (const std::string* text = std::get_if<std::string>(&p.value)) return *text;
  if (const double* number = std::get_if<double>(&p.value)) {
    return printed(p.unit == Unit::kTeraflops ? "%.1f TFLOP/s" : "%.0f GB/s", *number);
  }
  const int64_t number = std::get<int64_t>(p.value);
  switch (p.unit) {
    case Unit::kBytes:
      return bytes(number);
    case Unit::kMegahertz:
      return with_commas(number) + " MHz";
    case Unit::kBits:
      return with_commas(number) + " bits";
    default:
      return with_commas(number);
  }
}

std::string version(int number) {  // 13000 is 13.0, 12040 is 12.4
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

}  // namespace

int fp32_lanes(int major, int minor) {
  switch (major) {
    case 7:
      return 64;  // Volta, Turing
    case 8:
      return minor == 0 ? 64 : 128;  // A100; the other Amperes, Ada
    case 9:
    case 10:
    case 11:
    case 12:
      return 128;  // Hopper, Blackwell
    default:
      return 0;
  }
}

std::vector<Property> device_properties() {
  using days::device_attribute;
  int device = 0, driver = 0, runtime = 0;
  size_t free = 0, total = 0;
  cudaDeviceProp name_and_more;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaGetDeviceProperties(&name_and_more, device));
  CUDA_CHECK(cudaDriverGetVersion(&driver));
  CUDA_CHECK(cudaRuntimeGetVersion(&runtime));
  CUDA_CHECK(cudaMemGetInfo(&free, &total));

  // Attributes rather than the struct's fields where both exist: CUDA 13 took clockRate and others out of the
  // struct.
  const int64_t major = device_attribute(cudaDevAttrComputeCapabilityMajor);
  const int64_t minor = device_attribute(cudaDevAttrComputeCapabilityMinor);
  const int64_t sms = device_attribute(cudaDevAttrMultiProcessorCount);
  const int64_t clock_khz = device_attribute(cudaDevAttrClockRate);
  const int64_t memory_khz = device_attribute(cudaDevAttrMemoryClockRate);
  const int64_t bus_bits = device_attribute(cudaDevAttrGlobalMemoryBusWidth);
  const int64_t threads_per_sm = device_attribute(cudaDevAttrMaxThreadsPerMultiProcessor);
  const int64_t lanes = fp32_lanes(static_cast<int>(major), static_cast<int>(minor));
  const auto number = [](cudaDeviceAttr attribute) { return int64_t{device_attribute(attribute)}; };
  const auto flag = [](cudaDeviceAttr attribute) { return device_attribute(attribute) != 0; };

  std::vector<Property> list = {
      {"device", "name", "name", std::string(name_and_more.name)},
      {"device", "compute_capability", "compute capability",
       std::to_string(major) + "." + std::to_string(minor)},
      {"device", "driver_cuda_version", "CUDA that the driver knows", version(driver)},
      {"device", "runtime_cuda_version", "CUDA of this program", version(runtime)},
      {"device", "ecc", "memory is ECC-protected", flag(cudaDevAttrEccEnabled)},
      {"device", "integrated", "shares the CPU's memory", flag(cudaDevAttrIntegrated)},

      {"compute", "multiprocessors", "multiprocessors (SMs)", sms},
      {"compute", "clock_mhz", "SM clock, at most", clock_khz / 1000, Unit::kMegahertz},
      {"compute", "warp_size", "threads in a warp", number(cudaDevAttrWarpSize)},
      {"compute", "max_threads_per_multiprocessor", "threads an SM holds at once", threads_per_sm},
      {"compute", "max_blocks_per_multiprocessor", "blocks an SM holds at once",
       number(cudaDevAttrMaxBlocksPerMultiprocessor)},
      {"compute", "max_threads_per_block", "threads in a block, at most",
       number(cudaDevAttrMaxThreadsPerBlock)},
      {"compute", "registers_per_multiprocessor", "32-bit registers of an SM",
       number(cudaDevAttrMaxRegistersPerMultiprocessor)},
      {"compute", "cooperative_launch", "cooperative launch", flag(cudaDevAttrCooperativeLaunch)},

      {"memory", "total_bytes", "device memory", static_cast<int64_t>(total), Unit::kBytes},
      {"memory", "free_bytes", "free of it now", static_cast<int64_t>(free), Unit::kBytes},
      {"memory", "clock_mhz", "memory clock, at most", memory_khz / 1000, Unit::kMegahertz},
      {"memory", "bus_bits", "memory bus", bus_bits, Unit::kBits},
      {"memory", "l2_bytes", "L2 cache", number(cudaDevAttrL2CacheSize), Unit::kBytes},
      {"memory", "shared_bytes_per_multiprocessor", "shared memory of an SM",
       number(cudaDevAttrMaxSharedMemoryPerMultiprocessor), Unit::kBytes},
      {"memory", "shared_bytes_per_block", "of a block, without asking",
       number(cudaDevAttrMaxSharedMemoryPerBlock), Unit::kBytes},
      {"memory", "shared_bytes_per_block_optin", "of a block, if it asks",
       number(cudaDevAttrMaxSharedMemoryPerBlockOptin), Unit::kBytes},
      {"memory", "constant_bytes", "constant memory", number(cudaDevAttrTotalConstantMemory), Unit::kBytes},
      {"memory", "managed", "managed memory", flag(cudaDevAttrManagedMemory)},
      {"memory", "copy_engines", "copy engines", number(cudaDevAttrAsyncEngineCount)},
  };
  if (days::current_device().simt) {
    std::erase_if(list, [](const Property& p) { return p.key == "clock_mhz" || p.key == "bus_bits"; });
    list.insert(list.begin() + 2, {"device", "simt", "kernels run on this CPU (simt)", true});
    return list;
  }
  list.push_back({"derived", "resident_threads", "threads the device holds at once", sms * threads_per_sm});
  if (memory_khz > 0 && bus_bits > 0) {  // two transfers a clock, bus_bits / 8 bytes each
    list.push_back({"derived", "memory_gb_per_s", "memory: 2 x clock x bus",
                    2.0 * memory_khz * 1e3 * bus_bits / 8 / 1e9, Unit::kGigabytesPerSecond});
  }
  if (clock_khz > 0 && lanes > 0) {  // a fused multiply-add counts as two operations
    list.push_back({"derived", "fp32_tflops", "FP32: 2 x SMs x " + std::to_string(lanes) + " lanes x clock",
                    2.0 * sms * lanes * clock_khz * 1e3 / 1e12, Unit::kTeraflops});
  }
  return list;
}

std::string as_text(const std::vector<Property>& properties) {
  std::string text, group;
  for (const Property& p : properties) {
    if (p.group != group) text += (group.empty() ? "" : "\n") + p.group + "\n";
    group = p.group;
    std::string line = "  " + p.label;
    line.resize(std::max<size_t>(line.size() + 1, 38), ' ');
    text += line + text_of(p) + "\n";
  }
  return text;
}

std::string as_json(const std::vector<Property>& properties) {
  days::Json json;
  std::string group;
  json.open('{');
  for (const Property& p : properties) {
    if (p.group != group) {
      if (!group.empty()) json.close();
      json.key(p.group);
      json.open('{');
      group = p.group;
    }
    std::visit([&](const auto& value) { json.member(p.key, value); }, p.value);
  }
  if (!group.empty()) json.close();
  json.close();
  return json.text();
}

}  // namespace day16
