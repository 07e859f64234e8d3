// SPDX-License-Identifier: MIT
#pragma simt_library "thrust/device_vector.h"
