// SPDX-License-Identifier: MIT
//
// Part of cuda_runtime.h here.
#ifndef __SM_35_INTRINSICS_H__
#define __SM_35_INTRINSICS_H__

#include "cuda_runtime.h"

#endif
