// SPDX-License-Identifier: MIT
//
// cudaProfilerStart() and cudaProfilerStop(), which do nothing: there is no profiler to tell.
#ifndef __CUDA_PROFILER_API_H__
#define __CUDA_PROFILER_API_H__

#include "cuda_runtime_api.h"

#endif
