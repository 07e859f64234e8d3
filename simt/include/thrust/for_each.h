// SPDX-License-Identifier: MIT
#pragma simt_library "thrust/for_each.h"
