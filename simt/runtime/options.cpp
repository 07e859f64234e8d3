// SPDX-License-Identifier: MIT
//
// What the environment says about how kernels run, and the shuffled order.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "options.h"

namespace simt {
namespace {

double number_from_environment(const char* name, double fallback, double least) {
  const char* text = std::getenv(name);
  if (!text || !*text) return fallback;
  char* end;
  const double value = std::strtod(text, &end);
  if (*end || !(value >= least)) {
    std::fprintf(stderr, "error: %s=%s must be a number of at least %g\n", name, text, least);
    std::exit(2);
  }
  return value;
}

Options read_options() {
  Options o{};
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  o.threads = static_cast<int>(number_from_environment("SIMT_THREADS", cores, 1));
  o.timeout_seconds = number_from_environment("SIMT_TIMEOUT", 60, 0.001);
  o.stack_bytes =
      (static_cast<std::size_t>(number_from_environment("SIMT_STACK", 128, 16)) * 1024 + 65535) & ~65535ul;
  o.lenient = number_from_environment("SIMT_LENIENT", 0, 0) != 0;
  o.fp8_sum_bits = static_cast<int>(number_from_environment("SIMT_FP8_SUMS", 0, 0));
  const char* streams = std::getenv("SIMT_STREAMS");
  o.streams_now = streams && std::string(streams) == "now";
  if (streams && *streams && !o.streams_now && std::string(streams) != "late") {
    std::fprintf(stderr, "error: SIMT_STREAMS=%s must be late or now\n", streams);
    std::exit(2);
  }
  const char* order = std::getenv("SIMT_ORDER");
  const std::string name = order ? order : "normal";
  if (name == "normal" || name.empty()) {
    o.order = Order::normal;
  } else if (name == "reversed") {
    o.order = Order::reversed;
  } else if (name == "shuffle" || name.rfind("shuffle:", 0) == 0) {
    o.order = Order::shuffle;
    o.seed = name.size() > 8 ? std::strtoull(name.c_str() + 8, nullptr, 10) : 1;
  } else {
    std::fprintf(stderr, "error: SIMT_ORDER=%s must be normal, reversed, shuffle or shuffle:SEED\n", order);
    std::exit(2);
  }
  return o;
}

}  // namespace

namespace {
Options& changeable_options() {
  static Options* o = new Options(read_options());
  return *o;
}
}  // namespace

const Options& options() {
  return changeable_options();
}

void set_order(Order order, std::uint64_t seed) {
  changeable_options().order = order;
  changeable_options().seed = seed;
}

void require_whole_barriers(bool whole) {
  changeable_options().whole_barriers = whole;
}

bool returned_count_as_arrived() {
  return options().lenient || !(checked_build || options().whole_barriers);
}

void reset_order() {
  const Options from_environment = read_options();
  set_order(from_environment.order, from_environment.seed);
}

}  // namespace simt
