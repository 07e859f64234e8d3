// SPDX-License-Identifier: MIT
#pragma simt_library "cusolverSp.h"
