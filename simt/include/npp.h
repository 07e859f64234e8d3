// SPDX-License-Identifier: MIT
#pragma simt_library "npp.h"
