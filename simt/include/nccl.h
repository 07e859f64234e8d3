// SPDX-License-Identifier: MIT
#pragma simt_library "nccl.h"
