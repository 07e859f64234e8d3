// SPDX-License-Identifier: MIT
//
// Hardware faults inside kernels become reports, and the watchdog ends kernels that run too long. The handler
// runs on a stack of its own and leaves it by a context switch to the worker's main stack, as siglongjmp
// would. Faults outside kernels go to whoever handled them before, but for those of host code in device
// memory.
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "device_memory.h"
#include "doubts.h"
#include "operations.h"
#include "shared_memory.h"
#include "vector_operand.h"
#include "workers.h"

namespace simt {
namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
constexpr int kInterrupt = SIGURG;  // from the watchdog; ignored by default, so a late one does no harm
constexpr std::size_t kSignalStack = 256 * 1024;
constexpr const char* kStackOverflow = "stack overflow";  // the title of that report
struct sigaction previous[NSIG];

void* interrupted_instruction(void* context) {
  auto* c = static_cast<ucontext_t*>(context);
#if defined(__APPLE__) && defined(__x86_64__)
  return reinterpret_cast<void*>(c->uc_mcontext->__ss.__rip);
#elif defined(__APPLE__)
  return reinterpret_cast<void*>(c->uc_mcontext->__ss.__pc);
#elif defined(__x86_64__)
  return reinterpret_cast<void*>(c->uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return reinterpret_cast<void*>(c->uc_mcontext.pc);
#else
  (void)c;
  return nullptr;
#endif
}

// Where the stack of the interrupted function ends.
const char* interrupted_stack(void* context) {
  auto* c = static_cast<ucontext_t*>(context);
#if defined(__APPLE__) && defined(__x86_64__)
  return reinterpret_cast<const char*>(c->uc_mcontext->__ss.__rsp);
#elif defined(__APPLE__)
  return reinterpret_cast<const char*>(c->uc_mcontext->__ss.__sp);
#elif defined(__x86_64__)
  return reinterpret_cast<const char*>(c->uc_mcontext.gregs[REG_RSP]);
#elif defined(__aarch64__)
  return reinterpret_cast<const char*>(c->uc_mcontext.sp);
#else
  (void)c;
  return nullptr;
#endif
}

const char* access_verb(void* context) {
#if defined(__linux__) && defined(__x86_64__)
  return static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_ERR] & 2 ? "writes" : "reads";
#else
  (void)context;
  return "accesses";
#endif
}

// The frames of the kernel, without those of the handler.
std::vector<void*> kernel_frames(void* instruction) {
  std::vector<void*> frames = capture_frames(32);
  void* first = static_cast<char*>(instruction) + 1;  // lines_of() wants a return address
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (frames[i] != first) continue;
    frames.erase(frames.begin(), frames.begin() + static_cast<std::ptrdiff_t>(i));
    return frames;
  }
  return {first};
}

// A frame that is too large faults in the prologue of its function. Where a kernel was inlined into the runtime's code, that
// is a line of the runtime's; the kernel's own lines begin with the body, some instructions later.
std::vector<void*> frames_of_overflow(std::vector<void*> frames) {
  const auto of_user = [](void* frame) {
    const std::vector<Line> lines = lines_of(frame);
    return std::any_of(lines.begin(), lines.end(), [](const Line& line) { return line.user; });
  };
  if (std::any_of(frames.begin(), frames.end(), of_user)) return frames;
  for (const int bytes : {32, 48, 64, 96, 128, 192}) {  // few, because a look-up may start another program
    void* later = static_cast<char*>(frames.front()) + bytes;
    if (!of_user(later)) continue;
    frames.front() = later;
    break;
  }
  return frames;
}

