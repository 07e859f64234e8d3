// SPDX-License-Identifier: MIT
#pragma simt_library "cudnn.h"
