// SPDX-License-Identifier: MIT
//
// The branch marker of traced code (simt/trace_markers.h): called from assembly that promises the compiler
// that nothing changes, so it keeps every register that a C++ function may use.
#include "trace.h"
#include "workers.h"

#if defined(__x86_64__) && defined(__linux__)
asm(R"(.text
.globl simt_trace_branch_keeping
.type simt_trace_branch_keeping,%function
.p2align 4
simt_trace_branch_keeping:
  .cfi_startproc
  pushq %rbp
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset rbp, 0
  movq %rsp, %rbp
  .cfi_def_cfa_register rbp
  pushq %rax
  pushq %rcx
  pushq %rdx
  pushq %rsi
  pushq %rdi
  pushq %r8
  pushq %r9
  pushq %r10
  pushq %r11
  subq $256, %rsp
  andq $-16, %rsp
  movups %xmm0, (%rsp)
  movups %xmm1, 16(%rsp)
  movups %xmm2, 32(%rsp)
  movups %xmm3, 48(%rsp)
  movups %xmm4, 64(%rsp)
  movups %xmm5, 80(%rsp)
  movups %xmm6, 96(%rsp)
  movups %xmm7, 112(%rsp)
  movups %xmm8, 128(%rsp)
  movups %xmm9, 144(%rsp)
  movups %xmm10, 160(%rsp)
  movups %xmm11, 176(%rsp)
  movups %xmm12, 192(%rsp)
  movups %xmm13, 208(%rsp)
  movups %xmm14, 224(%rsp)
  movups %xmm15, 240(%rsp)
  movq 8(%rbp), %rsi
  call simt_trace_branch
  movups (%rsp), %xmm0
  movups 16(%rsp), %xmm1
  movups 32(%rsp), %xmm2
  movups 48(%rsp), %xmm3
  movups 64(%rsp), %xmm4
  movups 80(%rsp), %xmm5
  movups 96(%rsp), %xmm6
  movups 112(%rsp), %xmm7
  movups 128(%rsp), %xmm8
  movups 144(%rsp), %xmm9
  movups 160(%rsp), %xmm10
  movups 176(%rsp), %xmm11
  movups 192(%rsp), %xmm12
  movups 208(%rsp), %xmm13
  movups 224(%rsp), %xmm14
  movups 240(%rsp), %xmm15
  leaq -72(%rbp), %rsp
  popq %r11
  popq %r10
  popq %r9
  popq %r8
  popq %rdi
  popq %rsi
  popq %rdx
  popq %rcx
  popq %rax
  popq %rbp
  .cfi_def_cfa rsp, 8
  ret
  .cfi_endproc
.size simt_trace_branch_keeping,.-simt_trace_branch_keeping
)");
#endif

__thread std::uint64_t simt_trace_path;

extern "C" void simt_trace_branch(int taken, const void* place) {
  if ((taken & 2) == 0 && simt::tracing && simt::current) simt::trace_branch_taken(taken != 0, place);
}