// An array that is larger than the guard may reach beyond it, but the frame that has it begins there as well.
Failure describe_memory_fault(const char* address, const char* verb, const char* stack_end) {
  const Thread& thread = *current;
  const char* const usable = thread.stack + kStackGuard;
  const bool in_guard = address >= thread.stack && address < usable;
  const bool frame_outside = stack_end &&
                             (stack_end < usable || stack_end > usable + options().stack_bytes) &&
                             !is_near_arena(address);
  if (in_guard || frame_outside) {
    return failure_here(
        "simt-oob-local",
        format_text("%s\n"
                    "A thread's local variables and calls need more than %zu KiB.\n"
                    "SIMT_STACK=%zu gives each thread so many KiB; on a GPU it has 512 at most.",
                    kStackOverflow, options().stack_bytes / 1024, options().stack_bytes / 256));
  }
  if (is_shared(address)) {
    return failure_here("simt-oob-shared",
                        format_text("out of bounds on shared memory\nThe thread %s at %s.", verb,
                                    describe_shared(*thread.block, address).c_str()));
  }
  Allocation near;
  if (is_near_arena(address) && nearest_allocation(address, &near)) {
    if (!near.live && address >= near.base && address < near.base + near.bytes) {
      return failure_here(
          "simt-use-after-free",
          format_text("use of freed global memory\nThe thread %s byte %td of %s that was freed.", verb,
                      address - near.base, buffer_text(near).c_str()));
    }
    return failure_here("simt-oob-global", format_text("out of bounds on global memory\nThe thread %s %s.",
                                                       verb, beside_nearest(address).c_str()));
  }
  if (reinterpret_cast<std::uintptr_t>(address) < 65536) {
    return failure_here("simt-oob-global",
                        format_text("null pointer\nThe thread %s address %p: a null pointer, or close to it.",
                                    verb, static_cast<const void*>(address)));
  }
  return failure_here("simt-oob-global",
                      format_text("out of bounds on global memory\nThe thread %s address %p, which belongs "
                                  "to no buffer: a wild pointer or index.",
                                  verb, static_cast<const void*>(address)));
}

// The faults that name no address (12 where it was counted from rsp or rbp): a vector at an address that is not aligned, or an address that no memory
// can have.
bool is_protection_fault(const siginfo_t* info, void* context) {
#if defined(__linux__) && defined(__x86_64__)
  const long long trap = static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_TRAPNO];
  return info->si_code == SI_KERNEL && (trap == 12 || trap == 13);
#else
  (void)info;
  (void)context;
  return false;
#endif
}

Failure describe_protection_fault(void* context) {
#if defined(__linux__) && defined(__x86_64__)
  const auto* g = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  constexpr int kRegisters[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
  unsigned long long registers[16];
  for (int i = 0; i < 16; ++i) registers[i] = static_cast<unsigned long long>(g[kRegisters[i]]);
  const VectorOperand operand =
      vector_operand(static_cast<const unsigned char*>(interrupted_instruction(context)), registers);
  if (operand.bytes != 0 && reinterpret_cast<std::uintptr_t>(operand.address) % operand.bytes != 0)
    return failure_here("simt-misaligned", misaligned_access("The thread", operand.write, operand.address,
                                                             operand.bytes, operand.bytes));
#else
  (void)context;
#endif
  return failure_here(
      "simt-oob-global",
      "out of bounds on global memory\nThe thread accesses an address that no memory can have: a "
      "wild pointer or index.");
}

// Stopping a fiber inside the C library could leave a lock held for ever: only the program's own code is
// stopped.
bool in_program(void* instruction) {
  Dl_info there, here;
  return dladdr(instruction, &there) && dladdr(reinterpret_cast<void*>(&in_program), &here) &&
         there.dli_fbase == here.dli_fbase;
}

void handle(int signal, siginfo_t* info, void* context) {
  const OwnWork own;
  void* instruction = interrupted_instruction(context);
  if (signal == kInterrupt) {
    if (!current || !worker->launch->timed_out || !in_program(instruction)) return;
    Failure failure =
        failure_here("simt-hang", format_text("the kernel runs for more than %g s\n%s",
                                              options().timeout_seconds, who_waits_where(*worker).c_str()));
    failure.frames = kernel_frames(instruction);
    abandon(std::move(failure));
  }
  // What raise() or kill() sent is no fault of the kernel or of an access.
  const bool sent = info->si_code <= 0 || info->si_code == SI_USER;
  if (current && !sent) {
    Failure failure;
    switch (signal) {
      case SIGFPE:
        failure = failure_here("simt-division", "integer division by zero");
        break;
      case SIGILL:
        failure = failure_here("simt-illegal-instruction", "illegal instruction, or __trap()");
        break;
      default:
        failure = is_protection_fault(info, context)
                      ? describe_protection_fault(context)
                      : describe_memory_fault(static_cast<const char*>(info->si_addr), access_verb(context),
                                              interrupted_stack(context));
    }
    failure.frames = kernel_frames(instruction);
    if (failure.title == kStackOverflow) failure.frames = frames_of_overflow(std::move(failure.frames));
    abandon(std::move(failure));
  }
  const char* address = static_cast<const char*>(info->si_addr);
  const bool access = signal == SIGSEGV || signal == SIGBUS;
  if (!sent && checked_build && access && !worker && !in_operation() && is_near_arena(address))
    report_host_fault(address, access_verb(context), kernel_frames(instruction));
  const struct sigaction& before = previous[signal];
  if (before.sa_flags & SA_SIGINFO) {
    before.sa_sigaction(signal, info, context);
  } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
    before.sa_handler(signal);
  } else if (!sent || before.sa_handler == SIG_DFL) {
    sigaction(signal, &before, nullptr);  // the instruction faults again and takes the default way
    if (sent) raise(signal);              // and a signal that was sent comes once more
  }
}

