// SPDX-License-Identifier: MIT
#pragma simt_library "cusolverDn.h"
