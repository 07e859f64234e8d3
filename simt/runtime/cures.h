// SPDX-License-Identifier: MIT
//
// What several reports end with.
#pragma once

namespace simt {

// Where two streams use the same memory.
constexpr const char kStreamCure[] =
    "Put both into one stream, or let one wait: cudaEventRecord() there, cudaStreamWaitEvent() here.";

}  // namespace simt
