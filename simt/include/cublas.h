// SPDX-License-Identifier: MIT
#pragma simt_library "cublas.h"
