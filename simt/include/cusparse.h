// SPDX-License-Identifier: MIT
#pragma simt_library "cusparse.h"
