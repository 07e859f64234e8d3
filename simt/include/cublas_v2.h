// SPDX-License-Identifier: MIT
#pragma simt_library "cublas_v2.h"
