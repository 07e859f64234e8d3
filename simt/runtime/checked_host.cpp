// SPDX-License-Identifier: MIT
//
// Checked builds: host code that touches device memory, and kernels that touch the host's. A GPU has neither
// on most machines, and a CPU always has both.
//
// What a kernel may touch besides device memory: its arguments, its stack, variables of the program and its
// libraries, memory that the program registered. Calls from simt's own headers pass, whatever they touch.
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "checked.h"
#include "device_memory.h"
#include "doubts.h"
#include "simt/host_loops.h"

#ifdef __linux__
#include <link.h>
#endif
#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace simt {
namespace {

#ifdef __GLIBC__
// One heap for all that the host allocates: glibc would make others for its threads, and mappings of their
// own for large blocks, where find_mapping cannot tell whose they are.
[[gnu::constructor]] void share_one_heap() {
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_MMAP_MAX, 0);
}
#endif

bool is_users(void* caller) {
  const std::vector<Line> lines = lines_of(caller);
  return !lines.empty() && lines[0].user;
}

struct Range {
  std::uintptr_t begin = 0, end = 0;
  bool holds(const char* p) const {
    const auto address = reinterpret_cast<std::uintptr_t>(p);
    return address >= begin && address < end;
  }
};

// The mapping of /proc/self/maps that holds p, and its name: "[heap]", "[stack]", a file; none of other memory.
Range find_mapping(const char* p, std::string* name) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    Range range;
    char dash;
    std::istringstream text(line);
    text >> std::hex >> range.begin >> dash >> range.end;
    if (!range.holds(p)) continue;
    const std::size_t begin = line.find_first_of("[/");
    *name = begin == std::string::npos ? "" : line.substr(begin);
    return range;
  }
  return {};
}

// Code of the C or C++ library, say, which may come with the lines of its own source.
bool in_system_library(void* return_address) {
  Dl_info info;
  if (!dladdr(static_cast<char*>(return_address) - 1, &info) || !info.dli_fname) return false;
  const std::string name = info.dli_fname;
  return name.compare(0, 4, "/lib") == 0 || name.compare(0, 8, "/usr/lib") == 0;
}

// Variables of a library that begin as zeros lie in memory that no file backs, and so do the thread's own, which simt's headers use.
#ifdef __linux__
bool in_library(const char* p, Range* range) {
  struct Search {
    std::uintptr_t p;
    Range* range;
  } search{reinterpret_cast<std::uintptr_t>(p), range};
  return dl_iterate_phdr(
             [](dl_phdr_info* module, std::size_t, void* data) {
               const auto& s = *static_cast<Search*>(data);
               for (int i = 0; i < module->dlpi_phnum; ++i) {
                 const auto& segment = module->dlpi_phdr[i];
                 // This thread's own variables of the module, or all others.
                 const bool own = segment.p_type == PT_TLS && module->dlpi_tls_data;
                 const std::uintptr_t begin = own ? reinterpret_cast<std::uintptr_t>(module->dlpi_tls_data)
                                                  : module->dlpi_addr + segment.p_vaddr;
                 if ((!own && segment.p_type != PT_LOAD) || s.p - begin >= segment.p_memsz) continue;
                 *s.range = {begin, begin + segment.p_memsz};
                 return 1;
               }
               return 0;
             },
             &search) != 0;
}
#else
bool in_library(const char* p, Range* range) {  // nobody here knows, so all passes
  *range = {reinterpret_cast<std::uintptr_t>(p), reinterpret_cast<std::uintptr_t>(p) + 1};
  return true;
}
#endif

const char* remedy(bool write) {
  return write ? "; cudaMemcpy brings data there." : "; cudaMemcpy brings them to the host.";
}

[[noreturn]] void end_with(const Failure& failure) {
  print_failure(failure, "");
  std::fflush(nullptr);
  _exit(1);  // a segmentation fault where there is a GPU
}

}  // namespace