// ---- watchdog ----

struct Watch {
  std::mutex mutex;
  std::vector<pthread_t> threads;  // OS threads that run kernels
};
Watch& watch() {
  static Watch* watch = new Watch;
  return *watch;
}

// After so long without a new block, the workers look whether anybody can go on.
constexpr auto kSuspicious = std::chrono::milliseconds(600);

// How long blocks before one that has failed may take to fail, too. They may wait for what it would have written.
constexpr auto kGrace = std::chrono::seconds(1);

// A launch that still hands out blocks gets on, however long it takes. Kernels that reach a tick() after the
// limit stop there; the others are interrupted a moment later.
void watch_launches() {
  using Clock = std::chrono::steady_clock;
  const auto limit = std::chrono::duration<double>(options().timeout_seconds);
  LaunchProgress seen;
  Clock::time_point since = Clock::now();
  for (;;) {
    std::this_thread::sleep_for(
        std::min<std::chrono::duration<double>>(limit / 10, std::chrono::milliseconds(100)));
    const LaunchProgress now = launch_progress();
    if (now.number != seen.number || now.handed_out != seen.handed_out || now.number % 2 == 0) {
      seen = now;
      since = Clock::now();
      continue;
    }
    if (Clock::now() - since > kGrace && stop_failed_launch(now.number)) continue;
    if (Clock::now() - since > kSuspicious) ask_for_look(now.number);
    if (Clock::now() - since < limit) continue;
    if (!time_out_launch(now.number) || Clock::now() - since < limit + std::chrono::milliseconds(500))
      continue;
    std::lock_guard<std::mutex> lock(watch().mutex);
    for (const pthread_t thread : watch().threads) pthread_kill(thread, kInterrupt);
  }
}

}  // namespace

void install_fault_handlers() {
  static const bool installed = [] {
    struct sigaction action = {};
    action.sa_sigaction = handle;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;  // the handler need not return
    sigemptyset(&action.sa_mask);
    for (const int signal : kSignals) sigaction(signal, &action, &previous[signal]);
    action.sa_flags |= SA_RESTART;
    sigaction(kInterrupt, &action, &previous[kInterrupt]);
    return true;
  }();
  (void)installed;
}

void enter_fault_stack() {
  static thread_local bool entered = false;
  if (entered) return;
  entered = true;
  void* memory = mmap(nullptr, kSignalStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  stack_t stack = {};
  stack.ss_sp = memory;
  stack.ss_size = kSignalStack;
  sigaltstack(&stack, nullptr);
  std::lock_guard<std::mutex> lock(watch().mutex);
  watch().threads.push_back(pthread_self());
}

void start_watchdog() {
  static const bool started = [] {
    std::thread(watch_launches).detach();
    ++runtime_threads;
    return true;
  }();
  (void)started;
}

}  // namespace simt
