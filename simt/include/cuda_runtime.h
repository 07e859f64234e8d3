// SPDX-License-Identifier: MIT
//
// What every CUDA program sees. nvcc includes this file in each .cu by itself, and so does simtcc; a plain
// C++ file gets the types and the runtime API, a .cu file the device's built-in variables and functions too.
// Small on purpose: it is compiled with every file.
#ifndef __CUDA_RUNTIME_H__
#define __CUDA_RUNTIME_H__

#include "simt/push_letters.h"

// Programs rely on what nvcc's own header happens to include.
#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "simt/checked_memory.h"

#include <limits>
#include <new>
#include <utility>

#include "channel_descriptor.h"
#include "cuda_runtime_api.h"
#include "library_types.h"
#include "vector_functions.h"

#ifdef __CUDACC__
#include "device_atomic_functions.h"
#include "device_double_functions.h"
#include "device_functions.h"
#include "device_launch_parameters.h"
#include "math_functions.h"
#include "simt/cached_access.h"
#include "simt/cluster_functions.h"
#include "simt/device_heap.h"
#include "simt/thread_functions.h"
#ifdef SIMT_HOST_LOOPS
#include "simt/host_loops.h"
#endif
#ifdef SIMT_MUTANTS
#include "simt/mutants.h"
#endif
#include "surface_indirect_functions.h"
#include "texture_indirect_functions.h"
#endif

#include "simt/pop_letters.h"

#endif
