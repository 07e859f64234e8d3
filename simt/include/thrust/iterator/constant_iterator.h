// SPDX-License-Identifier: MIT
#pragma simt_library "thrust/iterator/constant_iterator.h"
