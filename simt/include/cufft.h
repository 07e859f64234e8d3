// SPDX-License-Identifier: MIT
#pragma simt_library "cufft.h"
