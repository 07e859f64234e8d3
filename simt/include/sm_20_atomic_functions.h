// SPDX-License-Identifier: MIT
//
// Part of cuda_runtime.h here.
#ifndef __SM_20_ATOMIC_FUNCTIONS_H__
#define __SM_20_ATOMIC_FUNCTIONS_H__

#include "cuda_runtime.h"

#endif
