// SPDX-License-Identifier: MIT
#pragma simt_library "thrust/execution_policy.h"
