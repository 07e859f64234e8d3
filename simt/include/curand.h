// SPDX-License-Identifier: MIT
#pragma simt_library "curand.h"
