// SPDX-License-Identifier: MIT
//
// What the rest of the runtime asks of the streams' operations (streams.cpp, stream_order.cpp).
#pragma once

#include <cstdint>
#include <thread>

#include "user_view.h"

namespace simt {

bool finish_everything();  // runs all that is queued; false in a host function of a stream
// The same at the program's end, on a thread of its own: what is thread-local is destroyed in this one.
void finish_at_exit();
// This thread; at the program's end the one that ends it, in whose place another one runs what is queued.
std::thread::id host_that_waits();
// Whether operations are queued, and none runs; the number of the last that was issued.
bool operations_wait(std::uint64_t* last);
bool in_operation();  // this thread runs one: a call of the API from a host function
// There is new memory, which no operation has used yet.
void note_allocated();
// The operation before this one, which runs, in the same stream; 0: none that the host has not waited for.
std::uint64_t before_in_stream(std::uint64_t number);
// Whether the operation `later`, which runs now, comes after `earlier` in every order that the program
// allows.
bool happens_before(std::uint64_t earlier, std::uint64_t later);

}  // namespace simt
