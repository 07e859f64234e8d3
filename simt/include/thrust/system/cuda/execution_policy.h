// SPDX-License-Identifier: MIT
#pragma simt_library "thrust/system/cuda/execution_policy.h"
