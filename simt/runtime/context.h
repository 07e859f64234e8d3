// SPDX-License-Identifier: MIT
//
// The context switch: the few instructions that make one OS thread run many fibers. Own assembly on x86-64
// (about 5 ns a switch) and aarch64, Boost.Context's fcontext elsewhere or with -DSIMT_BOOST_CONTEXT.
#pragma once

#include <cstddef>

namespace simt {

// A suspended fiber is the stack pointer under which its registers were saved.
using Context = void*;

// Prepares a new fiber on the stack that ends at `top` (16-byte aligned). entry must never return.
Context make_context(char* top, std::size_t size, void (*entry)());

// Saves the running fiber in *save and resumes `to`; returns when somebody resumes *save.
// Only what a function call must preserve is saved. All fibers share the floating point modes.
extern "C" void simt_switch(Context* save, Context to);

}  // namespace simt
