// SPDX-License-Identifier: MIT
#pragma simt_library "nvml.h"
