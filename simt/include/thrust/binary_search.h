// SPDX-License-Identifier: MIT
#pragma simt_library "thrust/binary_search.h"
