// SPDX-License-Identifier: MIT
//
// Asynchronous copies of a thread, in groups.
#ifndef _CUDA_PIPELINE_H_
#define _CUDA_PIPELINE_H_

#include "cuda_pipeline_primitives.h"

#endif
