// SPDX-License-Identifier: MIT
#pragma simt_library "curand_mtgp32.h"
