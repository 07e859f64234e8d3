// SPDX-License-Identifier: MIT
#pragma simt_library "cublasLt.h"
