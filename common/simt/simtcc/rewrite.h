// SPDX-License-Identifier: MIT
//
// What CUDA adds to C++ and what becomes of it. Each function reads the tokens and adds edits.
#pragma once

#include "edits.h"
#include "scopes.h"
#include "tokens.h"

namespace simtcc {

struct Unit {
  const Tokens& t;
  const Scopes& scopes;
  Edits& edits;
};

/// __global__, __device__, ...: linkage; kernels become host functions that queue a closure of their body.
void rewrite_declarations(const Unit&);
/// __shared__ variables become references into the running block's memory.
void rewrite_shared(const Unit&);
/// k<<<g, b>>>(a), and the API functions that take a kernel as a void*.
void rewrite_launches(const Unit&);
/// Loops that may wait for another thread, inline PTX.
void rewrite_device_code(const Unit&);

/// Deletes or replaces the words that need no more than that, wherever they stand and nothing else replaced
/// them.
void rewrite_words(const Unit&);

}  // namespace simtcc
