// SPDX-License-Identifier: MIT
#pragma simt_library "thrust/device_malloc.h"
