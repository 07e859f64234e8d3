// SPDX-License-Identifier: MIT
//
// Which mutant a program runs with, where it was built with mutants (translator/rewrite_mutants.cpp):
//
//   SIMT_MUTANT=17              that one, by its number in the build's list
//   SIMT_MUTANT=reached:FILE    none; at exit the numbers of all that kernels came by are appended to FILE
//
// A mutant is one in kernels alone: where the host calls the same function, for a reference perhaps, it is
// right.
#include "simt/mutants.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <unordered_set>

#include "simt/runtime.h"

namespace simt {
namespace {

constexpr char kReached[] = "reached:";

struct Reached {
  std::mutex mutex;
  std::unordered_set<std::uint32_t> ids;
  std::string file;
};
Reached& reached() {
  static Reached* all = new Reached;
  return *all;
}

// One write() for all, as several programs may append to the file.
void write_reached() {
  std::lock_guard<std::mutex> lock(reached().mutex);
  std::string text;
  for (const std::uint32_t id : reached().ids) text += std::to_string(id) + "\n";
  const int file = open(reached().file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0 || write(file, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    std::fprintf(stderr, "error: SIMT_MUTANT: cannot write %s\n", reached().file.c_str());
  if (file >= 0) close(file);
}

std::uint32_t from_environment() {
  const char* text = std::getenv("SIMT_MUTANT");
  if (!text || !*text) return 0;
  constexpr std::size_t kStart = sizeof(kReached) - 1;
  if (std::strncmp(text, kReached, kStart) == 0 && text[kStart]) {
    reached().file = text + kStart;
    std::atexit(write_reached);
    return 1;
  }
  char* end;
  const unsigned long id = std::strtoul(text, &end, 10);
  if (*end || *text < '0' || *text > '9' || id == 1 || id > 0xfffffffful) {
    std::fprintf(stderr, "error: SIMT_MUTANT=%s must be a mutant's number, or reached:FILE\n", text);
    std::exit(2);
  }
  return static_cast<std::uint32_t>(id);
}

}  // namespace

std::uint32_t mutant_of_this_run = from_environment();

bool mutant_is_reached(std::uint32_t id) {
  if (mutant_of_this_run != 1) return in_kernel();
  thread_local std::uint32_t noted[4096];  // most come by again and again
  std::uint32_t& last = noted[id % 4096];
  if (last != id && in_kernel()) {
    std::lock_guard<std::mutex> lock(reached().mutex);
    reached().ids.insert(id);
    last = id;
  }
  return false;
}

}  // namespace simt
