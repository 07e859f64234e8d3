// SPDX-License-Identifier: MIT
#pragma simt_library "thrust/pair.h"
