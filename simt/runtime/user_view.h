// SPDX-License-Identifier: MIT
//
// simt/runtime.h as the runtime's own files see it: what kernels share with the runtime, and what only the runtime may touch.
#pragma once

#define SIMT_RUNTIME_SOURCE
#include "simt/runtime.h"
