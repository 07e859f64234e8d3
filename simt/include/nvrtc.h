// SPDX-License-Identifier: MIT
#pragma simt_library "nvrtc.h"
