// SPDX-License-Identifier: MIT
#pragma simt_library "thrust/host_vector.h"
