// SPDX-License-Identifier: MIT
#include "context.h"

#include <cstdint>

#if defined(__APPLE__)
#define SYMBOL(name) "_" name
#define SYMBOL_END(name) ""
#else
#define SYMBOL(name) name
#define SYMBOL_END(name) ".size " name ", .-" name "\n"
#endif

#if defined(__x86_64__)

// System V ABI: rbx, rbp, r12-r15 and the control words of SSE and x87, which no kernel changes, so they
// stay.
asm(".text\n.p2align 4\n.globl " SYMBOL("simt_switch") "\n" SYMBOL("simt_switch") ":\n"
    "  .cfi_startproc\n"
    "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
    "  movq %rsp, (%rdi)\n"
    "  movq %rsi, %rsp\n"
    "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n"
    "  popq %rax\n"
    "  jmpq *%rax\n"
    "  .cfi_endproc\n" SYMBOL_END("simt_switch"));
static constexpr int kSavedWords = 6, kReturnWord = 6;

#elif defined(__aarch64__)

// AAPCS64: x19-x30 and the low halves of v8-v15.
asm(".text\n.p2align 4\n.globl " SYMBOL("simt_switch") "\n" SYMBOL("simt_switch") ":\n"
    "  sub sp, sp, #160\n"
    "  stp x19, x20, [sp, #0]\n  stp x21, x22, [sp, #16]\n  stp x23, x24, [sp, #32]\n"
    "  stp x25, x26, [sp, #48]\n  stp x27, x28, [sp, #64]\n  stp x29, x30, [sp, #80]\n"
    "  stp d8, d9, [sp, #96]\n  stp d10, d11, [sp, #112]\n  stp d12, d13, [sp, #128]\n  stp d14, d15, [sp, #144]\n"
    "  mov x9, sp\n  str x9, [x0]\n"
    "  mov sp, x1\n"
    "  ldp x19, x20, [sp, #0]\n  ldp x21, x22, [sp, #16]\n  ldp x23, x24, [sp, #32]\n"
    "  ldp x25, x26, [sp, #48]\n  ldp x27, x28, [sp, #64]\n  ldp x29, x30, [sp, #80]\n"
    "  ldp d8, d9, [sp, #96]\n  ldp d10, d11, [sp, #112]\n  ldp d12, d13, [sp, #128]\n  ldp d14, d15, [sp, #144]\n"
    "  add sp, sp, #160\n"
    "  ret\n" SYMBOL_END("simt_switch"));
static constexpr int kSavedWords = 20, kReturnWord = 11;

#else
#define SIMT_BOOST_CONTEXT 1
#include <boost/context/detail/fcontext.hpp>
#endif

#if !defined(SIMT_BOOST_CONTEXT)

extern "C" void simt_switch(simt::Context* from, simt::Context to);

namespace simt {

Context make_context(void* stack_bottom, std::size_t size, void (*entry)()) {
  auto top = (reinterpret_cast<std::uintptr_t>(stack_bottom) + size) & ~std::uintptr_t{15};
  auto* words =
      reinterpret_cast<std::uintptr_t*>(top) - 2 - kSavedWords;  // entry sees the stack as after a call
#if defined(__x86_64__)
  words -= 2;  // the return address, which `jmp` has popped, and what aligns the stack as a call would
#endif
  for (int i = 0; i < kSavedWords; ++i) words[i] = 0;
  words[kReturnWord] = reinterpret_cast<std::uintptr_t>(entry);
  return words;
}

void switch_context(Context* from, Context to) {
  simt_switch(from, to);
}

}  // namespace simt

#else

namespace simt {
namespace fcontext = boost::context::detail;

static void arrive(fcontext::transfer_t transfer) {
  *static_cast<Context*>(transfer.data) = transfer.fctx;
}

static thread_local void (*start)();
static void enter(fcontext::transfer_t transfer) {
  arrive(transfer);
  start();
}

Context make_context(void* stack_bottom, std::size_t size, void (*entry)()) {
  start = entry;
  return fcontext::make_fcontext(static_cast<char*>(stack_bottom) + size, size, enter);
}

void switch_context(Context* from, Context to) {
  arrive(fcontext::jump_fcontext(static_cast<fcontext::fcontext_t>(to), from));
}

}  // namespace simt

#endif
