// SPDX-License-Identifier: MIT
#pragma simt_library "thrust/generate.h"
