// SPDX-License-Identifier: MIT
//
// A kernel's access to an inaccessible page, and its division by zero, become reports. The handler leaves the
// signal by switching to the worker's scheduler; the faulting fiber is never resumed.
#include <driver_types.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <cstdlib>
#include <mutex>

#include "memory.h"
#include "report.h"

namespace simt {

static struct sigaction previous_segv, previous_bus, previous_fpe;

static const void* program_counter(void* context) {
  auto* c = static_cast<ucontext_t*>(context);
#if defined(__linux__) && defined(__x86_64__)
  return reinterpret_cast<const void*>(c->uc_mcontext.gregs[REG_RIP]);
#elif defined(__linux__) && defined(__aarch64__)
  return reinterpret_cast<const void*>(c->uc_mcontext.pc);
#elif defined(__APPLE__) && defined(__x86_64__)
  return reinterpret_cast<const void*>(c->uc_mcontext->__ss.__rip);
#elif defined(__APPLE__) && defined(__aarch64__)
  return reinterpret_cast<const void*>(c->uc_mcontext->__ss.__pc);
#else
  (void)c;
  return nullptr;
#endif
}

static void on_fault(int signal, siginfo_t* info, void* context) {
  if (!current) {  // not ours: as if we had never been here
    sigaction(signal,
              signal == SIGSEGV  ? &previous_segv
              : signal == SIGBUS ? &previous_bus
                                 : &previous_fpe,
              nullptr);
    return;
  }
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  const auto* pc = static_cast<const char*>(program_counter(context)) + 1;  // place() takes return addresses
  if (signal == SIGFPE) fail_at(pc, "simt-launch", "integer division by zero");
  if (in_guard_of_a_stack(info->si_addr)) {
    fail_at(pc, "simt-oob-local",
            "stack overflow: local variables and calls need more than %zu KiB (SIMT_STACK)",
            settings().stack / 1024);
  }
  const char* shared = current->block->shared;
  const auto* at = static_cast<const char*>(info->si_addr);
  if (at >= shared && at < shared + shared_area_size() + page_size()) {
    fail_at(pc, "simt-oob-shared", "out of bounds on shared memory: %s",
            at >= current->block->dynamic ? "past the end of dynamic shared memory"
                                          : "past the static variables or before the dynamic memory");
  }
  const Blame b = blame(info->si_addr);
  if (b.freed) fail_at(pc, "simt-use-after-free", "use after free on global memory: %s", b.text.c_str());
  fail_at(pc, "simt-oob-global", "out of bounds on global memory: %s", b.text.c_str());
}

void install_fault_handlers() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, &previous_segv);
    sigaction(SIGBUS, &action, &previous_bus);
    sigaction(SIGFPE, &action, &previous_fpe);
  });
}

void use_fault_stack() {
  static thread_local bool done = false;
  if (done) return;
  done = true;
  stack_t stack{};
  stack.ss_size = 256 * 1024;
  stack.ss_sp = mmap(nullptr, stack.ss_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  sigaltstack(&stack, nullptr);
}

}  // namespace simt
