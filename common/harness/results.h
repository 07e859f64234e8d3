// SPDX-License-Identifier: MIT
//
// Part of instance.cpp: results as JSON.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "common/device.h"
#include "common/json.h"
#include "common/machine.h"
#include "common/output.h"
#include "common/results.h"

namespace days {
namespace detail {

inline void write_limit(Json& json, const std::string& name, double limit, double sustained) {
  json.open('{');
  json.member("name", name);
  json.member("per_second", limit);
  if (sustained > 0) json.member("sustained_per_second", sustained);
  json.close();
}

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
  if (table.flops > 0) json.member("flops", table.flops);
  json.member("verified", table.checked ? "checked" : table.sampled ? "sampled" : "reference");
  if (table.sweep) {
    const SweepAxis& axis = table.ladder->sweep_axis;
    json.member("sweep", true);
    if (!axis.over.empty()) json.member("over", axis.over);
    if (!axis.each.empty()) json.member("each", axis.each);
  }
  if (table.limit > 0) {
    json.key("limit");
    write_limit(json, table.limit_name, table.limit, table.sustained);
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
      if (table.traffic.bytes() > 0)
        json.member("bytes_per_second", table.traffic.bytes() / row.timing.seconds);
      if (table.flops > 0) json.member("flops_per_second", table.flops / row.timing.seconds);
      const double rate = table.work() / row.timing.seconds;
      const double limit = table.limit_of(row), sustained = table.sustained_of(row);
      if (limit > 0) json.member("of_limit", rate / limit);
      if (sustained > 0) json.member("of_sustained", rate / sustained);
      if (!row.limit_name.empty() && limit > 0) {
        json.key("limit");
        write_limit(json, row.limit_name, limit, sustained);
      }
    }
    if (row.workspace > 0) {
      json.member("workspace_bytes", row.workspace);
      if (row.threads > 0) json.member("workspace_written_bytes", row.workspace_written);
    }
    if (row.setup_seconds > 0) json.member("setup_seconds", row.setup_seconds);
    if (row.threads > 0) {
      json.member("launches", row.launches);
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
      if (cpu.bytes > 0) json.member("bytes_per_second", cpu.bytes / cpu.seconds);
      if (cpu.flops > 0) json.member("flops_per_second", cpu.flops / cpu.seconds);
    }
    json.close();
  }
  json.close();
  json.close();
}

}  // namespace detail

bool write_text(const std::string& path, const std::string& text) {
  OutputFile output(path);
  if (output.file() == nullptr) return false;
  std::fputs(text.c_str(), output.file());
  return output.commit();
}

std::string results_json(const std::vector<TableResult>& tables, const std::string& command) {
  const Device& device = current_device();
  Json json;
  json.open('{');
  json.member("schema", 1);
  json.member("day", tables.empty() ? std::string() : tables[0].ladder->day);
  json.member("command", command);
  write_machine(json, device);
  json.key("tables");
  json.open('[');
  for (const TableResult& table : tables) detail::write_table(json, table);
  json.close();
  json.close();
  return json.text() + "\n";
}

}  // namespace days
