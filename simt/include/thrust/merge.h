// SPDX-License-Identifier: MIT
#pragma simt_library "thrust/merge.h"
