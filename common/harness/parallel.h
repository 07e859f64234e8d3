// SPDX-License-Identifier: MIT
// Part of instance.cpp: parallel.h's definitions.
#pragma once

#include <algorithm>
#include <thread>
#include <vector>

#include "common/parallel.h"

namespace days {

size_t cpu_threads() {
  static const size_t threads = std::max(1u, std::thread::hardware_concurrency());  // which reads a file
  return threads;
}

size_t parallel_ranges(size_t n, const Function<void(size_t, size_t, size_t)>& body, size_t grain) {
  const size_t parts = std::max<size_t>(1, std::min(cpu_threads(), n / grain));
  const auto run = [&](size_t part) {
    body(part, n / parts * part, part + 1 == parts ? n : n / parts * (part + 1));
  };
  std::vector<std::thread> threads;
  for (size_t part = 1; part < parts; ++part) threads.emplace_back(run, part);
  run(0);
  for (std::thread& thread : threads) thread.join();
  return parts;
}

}  // namespace days
