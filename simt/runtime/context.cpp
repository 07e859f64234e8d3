// SPDX-License-Identifier: MIT
#include "context.h"

#include <cstdint>
#include <cstring>

#if defined(__APPLE__)
#define SIMT_FUNCTION(name) ".globl _" #name "\n.p2align 4\n_" #name ":\n"
#define SIMT_FUNCTION_END(name)
#else
#define SIMT_FUNCTION(name) ".globl " #name "\n.type " #name ",%function\n.p2align 4\n" #name ":\n"
#define SIMT_FUNCTION_END(name) ".size " #name ",.-" #name "\n"
#endif

#if defined(__x86_64__) && !defined(SIMT_BOOST_CONTEXT)

// The saved context, from the stack pointer upwards: r15 r14 r13 r12 rbx rbp, return address.
// A new fiber "returns" to simt_context_start, which calls the entry that make_context left in rbx. There the
// return address is undefined for unwinders, so a debugger's backtrace of a fiber ends cleanly.
asm(".text\n" SIMT_FUNCTION(simt_switch) R"(.cfi_startproc
  pushq %rbp
  .cfi_adjust_cfa_offset 8
  pushq %rbx
  .cfi_adjust_cfa_offset 8
  pushq %r12
  .cfi_adjust_cfa_offset 8
  pushq %r13
  .cfi_adjust_cfa_offset 8
  pushq %r14
  .cfi_adjust_cfa_offset 8
  pushq %r15
  .cfi_adjust_cfa_offset 8
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  .cfi_adjust_cfa_offset -8
  popq %r14
  .cfi_adjust_cfa_offset -8
  popq %r13
  .cfi_adjust_cfa_offset -8
  popq %r12
  .cfi_adjust_cfa_offset -8
  popq %rbx
  .cfi_adjust_cfa_offset -8
  popq %rbp
  .cfi_adjust_cfa_offset -8
  ret
  .cfi_endproc
)" SIMT_FUNCTION_END(simt_switch) SIMT_FUNCTION(simt_context_start) R"(.cfi_startproc
  .cfi_undefined rip
  callq *%rbx
  ud2
  .cfi_endproc
)" SIMT_FUNCTION_END(simt_context_start));

namespace simt {
extern "C" void simt_context_start();

Context make_context(char* top, std::size_t, void (*entry)()) {
  void** frame = reinterpret_cast<void**>(top) -
                 9;  // 7 words are popped, which leaves rsp at a multiple of 16 for the call
  std::memset(frame, 0, 9 * sizeof(void*));
  frame[4] = reinterpret_cast<void*>(entry);               // rbx
  frame[6] = reinterpret_cast<void*>(simt_context_start);  // return address
  return frame;
}
}  // namespace simt

#elif defined(__aarch64__) && !defined(SIMT_BOOST_CONTEXT)

// The saved context: x19..x28, frame pointer x29, link register x30, d8..d15. A new fiber starts in
// simt_context_start with its entry in x19.
asm(".text\n" SIMT_FUNCTION(simt_switch) R"(
  sub sp, sp, #160
  stp x19, x20, [sp, #0]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp, #0]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
)" SIMT_FUNCTION_END(simt_switch) SIMT_FUNCTION(simt_context_start) R"(.cfi_startproc
  .cfi_undefined x30
  blr x19
  brk #0
  .cfi_endproc
)" SIMT_FUNCTION_END(simt_context_start));

namespace simt {
extern "C" void simt_context_start();

Context make_context(char* top, std::size_t, void (*entry)()) {
  void** frame = reinterpret_cast<void**>(top) - 20;
  std::memset(frame, 0, 20 * sizeof(void*));
  frame[0] = reinterpret_cast<void*>(entry);                // x19
  frame[11] = reinterpret_cast<void*>(simt_context_start);  // x30
  return frame;
}
}  // namespace simt

#else

#include <boost/context/detail/fcontext.hpp>

namespace simt {
namespace {

// fcontext hands the context that was left to whoever is resumed; the data pointer says where to keep it.
void keep(boost::context::detail::transfer_t from) {
  *static_cast<Context*>(from.data) = from.fctx;
}

thread_local void (*next_entry)();  // of every new context: the runtime has one entry

void start(boost::context::detail::transfer_t from) {
  keep(from);
  next_entry();
}

}  // namespace

Context make_context(char* top, std::size_t size, void (*entry)()) {
  next_entry = entry;
  return boost::context::detail::make_fcontext(top, size, start);
}

extern "C" void simt_switch(Context* save, Context to) {
  keep(boost::context::detail::jump_fcontext(to, save));
}
}  // namespace simt

#endif
