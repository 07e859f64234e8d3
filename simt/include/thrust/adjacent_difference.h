// SPDX-License-Identifier: MIT
#pragma simt_library "thrust/adjacent_difference.h"
