// SPDX-License-Identifier: MIT
#pragma simt_library "nppi.h"
