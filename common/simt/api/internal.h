// SPDX-License-Identifier: MIT
//
// What the runtime API's source files share.
#pragma once

#include <cstddef>

#include "cuda_runtime_api.h"
#include "simt/runtime.h"

namespace simt {

// Says that [symbol, symbol + size) is a device variable, so that copies treat it as device memory.
void note_symbol(const void* symbol, size_t size);

bool is_stream(cudaStream_t stream);

}  // namespace simt
