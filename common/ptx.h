// SPDX-License-Identifier: MIT
//
// PTX instructions, one a function, under PTX's own names, each with a twin that does the same on the CPU
// backend. No file of the course but those in common/ptx/ holds inline assembly. Sections are those of the
// PTX ISA reference (docs.nvidia.com/cuda/parallel-thread-execution). Everything compiles for every
// architecture; on one that lacks an instruction its function does nothing, unless it says otherwise.
#pragma once

#include "common/ptx/arithmetic.h"
#include "common/ptx/async_copies.h"
#include "common/ptx/barriers.h"
#include "common/ptx/cache.h"
#include "common/ptx/matrix.h"
#include "common/ptx/mbarrier.h"
#include "common/ptx/memory_order.h"
#include "common/ptx/tensor_copies.h"
