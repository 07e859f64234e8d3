// SPDX-License-Identifier: MIT
#pragma simt_library "npps.h"
