// SPDX-License-Identifier: MIT
//
// Part of instance.cpp: results as JSON.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "common/device.h"
#include "common/json.h"
#include "common/results.h"

namespace days {
namespace detail {

inline void write_table(Json& json, const TableResult& table) {
  json.open('{');
  json.member("ladder", table.ladder->name);
  json.member("type", table.ladder->types[table.type].name);
  json.key("shape");
  json.open('{');
  for (size_t i = 0; i < table.shape.size(); ++i)
    json.member(table.ladder->extents[i], table.shape.numbers()[i]);
  json.close();
  json.member("read_bytes", table.traffic.read);
  json.member("written_bytes", table.traffic.written);
  json.member("flops", table.flops);
  json.member("verified", table.sampled ? "sampled" : "reference");
  if (table.sweep) {
    const SweepAxis& axis = table.ladder->sweep_axis;
    json.member("sweep", true);
    if (!axis.over.empty()) json.member("over", axis.over);
    if (!axis.each.empty()) json.member("each", axis.each);
  }
  if (table.limit > 0) {
    json.key("limit");
    json.open('{');
    json.member("name", table.limit_name);
    json.member("per_second", table.limit);
    if (table.sustained > 0) json.member("sustained_per_second", table.sustained);
    json.close();
  }
  if (table.copies.there + table.copies.back > 0) {
    json.key("copies");
    json.open('{');
    json.member("to_device_seconds", table.copies.there);
    json.member("to_host_seconds", table.copies.back);
    json.member("memory", "pageable");
    json.close();
  }
  json.key("rows");
  json.open('[');
  for (const RowResult& row : table.rows) {
    const char* const results[] = {"ok", "fail", "skip", "missing"};
    json.open('{');
    json.member("name", row.row->name);
    json.member("kind", row.row->baseline ? "library" : "variant");
    json.member("result", results[static_cast<int>(row.result)]);
    if (row.result == Result::kSkip || row.result == Result::kMissing) json.member("reason", row.reason);
    if (row.result == Result::kFail) json.member("report", row.report.text());
    if (row.result == Result::kOk) json.member("worst_error", row.report.worst);
    if (row.timing.seconds > 0) {
      json.member("seconds", row.timing.seconds);
      json.member("noise", row.timing.noise);
      json.member("runs", row.timing.runs);
      json.member("bytes_per_second", table.traffic.bytes() / row.timing.seconds);
      json.member("flops_per_second", table.flops / row.timing.seconds);
      const double rate = table.work() / row.timing.seconds;
      if (table.limit > 0) json.member("of_limit", rate / table.limit);
      if (table.sustained > 0) json.member("of_sustained", rate / table.sustained);
    }
    if (row.threads > 0) {
      json.member("threads", row.threads);
      json.member("barriers", row.barriers);
      json.member("warp_collectives", row.collectives);
      json.member("atomics", row.atomics);
    }
    json.close();
  }
  for (const CpuResult& cpu : table.cpu) {
    json.open('{');
    json.member("name", cpu.name);
    json.member("kind", "cpu");
    json.key("shape");
    json.open('[');
    for (const int64_t n : cpu.shape.numbers()) json.value(n);
    json.close();
    json.member("seconds", cpu.seconds);
    if (cpu.seconds > 0) {
      json.member("bytes_per_second", cpu.bytes / cpu.seconds);
      json.member("flops_per_second", cpu.flops / cpu.seconds);
    }
    json.close();
  }
  json.close();
  json.close();
}

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

}  // namespace detail

bool write_text(const std::string& path, const std::string& text) {
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) return false;
  const bool written = std::fputs(text.c_str(), file) >= 0;
  return std::fclose(file) == 0 && written;
}

std::string results_json(const std::vector<TableResult>& tables, const std::string& command) {
  const Device& device = current_device();
  Json json;
  json.open('{');
  json.member("schema", 1);
  json.member("day", tables.empty() ? std::string() : tables[0].ladder->day);
  json.member("command", command);
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
  if (!device.simt && !detail::driver_version().empty())
    json.member("driver_version", detail::driver_version());
  json.member("cuda", cuda_version(device.runtime));
  const char* commit = std::getenv("DAYS_COMMIT");  // set by ./days
  json.member("commit", std::string(commit == nullptr ? "" : commit));
  char date[32];
  const std::time_t now = std::time(nullptr);
  std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  json.member("date", date);
  json.key("tables");
  json.open('[');
  for (const TableResult& table : tables) detail::write_table(json, table);
  json.close();
  json.close();
  return json.text() + "\n";
}

}  // namespace days
