// SPDX-License-Identifier: MIT
#pragma simt_library "thrust/iterator/counting_iterator.h"
