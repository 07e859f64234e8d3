// SPDX-License-Identifier: MIT
//
// What harness.cu defines: the harness's own kernels behind plain functions, so that host-only files can use
// them.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "common/random.h"

namespace days {

// data[i] = random_value<T>(distribution, seed, i, a, b) for i < n, on the device, in the order of the
// stream. Defined for every type of types.h.
template <class T>
void fill_on_device(T* data, size_t n, Distribution distribution, uint64_t seed, double a, double b,
                    cudaStream_t stream);

// A sum over hashes of (place, value) of all bytes, for a buffer that is aligned to 8 bytes: any single
// changed word changes it. Waits for the device.
uint64_t fingerprint(const void* data, size_t bytes);

}  // namespace days
