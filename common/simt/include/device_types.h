// SPDX-License-Identifier: MIT
//
// Part of cuda_runtime.h here.
#ifndef __DEVICE_TYPES_H__
#define __DEVICE_TYPES_H__

#include "cuda_runtime.h"

#endif
