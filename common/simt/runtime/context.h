// SPDX-License-Identifier: MIT
//
// The switch between fibers: saves what the ABI calls callee-saved and the stack pointer, nothing else.
#pragma once

#include <cstddef>

namespace simt {

/// A fiber that does not run now is the stack pointer under its saved registers.
using Context = void*;

/// A context that calls entry() on the given stack at its first switch; entry never returns.
Context make_context(void* stack_bottom, std::size_t size, void (*entry)());

/// Saves the running fiber to *from and goes on with `to`.
void switch_context(Context* from, Context to);

}  // namespace simt
