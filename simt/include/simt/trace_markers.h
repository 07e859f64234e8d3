// SPDX-License-Identifier: MIT
//
// What the translator puts around loops and conditions of device code in traced builds. The compiler must not
// take a marker for an access to memory: then it would load again what nvcc keeps in a register. So they are
// assembly without a "memory" clobber where that is known, and plain code elsewhere.
#pragma once

#include <cstdint>

extern "C" {
// Of the running thread: which iterations of which loops it is in.
extern __thread std::uint64_t simt_trace_path;
// Which way the running thread went; bit 1 says that it was a choice of values. The second keeps every register
// (runtime/trace_markers.cpp).
void simt_trace_branch(int taken, const void* place);
void simt_trace_branch_keeping();
}

namespace simt {

// This program has traced code, compiled by "g++" or "clang": called before main() by each file.
bool traced_unit(const char* compiler);
#ifdef __clang__
static const bool is_traced_unit __attribute__((unused)) = traced_unit("clang");
#else
static const bool is_traced_unit __attribute__((unused)) = traced_unit("g++");
#endif

#if defined(__x86_64__) && defined(__linux__)
#define SIMT_TRACE_INLINE inline __attribute__((always_inline))
SIMT_TRACE_INLINE std::uint64_t trace_path() {
  std::uint64_t path;
  asm volatile("movq %%fs:simt_trace_path@tpoff, %0" : "=r"(path));
  return path;
}
SIMT_TRACE_INLINE void set_trace_path(std::uint64_t path) {
  asm volatile("movq %0, %%fs:simt_trace_path@tpoff" : : "r"(path));
}
SIMT_TRACE_INLINE bool trace_branch_now(bool taken, int kind = 0) {
  asm volatile("call simt_trace_branch_keeping" : : "D"(static_cast<int>(taken) | kind) : "cc");
  return taken;
}
#else
#define SIMT_TRACE_INLINE inline __attribute__((always_inline))
SIMT_TRACE_INLINE std::uint64_t trace_path() {
  return simt_trace_path;
}
SIMT_TRACE_INLINE void set_trace_path(std::uint64_t path) {
  simt_trace_path = path;
}
__attribute__((noinline)) inline bool trace_branch_now(bool taken, int kind = 0) {
  simt_trace_branch(static_cast<int>(taken) | kind, __builtin_return_address(0));
  return taken;
}
#endif

// The condition of a branch; also of constants.
SIMT_TRACE_INLINE constexpr bool trace_branch(bool taken) {
  return __builtin_is_constant_evaluated() ? taken : trace_branch_now(taken);
}

// The condition of a ?:, which a GPU makes a select or a predicate of: it is no branch, but the compiler must treat it as one,
// so that both builds load the same.
SIMT_TRACE_INLINE constexpr bool trace_choice(bool taken) {
  return __builtin_is_constant_evaluated() ? taken : trace_branch_now(taken, 2);
}

// A loop: the path is a hash of the loops that the thread is in and of the iteration of each.
class TraceLoop {
 public:
  SIMT_TRACE_INLINE explicit TraceLoop(std::uint64_t id)
      : outside_(trace_path()), inside_((outside_ ^ id * 0x9e3779b97f4a7c15) * 0xd6e8feb86659fd93 + 1) {
    set_trace_path(inside_);
  }
  TraceLoop(const TraceLoop&) = delete;
  TraceLoop& operator=(const TraceLoop&) = delete;
  SIMT_TRACE_INLINE ~TraceLoop() { set_trace_path(outside_); }
  SIMT_TRACE_INLINE void next() {
    inside_ = (inside_ ^ inside_ >> 31) * 0xd1342543de82ef95 + 1;
    set_trace_path(inside_);
  }

 private:
  std::uint64_t outside_, inside_;
};
#undef SIMT_TRACE_INLINE

}  // namespace simt
