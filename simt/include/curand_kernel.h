// SPDX-License-Identifier: MIT
#pragma simt_library "curand_kernel.h"
