// SPDX-License-Identifier: MIT
//
// threadIdx, blockIdx, blockDim, gridDim: thread-local objects of the runtime, set whenever another thread of
// the block runs.
#ifndef __DEVICE_LAUNCH_PARAMETERS_H__
#define __DEVICE_LAUNCH_PARAMETERS_H__

#include "simt/runtime.h"

inline constexpr int warpSize = 32;

#endif
