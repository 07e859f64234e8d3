// SPDX-License-Identifier: MIT
#pragma simt_library "thrust/transform_reduce.h"
