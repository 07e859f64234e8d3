// SPDX-License-Identifier: MIT
#pragma simt_library "cusolver_common.h"
