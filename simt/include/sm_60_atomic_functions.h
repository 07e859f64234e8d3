// SPDX-License-Identifier: MIT
//
// Part of cuda_runtime.h here.
#ifndef __SM_60_ATOMIC_FUNCTIONS_H__
#define __SM_60_ATOMIC_FUNCTIONS_H__

#include "cuda_runtime.h"

#endif
