// SPDX-License-Identifier: MIT
//
// What CUDA adds to C++ and what becomes of it. Each function reads the tokens and adds edits.
#pragma once

#include "edits.h"
#include "scopes.h"
#include "tokens.h"
#include "translate.h"

namespace simtcc {

struct Unit {
  const Tokens& t;
  const Scopes& scopes;
  Edits& edits;
  const Options& options;
};

/// Fails at the first use of a library that has no CPU version.
void refuse_libraries(const Unit&);
/// Fails where device code calls a host function or uses a host variable.
void refuse_host_code(const Unit&);
/// __global__, __device__, ...: linkage; kernels become host functions that queue a closure of their body.
void rewrite_declarations(const Unit&);
/// Tells the runtime where device variables are, and whether there are virtual functions.
void register_variables(const Unit&);
/// __shared__ variables become references into the running block's memory.
void rewrite_shared(const Unit&);
/// k<<<g, b>>>(a), and the API functions that take a kernel as a void*.
void rewrite_launches(const Unit&);
/// Loops that may wait for another thread, inline PTX.
void rewrite_device_code(const Unit&);
/// malloc, free, new and delete of kernels.
void rewrite_heap(const Unit&);
/// Of checked builds: indices of elements that are used through a reference.
void compare_subscripts(const Unit&);
/// Of checked builds: loops of host code that touch nothing but host memory get a copy that is not watched.
void spare_host_loops(const Unit&);
/// Marks loops and branches of device code for the tracer; after rewrite_device_code(), whose text stays
/// outside.
void mark_for_traces(const Unit&);
/// Gives device code its mutants, and lists them in the options' `mutants`.
void make_mutants(const Unit&);
/// The last token of the statement that starts at i.
int last_of_statement(const Tokens&, int i);

/// Deletes or replaces the words that need no more than that, wherever they stand and nothing else replaced
/// them.
void rewrite_words(const Unit&);

}  // namespace simtcc
