// SPDX-License-Identifier: MIT
//
// {"kernels": [{"name", "file", "grid", "block", "totals": {...}, "lines": [{"file", "line", "text",
// "operation", ..., "first": [...]}]}]}, one entry a launch, under ncu's names where ncu counts the same.
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <set>

#include "failures.h"
#include "trace.h"

namespace simt {
namespace {

struct Metric {
  const char* name;
  std::uint64_t value;
};
using Metrics = std::vector<Metric>;

#define SIMT_GLOBAL(what, op) "l1tex__t_" what "_pipe_lsu_mem_global_op_" op ".sum"
#define SIMT_CONFLICTS(op) "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_" op ".sum"
#define SIMT_WAVEFRONTS(op) "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_" op ".sum"

void add_global(const char* const names[4], const Counts& c, Metrics* out) {
  out->push_back({names[0], c.requests});
  out->push_back({names[1], c.cost.sectors});
  out->push_back({names[2], c.cost.least});
  out->push_back({names[3], c.cost.bytes});
}
void add_shared(const char* const names[4], const Counts& c, Metrics* out) {
  out->push_back({names[0], c.requests});
  out->push_back({names[1], c.cost.wavefronts});
  out->push_back({names[2], c.cost.conflicts});
  out->push_back({names[3], c.cost.bytes});
}

constexpr const char* kLoad[] = {SIMT_GLOBAL("requests", "ld"), SIMT_GLOBAL("sectors", "ld"),
                                 "simt_least_sectors_op_ld", "simt_requested_bytes_op_ld"};
constexpr const char* kStore[] = {SIMT_GLOBAL("requests", "st"), SIMT_GLOBAL("sectors", "st"),
                                  "simt_least_sectors_op_st", "simt_requested_bytes_op_st"};
constexpr const char* kAtomic[] = {"simt_atomic_requests", "simt_atomic_sectors", "simt_atomic_least_sectors",
                                   "simt_atomic_requested_bytes"};
constexpr const char* kSharedLoad[] = {"simt_shared_requests_op_ld", SIMT_WAVEFRONTS("ld"),
                                       SIMT_CONFLICTS("ld"), "simt_shared_requested_bytes_op_ld"};
constexpr const char* kSharedStore[] = {"simt_shared_requests_op_st", SIMT_WAVEFRONTS("st"),
                                        SIMT_CONFLICTS("st"), "simt_shared_requested_bytes_op_st"};
constexpr const char* kSharedAtomic[] = {"simt_shared_atomic_requests", "simt_shared_atomic_wavefronts",
                                         "simt_shared_atomic_conflicts",
                                         "simt_shared_atomic_requested_bytes"};

void add_metrics(Operation operation, const Counts& c, Metrics* out) {
  switch (operation) {
    case Operation::global_load:
      return add_global(kLoad, c, out);
    case Operation::global_store:
      return add_global(kStore, c, out);
    case Operation::global_atomic:
      return add_global(kAtomic, c, out);
    case Operation::shared_load:
      return add_shared(kSharedLoad, c, out);
    case Operation::shared_store:
      return add_shared(kSharedStore, c, out);
    case Operation::shared_atomic:
      return add_shared(kSharedAtomic, c, out);
    case Operation::branch:
      out->push_back({"simt_branches", c.requests});
      out->push_back({"simt_divergent_branches", c.divergent});
  }
}

const char* name_of(Operation operation) {
  switch (operation) {
    case Operation::global_load:
      return "global load";
    case Operation::global_store:
      return "global store";
    case Operation::global_atomic:
      return "global atomic";
    case Operation::shared_load:
      return "shared load";
    case Operation::shared_store:
      return "shared store";
    case Operation::shared_atomic:
      return "shared atomic";
    case Operation::branch:
      return "branch";
  }
  return "";
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += format_text("\\u%04x", c);
    } else {
      out += c;
    }
  }
  return out + "\"";
}

void write_metrics(FILE* file, const Metrics& metrics) {
  const char* separator = "";
  for (const Metric& metric : metrics) {
    std::fprintf(file, "%s\"%s\": %" PRIu64, separator, metric.name, metric.value);
    separator = ", ";
  }
}

void write_sample(FILE* file, const Sample& s) {
  std::fprintf(file, "{\"block\": [%u, %u, %u], \"warp\": %u, \"bytes\": %u, \"addresses\": [",
               s.block_index.x, s.block_index.y, s.block_index.z, s.warp, s.bytes);
  for (int lane = 0; lane < 32; ++lane) {
    if (lane) std::fputs(", ", file);
    if (s.lanes >> lane & 1) {
      std::fprintf(file, "%" PRId64, s.addresses[lane]);
    } else {
      std::fputs("null", file);
    }
  }
  std::fputs("]}", file);
}

// Several instructions may stand for one expression: inlined or unrolled copies.
struct LineKey {
  std::string file;
  int line;
  Operation operation;
  std::string text;
  bool operator<(const LineKey& other) const {
    return std::tie(file, line, operation, text) <
           std::tie(other.file, other.line, other.operation, other.text);
  }
};

void add(Counts* to, const Counts& from) {
  to->requests += from.requests;
  to->divergent += from.divergent;
  to->cost.sectors += from.cost.sectors;
  to->cost.least += from.cost.least;
  to->cost.wavefronts += from.cost.wavefronts;
  to->cost.conflicts += from.cost.conflicts;
  to->cost.bytes += from.cost.bytes;
  for (const Alike& alike : from.kinds) add_alike(&to->kinds, alike);
  for (const Sample& sample : from.samples) to->samples.push_back(sample);
  std::sort(to->samples.begin(), to->samples.end());
  if (to->samples.size() > kSamples) to->samples.resize(kSamples);
}

