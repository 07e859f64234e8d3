// SPDX-License-Identifier: MIT
//
// Properties, measured limits and the roofline; then the two ladders, as every day has them.

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

#include "common/device.h"
#include "common/error.h"
#include "common/limits.h"
#include "common/run_day.h"
#include "day16_device_query/host_limits.h"
#include "day16_device_query/properties.h"
#include "day16_device_query/roofline.h"

namespace day16 {
namespace {

constexpr int kFailed = 1, kUsage = 2, kMachine = 3;  // exit codes, as run_day's

struct Flags {
  bool properties = false;  // --properties: these alone
  bool help = false;
  // Any flag of run_day but --json and --color, right or wrong: it gets its answer without a measurement.
  bool ladders_only = false;
  bool json_to_stdout = false;             // --json -: no text beside it
  std::string json;                        // --json FILE
  std::string svg = "build/roofline.svg";  // --svg FILE
  std::string error;
  std::vector<char*> rest;  // what run_day gets
};

Flags parse(int argc, char** argv) {
  Flags flags;
  flags.rest.push_back(argv[0]);
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    if (flag == "--properties") {
      flags.properties = true;
    } else if (flag == "--svg") {
      if (i + 1 == argc) flags.error = "--svg needs a file name.  --svg roofline.svg";
      if (i + 1 < argc) flags.svg = argv[++i];
    } else {
      flags.help = flags.help || flag == "--help" || flag == "-h";
      const bool with_value = flag == "--json" || flag == "--color";
      if (!with_value) flags.ladders_only = true;
      if (flag == "--json" && i + 1 < argc) flags.json = argv[i + 1];
      if (with_value && i + 1 < argc) flags.rest.push_back(argv[i++]);
      flags.rest.push_back(argv[i]);
    }
  }
  flags.json_to_stdout = flags.json == "-";
  return flags;
}

bool write_file(const std::string& path, const std::string& text) {
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  std::error_code ignored;  // a folder that could not be made shows when the file is opened
  if (!parent.empty()) std::filesystem::create_directories(parent, ignored);
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) std::fprintf(stderr, "error: cannot write %s\n", path.c_str());
  return static_cast<bool>(file);
}

// Three intensities that the notes work out: 4 bytes in, 4 in, 4 out for an addition; 2 * 32^3 operations on
// two tiles of 32 x 32 floats; 2 * 4096^3 operations on three matrices, each moved once.
std::vector<Marker> markers() {
  return {{"vector_add", 1.0 / 12}, {"matmul, tiles of 32 x 32", 8}, {"matmul 4096\u00b3", 4096.0 / 6}};
}

// A CPU's roofline, said to be one: kernels that run on a CPU tell nothing about a GPU's speed.
Roofline host_roofline() {
  const HostLimits host = measure_host();
  std::printf("\nmeasured on this CPU, with %d threads (%s); no GPU here\n", host.threads, host.name.c_str());
  std::printf("  copy, read + write                  %.1f GB/s\n", host.copy_gb_per_s);
  std::printf("  %-35s %.0f GFLOP/s\n", host.instructions.c_str(), host.fma_gflops);
  return {"Roofline of a CPU, not of a GPU: " + host.name,
          "measured with " + std::to_string(host.threads) + " threads by ./days run 16",
          {"copy", host.copy_gb_per_s},
          {{host.instructions, host.fma_gflops}},
          markers()};
}

Roofline device_roofline(const days::Device& device) {
  std::printf("\nmeasured now                            burst   sustained\n");
  double copy = 0, ffma = 0;
  for (const days::Mix mix : days::kMixes) {
    const days::Ceiling limit = days::bandwidth_limit(mix, 1.0).value_or(days::Ceiling{});
    std::printf("  %-34s %6.0f %10.0f  GB/s\n", days::mix_name(mix), limit.burst / 1e9,
                limit.sustained / 1e9);
    if (mix == days::Mix::kCopy) copy = limit.burst;
  }
  const days::Ceiling limit = days::rate_limit(days::Rate::ffma, 1.0).value_or(days::Ceiling{});
  ffma = limit.burst;
  std::printf("  %-34s %6.1f %10.1f  TFLOP/s\n", days::rate_name(days::Rate::ffma), limit.burst / 1e12,
              limit.sustained / 1e12);
  return {
      "Roofline of " + device.name,
      device.sm() + ", " + std::to_string(device.multiprocessors) + " SMs, burst, measured by ./days run 16",
      {"copy", copy / 1e9},
      {{"FFMA fp32", ffma / 1e9}},
      markers()};
}

int show_device(const Flags& flags) {
  const std::vector<Property> properties = device_properties();
  if (flags.properties && flags.json_to_stdout) {
    std::printf("%s\n", as_json(properties).c_str());
    return 0;
  }
  std::printf("%s", as_text(properties).c_str());
  if (flags.properties)
    return flags.json.empty() || write_file(flags.json, as_json(properties) + "\n") ? 0 : kUsage;

  const days::Device& device = days::current_device();
  const Roofline roofline = device.simt ? host_roofline() : device_roofline(device);
  std::printf("  ridge                               %.1f FLOP/byte\n",
              ridge(roofline, roofline.rates.front()));
  if (!write_file(flags.svg, roofline_svg(roofline))) return kUsage;
  std::printf("\nroofline: %s\n\n", flags.svg.c_str());
  std::fflush(stdout);
  return 0;
}

int run(int argc, char** argv) {
  Flags flags = parse(argc, argv);
  if (!flags.error.empty()) {
    std::fprintf(stderr, "error: %s\n", flags.error.c_str());
    return kUsage;
  }
  if (flags.properties && flags.ladders_only) {
    std::fprintf(stderr, "error: --properties runs no ladder: beside it go --json FILE and --color alone\n");
    return kUsage;
  }
  if (flags.properties || (!flags.ladders_only && !flags.json_to_stdout)) {
    try {
      const int code = show_device(flags);
      if (code != 0 || flags.properties) return code;
    } catch (const days::CudaError& error) {
      const std::string machine = days::machine_error(error.code());
      if (machine.empty()) {
        std::fprintf(stderr, "error: %s\n", error.what());
        return kFailed;
      }
      std::fprintf(stderr, "error: %s\n  ./days doctor\n", machine.c_str());
      return kMachine;
    }
  }
  const int code = days::run_day(static_cast<int>(flags.rest.size()), flags.rest.data());
  if (flags.help) {
    std::printf(
        "\nThis day alone:\n  --properties    the device's properties and nothing else; with --json as JSON\n"
        "  --svg FILE      where the roofline goes (build/roofline.svg)\n");
  }
  return code;
}

}  // namespace
}  // namespace day16

int main(int argc, char** argv) {
  return day16::run(argc, argv);
}
