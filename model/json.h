// SPDX-License-Identifier: MIT
//
// JSON from files that nobody has checked. Included by .cpp files alone: nvcc need not read nlohmann's header.
#pragma once

#if !__has_include(<nlohmann/json.hpp>)
#error "JSON needs nlohmann's header: sudo apt-get install nlohmann-json3-dev (brew install nlohmann-json)"
#endif

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/files.h"

namespace model {

using Json = nlohmann::json;

// Throws FileError, beginning with `where`, for what is no JSON, is nested deeper than `depth`, or has a name twice in one object:
// readers disagree which of the two values counts.
inline Json parse_json(std::string_view text, const std::string& where, int depth) {
  std::vector<std::set<std::string>> names;
  const auto look = [&](int at, Json::parse_event_t event, Json& value) {
    if (event == Json::parse_event_t::object_start || event == Json::parse_event_t::array_start) {
      if (at >= depth) throw FileError(where + ": JSON is nested deeper than " + std::to_string(depth));
      names.emplace_back();
    } else if (event == Json::parse_event_t::object_end || event == Json::parse_event_t::array_end) {
      names.pop_back();
    } else if (event == Json::parse_event_t::key && !names.back().insert(value.get<std::string>()).second) {
      throw FileError(where + ": has the name \"" + value.get<std::string>() + "\" twice");
    }
    return true;
  };
  try {
    return Json::parse(text.begin(), text.end(), look);
  } catch (const Json::exception& error) {
    throw FileError(where + ": is no JSON: " + error.what());
  }
}

}  // namespace model