// The kind that wastes most, or where none wastes anything the one that moves most: its first request is drawn.
const Alike* typical_of(const Counts& counts) {
  const auto rank = [](const Alike& a) {
    return std::make_tuple(a.requests * (a.cost.sectors - a.cost.least + a.cost.conflicts),
                           a.requests * (a.cost.sectors + a.cost.wavefronts), a.requests);
  };
  const Alike* found = nullptr;
  for (const Alike& alike : counts.kinds) {
    if (!found || rank(*found) < rank(alike) || (rank(*found) == rank(alike) && alike.first < found->first))
      found = &alike;
  }
  return found;
}

using Places = std::map<Place, SourcePlace>;

void write_lines(FILE* file, const TraceTotals& totals, const Places& places) {
  std::map<LineKey, Counts> lines;
  for (const auto& [place, counts] : totals.places) {
    const SourcePlace& source = places.at(place);
    add(&lines[{source.file, source.line, place.operation, source.text}], counts);
  }
  const char* separator = "";
  for (const auto& [key, counts] : lines) {
    std::fprintf(file, "%s\n      {\"file\": %s, \"line\": %d, \"text\": %s, \"operation\": \"%s\", ",
                 separator, quoted(key.file).c_str(), key.line, quoted(key.text).c_str(),
                 name_of(key.operation));
    Metrics metrics;
    add_metrics(key.operation, counts, &metrics);
    write_metrics(file, metrics);
    if (!counts.samples.empty()) {
      std::fputs(", \"first\": [", file);
      for (std::size_t i = 0; i < counts.samples.size(); ++i) {
        if (i) std::fputs(", ", file);
        write_sample(file, counts.samples[i]);
      }
      std::fputc(']', file);
    }
    if (const Alike* typical = typical_of(counts)) {
      std::fprintf(file, ", \"like_typical\": %" PRIu64 ", \"typical\": ", typical->requests);
      write_sample(file, typical->first);
    }
    std::fputc('}', file);
    separator = ",";
  }
  for (const auto& [site, count] : totals.barriers) {
    std::fprintf(file,
                 "%s\n      {\"file\": %s, \"line\": %d, \"text\": %s, \"operation\": \"barrier\", "
                 "\"simt_barriers\": %" PRIu64 "}",
                 separator, quoted(shown_path(site.first)).c_str(), site.second,
                 quoted(source_text(site.first, site.second)).c_str(), count);
    separator = ",";
  }
}

void write_launch(FILE* file, const TracedLaunch& launch, const Places& places) {
  std::map<Operation, Counts> by_operation;
  for (const Operation operation :
       {Operation::global_load, Operation::global_store, Operation::global_atomic, Operation::shared_load,
        Operation::shared_store, Operation::shared_atomic, Operation::branch})
    by_operation[operation];
  std::string kernel_file;
  std::uint64_t most = 0;  // functions that were not inlined may stand in other files
  for (const auto& [place, counts] : launch.totals.places) {
    add(&by_operation[place.operation], counts);
    if (counts.requests > most) {
      most = counts.requests;
      kernel_file = places.at(place).kernel_file;
    }
  }
  Metrics metrics;
  for (const auto& [operation, counts] : by_operation) add_metrics(operation, counts, &metrics);
  std::uint64_t barriers = 0;
  for (const auto& site : launch.totals.barriers) barriers += site.second;
  metrics.push_back({"simt_barriers", barriers});
  metrics.push_back({"simt_bulk_bytes", launch.totals.bulk_bytes});
  metrics.push_back({"simt_product_bytes", launch.totals.product_bytes});
  metrics.push_back({"simt_under_way_bytes", launch.totals.under_way});
  metrics.push_back({"simt_distinct_bytes_op_ld", launch.totals.distinct_loaded});
  metrics.push_back({"simt_distinct_bytes_op_st", launch.totals.distinct_stored});
  metrics.push_back({"simt_loads_first", launch.totals.loads_first});
  metrics.push_back({"simt_storing_warps", launch.totals.storing});
  metrics.push_back({"simt_busy_blocks", launch.totals.busy_blocks});
  metrics.push_back({"simt_distinct_sectors_of_blocks_op_ld", launch.totals.block_sectors});
  std::fprintf(
      file,
      "{\"name\": %s, \"file\": %s, \"grid\": [%u, %u, %u], \"block\": [%u, %u, %u],\n    \"totals\": {",
      quoted(launch.kernel).c_str(), quoted(kernel_file).c_str(), launch.grid.x, launch.grid.y, launch.grid.z,
      launch.block.x, launch.block.y, launch.block.z);
  write_metrics(file, metrics);
  std::fputs("},\n    \"lines\": [", file);
  write_lines(file, launch.totals, places);
  std::fputs("]}", file);
}

}  // namespace

void write_trace(const std::string& path, const char* compiler,
                 const std::map<std::uint64_t, TracedLaunch>& launches) {
  FILE* file = path == "-" ? stdout : std::fopen(path.c_str(), "w");
  if (!file) {
    std::fprintf(stderr, "error: SIMT_TRACE=%s cannot be written\n", path.c_str());
    return;
  }
  std::set<Place> all;
  for (const auto& launch : launches)
    for (const auto& place : launch.second.totals.places) all.insert(place.first);
  const Places places = source_places({all.begin(), all.end()});
  std::fprintf(file, "{\"compiler\": \"%s\", \"kernels\": [", compiler);
  const char* separator = "\n  ";
  for (const auto& launch : launches) {
    if (launch.second.totals.places.empty()) continue;  // no traced code
    std::fputs(separator, file);
    write_launch(file, launch.second, places);
    separator = ",\n  ";
  }
  std::fputs("\n]}\n", file);
  if (file != stdout) std::fclose(file);
}

}  // namespace simt
