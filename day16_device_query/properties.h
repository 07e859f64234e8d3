// SPDX-License-Identifier: MIT
//
// What CUDA says about a device, as a list that prints as text and as JSON alike.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace day16 {

enum class Unit { kNone, kBytes, kMegahertz, kBits, kGigabytesPerSecond, kTeraflops };

struct Property {
  std::string group;  // "compute", "memory", ...: a heading of the text, an object of the JSON
  std::string key;    // the JSON's name, with its unit: clock_mhz
  std::string label;  // the text's name
  std::variant<int64_t, double, bool, std::string> value;
  Unit unit = Unit::kNone;
};

// Everything about the current device that a kernel's author asks for. What CUDA does not tell but follows
// from what it tells is in the group "derived": read it as the data sheet's figure, which no kernel quite
// reaches. The CPU backend's device has no clock and no memory bus, so there these are left out.
std::vector<Property> device_properties();

// The same as lines of at most 80 columns, and as one JSON object of objects.
std::string as_text(const std::vector<Property>& properties);
std::string as_json(const std::vector<Property>& properties);

// FP32 lanes of a multiprocessor by compute capability; CUDA has no call for it. 0 where the capability is
// not known.
int fp32_lanes(int major, int minor);

}  // namespace day16
