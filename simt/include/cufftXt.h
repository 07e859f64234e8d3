// SPDX-License-Identifier: MIT
#pragma simt_library "cufftXt.h"
