// SPDX-License-Identifier: MIT
#pragma simt_library "thrust/count.h"
