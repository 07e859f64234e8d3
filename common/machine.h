// SPDX-License-Identifier: MIT
//
// What a result file says of where it was measured (docs/results.md): device, driver, CUDA, commit, date.
#pragma once

#include <cstdlib>
#include <ctime>
#include <fstream>
#include <sstream>
#include <string>

#include "common/device.h"
#include "common/json.h"

namespace days {

// "580.82.07", "" where the driver does not say.
inline std::string driver_version() {
  std::ifstream file("/proc/driver/nvidia/version");
  std::string line;
  std::getline(file, line);
  std::istringstream words(line.substr(0, line.find("GCC")));
  for (std::string word; words >> word;) {
    if (word.find_first_not_of("0123456789.") == std::string::npos && word.find('.') != std::string::npos)
      return word;
  }
  return "";
}

// Members of the object that is open: backend, device, driver, driver_version, cuda, commit, date.
inline void write_machine(Json& json, const Device& device) {
  json.member("backend", device.simt ? "simt" : "cuda");
  json.key("device");
  json.open('{');
  json.member("name", device.name);
  json.member("sm", device.sm());
  json.member("multiprocessors", device.multiprocessors);
  json.member("memory_bytes", device.memory);
  json.member("l2_bytes", device.l2);
  json.member("max_clock_mhz", device.clock_khz / 1000);
  json.member("max_memory_clock_mhz", device.memory_clock_khz / 1000);
  json.close();
  json.member("driver", cuda_version(device.driver));
  const std::string version = device.simt ? std::string() : driver_version();
  if (!version.empty()) json.member("driver_version", version);
  json.member("cuda", cuda_version(device.runtime));
  const char* commit = std::getenv("DAYS_COMMIT");  // set by ./days
  json.member("commit", std::string(commit == nullptr ? "" : commit));
  char date[32];
  const std::time_t now = std::time(nullptr);
  std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  json.member("date", date);
}

}  // namespace days
