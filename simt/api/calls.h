// SPDX-License-Identifier: MIT
//
// What the runtime API's source files share.
#pragma once

#include <cstddef>

// First: for the runtime's own sources the built-in variables are no constants.
#include "runtime/streams.h"

#include "cuda_runtime_api.h"

namespace simt {

// Says that [symbol, symbol + size) is a device variable, so that copies treat it as device memory.
void note_symbol(const void* symbol, size_t size);

bool is_stream(cudaStream_t stream);

void* driver_function(const char* symbol);  // null: not known here

// The driver API's context becomes current, as with the first call of the runtime API that needs it.
void use_context();

// Puts work into a stream; gives what the call returns.
cudaError_t submitted(cudaStream_t stream, WorkPtr work, OperationPtr* issued = nullptr);
// cudaMemset() of elements of 1, 2 or 4 bytes.
cudaError_t fill_elements(const char* call, void* pointer, unsigned value, size_t element, size_t count,
                          bool in_stream, cudaStream_t stream);
WorkPtr host_function_work(cudaHostFn_t function, void* data);
// What a call that waited returns: a host function in a stream may not wait.
cudaError_t waited(bool may_wait);

}  // namespace simt
