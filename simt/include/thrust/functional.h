// SPDX-License-Identifier: MIT
#pragma simt_library "thrust/functional.h"
