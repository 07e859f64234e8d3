// SPDX-License-Identifier: MIT
#pragma simt_library "cublasXt.h"