void check_host_memory(const char* p, std::size_t bytes, bool write, void* caller) {
  if (reinterpret_cast<std::uintptr_t>(p) - worker->stacks_begin < worker->stacks_span) return;
  if (looks_up_lines()) return;
  const Launch& launch = *worker->launch;
  const char* closure = static_cast<const char*>(launch.closure);
  if (p >= closure && p < closure + launch.kernel->argument_bytes) return;
  if (in_module(reinterpret_cast<std::uintptr_t>(p))) return;
  // What has passed, as long as nothing is unregistered. Never destroyed: kernels may still run when the
  // program exits.
  static thread_local auto* passes = new std::vector<Range>;
  static thread_local unsigned since = 0;
  if (const unsigned now = times_unregistered(); now != since) {
    passes->clear();
    since = now;
  }
  for (const Range& range : *passes)
    if (range.holds(p)) return;
  static thread_local auto* places =
      new std::set<void*>;  // whose accesses to host memory are simt's own business
  if (places->count(caller)) return;
  const char* begin;
  const char* end;
  if (find_registered(p, &begin, &end)) {
    passes->push_back({reinterpret_cast<std::uintptr_t>(begin), reinterpret_cast<std::uintptr_t>(end)});
    return;
  }
  static thread_local bool looking =
      false;  // with the standard library's streams, which may call the checker
  if (looking) return;
  looking = true;
  std::string name;
  Range mapping;
  const bool library = in_library(p, &mapping);
  if (!library) mapping = find_mapping(p, &name);
  looking = false;
  if (!library && mapping.end == 0)
    return;  // no memory at all: the access faults, and the fault's report says more
  // Mapped memory without a name is a library's or simt's own, but where it surrounds the device's.
  constexpr std::uintptr_t kAround = std::uintptr_t{1} << 36;
  const bool around =
      reinterpret_cast<std::uintptr_t>(p) + kAround - reinterpret_cast<std::uintptr_t>(shadow.arena) <
      2 * kAround + shadow.arena_bytes;
  if (!library && name.empty() && !around) {
    passes->push_back(mapping);
    return;
  }
  const bool heap = name == "[heap]", stack = name == "[stack]";
  if (library || (!name.empty() && !heap && !stack)) {
    passes->push_back(mapping);
    return;
  }
  if (!is_users(caller)) {
    places->insert(caller);
    return;
  }
  if (!heap && !stack) {
    const std::string beside = beside_nearest(p);
    abandon(failure_of_access(
        caller, "simt-oob-global",
        format_text(
            "out of bounds on global memory\nThe thread %s %s at address %p, which belongs to no buffer%s%s.",
            write ? "writes" : "reads", bytes_text(bytes).c_str(), static_cast<const void*>(p),
            beside.empty() ? "" : ": ", beside.c_str())));
  }
  abandon(failure_of_access(
      caller, "simt-host-access",
      format_text("a kernel touches host memory\nThe thread %s %s %s. Kernels reach cudaMalloc's memory, "
                  "cudaMallocManaged's and what is pinned.",
                  write ? "writes" : "reads", bytes_text(bytes).c_str(),
                  heap ? "on the host's heap (malloc, new, std::vector)"
                       : "on the stack of the host's thread (a local variable)")));
}

bool is_hosts(const volatile void* address) {
  return !current && !worker &&
         reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(shadow.arena) >=
             shadow.arena_bytes &&
         !may_be_managed(const_cast<const void*>(address));
}

// By host code.
void check_managed_variable(const char* p, std::size_t bytes, Access access, Strength strength,
                            void* caller) {
  Variable found;
  if (find_variable(p, &found) && found.kind == VariableKind::managed)
    note_host_access(p, bytes, access == Access::read && strength == Strength::plain, caller);
}

void check_host_code(const char* p, std::size_t bytes, Access access, Strength strength, void* caller) {
  Allocation found;
  if (!find_allocation(p, &found)) return;
  if (found.kind != MemoryKind::device)
    return note_host_access(p, bytes, access == Access::read && strength == Strength::plain, caller);
  const bool write = access != Access::read;
  if (!is_users(caller)) return;
  Failure failure = failure_of_access(
      caller, "simt-host-access",
      format_text("host code touches device memory\nIt %s %s of a buffer of %s from cudaMalloc%s",
                  write ? "writes" : "reads", bytes_text(bytes).c_str(), bytes_text(found.bytes).c_str(),
                  remedy(write)));
  end_with(failure);
}

// Code that is not instrumented: host files other than .cu, libraries.
void report_host_fault(const char* address, const char* verb, std::vector<void*> frames) {
  Allocation found;
  if (!nearest_allocation(address, &found)) found = {};
  const std::ptrdiff_t at = address - found.base, bytes = static_cast<std::ptrdiff_t>(found.bytes);
  const std::string where = at < 0        ? bytes_text(static_cast<std::size_t>(-at)) + " before"
                            : at >= bytes ? past_end_of(at - bytes)
                                          : format_text("byte %td of", at);
  const bool device = found.kind == MemoryKind::device, write = std::strcmp(verb, "writes") == 0;
  const std::string buffer = format_text("It %s %s a %sbuffer of %s%s", verb, where.c_str(),
                                         device ? "" : (std::string(kind_name(found.kind)) + " ").c_str(),
                                         bytes_text(found.bytes).c_str(), device ? " from cudaMalloc" : "");
  Failure failure;
  if (device) {
    failure = failure_here("simt-host-access", "host code touches device memory\n" + buffer +
                                                   (found.live ? remedy(write) : ", which was freed."));
  } else if (found.live) {
    failure = failure_here("simt-oob-global", "out of bounds on global memory\n" + buffer + ".");
  } else {
    failure =
        failure_here("simt-use-after-free", "use of freed global memory\n" + buffer + ", which was freed.");
  }
  frames.erase(std::remove_if(frames.begin(), frames.end(), in_system_library), frames.end());
  failure.frames = std::move(frames);
  end_with(failure);
}

}  // namespace simt
