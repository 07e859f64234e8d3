// SPDX-License-Identifier: MIT
//
// Part of cuda_runtime.h here.
#ifndef __SM_70_RT_H__
#define __SM_70_RT_H__

#include "../cuda_runtime.h"

#endif
