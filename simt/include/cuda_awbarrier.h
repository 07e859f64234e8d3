// SPDX-License-Identifier: MIT
//
// Arrive/wait barriers in shared memory.
#ifndef _CUDA_AWBARRIER_H_
#define _CUDA_AWBARRIER_H_

#include "cuda_awbarrier_primitives.h"

#endif
