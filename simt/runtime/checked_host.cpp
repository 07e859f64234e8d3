// SPDX-License-Identifier: MIT
//
// Checked builds: host code that touches device memory, and kernels that touch the host's. A GPU has neither
// on most machines, and a CPU always has both.
//
// What a kernel may touch besides device memory: its arguments, the stacks of kernels, variables of the program
// and its libraries, memory that the program registered. Whatever else is mapped is the host's.
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
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

__thread std::uintptr_t own_variables, own_variables_bytes;

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

// What /proc/self/maps says of the memory at p: "[heap]", "[stack]", a file's path, "memory" where it has no
// name; "" of addresses at which there is no memory to touch.
std::string mapping_of(const char* p) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    Range range;
    char dash;
    std::string allowed;
    std::istringstream text(line);
    text >> std::hex >> range.begin >> dash >> range.end >> allowed;
    if (!range.holds(p)) continue;
    if (allowed.compare(0, 3, "---") == 0) return "";
    const std::size_t begin = line.find_first_of("[/");
    return begin == std::string::npos ? "memory" : line.substr(begin);
  }
  return "";
}

std::string name_of_mapping(const std::string& mapping) {
  if (mapping == "[heap]") return "on the host's heap (malloc, new, std::vector)";
  if (mapping == "[stack]") return "on the stack of the host's thread (a local variable)";
  if (mapping[0] == '/') return "in a file that the host has mapped";
  return "in memory that the host has mapped (another thread's stack, say)";
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

// The lanes of a collective lie on the heap, and simt's headers, which the checker looks at as well, combine them.
bool is_of_warps(const char* p) {
  const auto address = reinterpret_cast<std::uintptr_t>(p);
  return std::any_of(worker->resident.begin(), worker->resident.end(), [&](const Block* block) {
    return address - reinterpret_cast<std::uintptr_t>(block->warps.data()) <
           block->warps.size() * sizeof(Warp);
  });
}

// The first of an access's callers that is no function of the standard library says whether a kernel makes it. The
// runtime's memory lies among the host's, and it may have got such functions from an instrumented file (OwnWork).
enum class Whose : std::uint8_t { nobodys, kernels, runtimes };
Whose whose(void* frame) {
  static thread_local auto* known = new std::map<void*, Whose>;
  const auto found = known->find(frame);
  if (found != known->end()) return found->second;
  Whose result = Whose::nobodys;
  for (const Line& line : lines_of(frame)) {
    if (is_system_file(line.file)) continue;
    result = is_runtime_file(line.file) ? Whose::runtimes : Whose::kernels;
    break;
  }
  return (*known)[frame] = result;
}
bool is_kernels(void* caller) {
  Whose result = whose(caller);
  if (result != Whose::nobodys) return result == Whose::kernels;
  const std::vector<void*> frames = capture_frames(32);
  for (auto frame = std::find(frames.begin(), frames.end(), caller);
       frame != frames.end() && result == Whose::nobodys; ++frame)
    result = whose(*frame);
  return result == Whose::kernels;
}

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
  if (is_of_warps(p)) return;
  const OwnWork own;
  const char* begin;
  const char* end;
  if (find_registered(p, &begin, &end)) {
    passes->push_back({reinterpret_cast<std::uintptr_t>(begin), reinterpret_cast<std::uintptr_t>(end)});
    return;
  }
  Range range;
  if (in_library(p, &range)) {
    if (range.holds(reinterpret_cast<const char*>(&own_variables))) {
      own_variables = range.begin;
      own_variables_bytes = range.end - range.begin;
    }
    passes->push_back(range);
    return;
  }
  if (!is_kernels(caller)) return;
  const std::string mapping = mapping_of(p);
  if (mapping.empty()) return;  // the access faults, and the fault's report says more
  const char* const verb = write ? "writes" : "reads";
  if (in_shadow(p))
    abandon(failure_of_access(
        caller, "simt-oob-global",
        format_text("out of bounds on global memory\nThe thread %s %s at address %p, which belongs to no "
                    "buffer: a wild pointer or index.",
                    verb, bytes_text(bytes).c_str(), static_cast<const void*>(p))));
  abandon(failure_of_access(
      caller, "simt-host-access",
      format_text("a kernel touches host memory\nThe thread %s %s %s. Kernels reach cudaMalloc's memory, "
                  "cudaMallocManaged's and what is pinned.",
                  verb, bytes_text(bytes).c_str(), name_of_mapping(mapping).c_str())));
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
